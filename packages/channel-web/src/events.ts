/**
 * Events: streams of server-sent events, one a page. Each starts with everything that is open, so a
 * page that lost its stream only comes back. Who does not read is cut off. Format:
 * spec/web-inbox.md §3.
 */
import type { Settings } from "./options.js";
import { viewOf } from "./question-view.js";
import type { Change, Questions } from "./questions.js";
import { COMMON_HEADERS, oneLine } from "./reply.js";
import type { Session } from "./session.js";
import type {
  EndedMessage,
  HelloMessage,
  LostMessage,
  QuestionMessage,
  RunMessage,
} from "./wire.js";

/** How often a stream says that it is still there, and looks whether its session is. */
const BEAT_MS = 15_000;
/** Streams of one person; the oldest ends. */
const STREAMS_MAX = 16;
/** Bytes that wait for a page to read them, besides what was open when it came. */
const UNREAD_BYTES_MAX: number = 8 * 1024 * 1024;
/** How long a page waits before it comes back. */
const RETRY_MS = 2_000;

const HEADERS: Readonly<Record<string, string>> = {
  ...COMMON_HEADERS,
  "content-type": "text/event-stream",
  "cache-control": "no-store",
  // Proxies that collect what they hand on would hold a question back.
  "x-accel-buffering": "no",
};

/** What streams need. */
export interface EventParts {
  readonly settings: Settings;
  readonly questions: Questions;
  /** Whether a session still holds; rejects where that cannot be known. */
  readonly holds: (session: Session) => Promise<boolean>;
}

/** The streams of one inbox. */
export interface Streams {
  /** @param gone - Aborts where the server knows that the page is gone. */
  open(session: Session, gone: AbortSignal): Response;
  /** How many are open. */
  count(): number;
  /** Ends all of them. */
  close(): void;
}

interface Stream {
  readonly session: Session;
  readonly body: ReadableStream<Uint8Array>;
  /** Aborts when nobody reads it any more. */
  readonly over: AbortController;
  /** Ends it; the page comes back unless it is signed out. */
  end(why: "signed_out" | "come_back"): void;
}

const encoder = new TextEncoder();

/** What each event of a stream says. */
interface EventBodies {
  readonly hello: HelloMessage;
  readonly open: QuestionMessage;
  readonly ended: EndedMessage;
  readonly lost: LostMessage;
  readonly run: RunMessage;
  readonly signed_out: Readonly<Record<string, never>>;
}

function frame<Name extends keyof EventBodies>(
  name: Name,
  id: number,
  body: EventBodies[Name],
): Uint8Array {
  return encoder.encode(`id: ${id}\nevent: ${name}\ndata: ${JSON.stringify(body)}\n\n`);
}

function frameOf(
  change: Change,
  id: number,
  { session, settings }: EventParts & { readonly session: Session },
): Uint8Array {
  if (change.type === "open")
    return frame("open", id, viewOf(change.entry, session.person, settings));
  const questionId = change.entry.question.request.id;
  if (change.type === "lost") return frame("lost", id, { id: questionId, at: change.atMs });
  if (change.type === "run") return frame("run", id, { id: questionId, run: { ...change.run } });
  const { status, reason, successorId } = change.ending;
  return frame("ended", id, {
    id: questionId,
    status,
    reason: oneLine(reason),
    ...(successorId === undefined ? {} : { successor_id: successorId }),
    at: change.atMs,
  });
}

/** Everything that is open now. */
function hello({ settings, questions }: EventParts, { person }: Session): HelloMessage {
  const open = questions.open().map((entry) => viewOf(entry, person, settings));
  return { approver: person.approver, now: settings.clock.now(), open };
}

/** Says every while that the stream is there, until it is over or its session is. */
async function beat(
  parts: EventParts,
  stream: Stream,
  write: (bytes: Uint8Array) => void,
): Promise<void> {
  const { signal } = stream.over;
  for (;;) {
    await parts.settings.clock.sleep(BEAT_MS, { signal, background: true });
    const holds = await parts.holds(stream.session).catch(() => undefined);
    if (holds !== true) return stream.end(holds === undefined ? "come_back" : "signed_out");
    write(encoder.encode(": still here\n\n"));
  }
}

function createStream(parts: EventParts, session: Session): Stream {
  const first = encoder.encode(`retry: ${RETRY_MS}\n`);
  const whole = frame("hello", 1, hello(parts, session));
  const over = new AbortController();
  let lastId = 1;
  let sink: ReadableStreamDefaultController<Uint8Array> | undefined;
  const write = (bytes: Uint8Array): void => {
    if (over.signal.aborted || sink === undefined) return;
    sink.enqueue(bytes);
    if ((sink.desiredSize ?? 0) > 0) return;
    over.abort();
    // Not closed: what waits to be read is let go of.
    sink.error(new Error("the page does not read"));
  };
  const body = new ReadableStream<Uint8Array>(
    {
      start(controller) {
        sink = controller;
      },
      cancel: () => over.abort(),
    },
    new ByteLengthQueuingStrategy({
      highWaterMark: first.byteLength + whole.byteLength + UNREAD_BYTES_MAX,
    }),
  );
  const stream: Stream = {
    session,
    body,
    over,
    end(why) {
      if (why === "signed_out") write(frame("signed_out", ++lastId, {}));
      if (over.signal.aborted) return;
      over.abort();
      sink?.close();
    },
  };
  write(first);
  write(whole);
  const stop = parts.questions.subscribe((change) =>
    write(frameOf(change, ++lastId, { ...parts, session })),
  );
  over.signal.addEventListener("abort", stop, { once: true });
  beat(parts, stream, write).catch(() => undefined);
  return stream;
}

/** No streams yet. */
export function createStreams(parts: EventParts): Streams {
  const streams = new Set<Stream>();
  const watched = new WeakSet<Session>();
  /** One listener a session, however often its page comes back. */
  const watch = (session: Session): void => {
    if (watched.has(session)) return;
    watched.add(session);
    const endAll = (): void => {
      for (const stream of streams) if (stream.session === session) stream.end("signed_out");
    };
    session.over.addEventListener("abort", endAll, { once: true });
  };
  return {
    open(session, gone) {
      const [oldest, ...others] = [...streams].filter(
        (each) => each.session.person === session.person,
      );
      if (others.length + 1 >= STREAMS_MAX) oldest?.end("come_back");
      const stream = createStream(parts, session);
      streams.add(stream);
      watch(session);
      stream.over.signal.addEventListener("abort", () => streams.delete(stream), { once: true });
      gone.addEventListener("abort", () => stream.end("come_back"), {
        once: true,
        signal: stream.over.signal,
      });
      return new Response(stream.body, { status: 200, headers: HEADERS });
    },
    count: () => streams.size,
    close() {
      for (const stream of streams) stream.end("come_back");
    },
  };
}
