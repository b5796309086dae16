/**
 * Attach: the person's side of the approve socket. Format: spec/approve-socket.md.
 */
import { type Socket, createConnection } from "node:net";
import {
  type AnswerReceipt,
  type Clock,
  ConsentError,
  type JsonObject,
  type PausedEnd,
  quoteText,
  systemClock,
} from "@acp/core";
import type { GateClient, OpenQuestion, QuestionChange } from "./approver-client.js";
import { createFeed } from "./feed.js";
import { createLineSplitter } from "./line-splitter.js";
import {
  type ClientRole,
  GATE_LINE_BYTES_MAX,
  type GateMessage,
  readGateMessage,
  writeClientMessage,
} from "./wire.js";

/** How long a gate may take to say hello: a live one does so at once. */
const HELLO_TIMEOUT_MS = 5_000;
/**
 * Answers on their way at once; the others wait here, where a loss of the connection cannot make it
 * unknown what became of them.
 */
const WINDOW = 16;

/** Options of {@link attachApprover}. */
export interface AttachOptions {
  /** Path of the gate's approve socket. */
  readonly socketPath: string;
  /** Ends the attachment. */
  readonly signal: AbortSignal;
  /**
   * A `viewer` sees questions and cannot answer, and does not count as somebody to ask. `approver`
   * unless given.
   */
  readonly role?: ClientRole;
  /** Default: the system's clock. */
  readonly clock?: Clock;
}

interface Waiting {
  readonly claim: JsonObject;
  readonly resolve: (receipt: AnswerReceipt) => void;
  readonly reject: (error: ConsentError) => void;
}

interface Attachment {
  readonly socket: Socket;
  readonly open: Map<string, OpenQuestion>;
  /** Handed to the gate, by number. */
  readonly waiting: Map<number, Waiting>;
  /** Not handed to the gate yet. */
  readonly unsent: Waiting[];
  answers: number;
  /** Looks for who is paused that the gate was asked for, by number. */
  readonly looks: Map<
    number,
    { readonly resolve: (end: PausedEnd) => void; readonly reject: (error: ConsentError) => void }
  >;
  readonly changes: ReturnType<typeof createFeed<QuestionChange>>;
  /** Questions of the snapshot that have not come; `undefined` before the hello. */
  missing: number | undefined;
  /** Why the connection ended: what the gate said last, or what the system says. */
  farewell: string;
  cause: unknown;
  readonly attached: () => void;
}

const orClosed = (why: string): string => (why === "" ? "the connection is closed" : why);
const gone = (why: string): ConsentError =>
  new ConsentError("channel_failed", `Cannot reach the gate: ${orClosed(why)}`);
const notSent = (why: string): ConsentError =>
  new ConsentError("channel_unavailable", `Cannot send an answer: ${orClosed(why)}`);

/** Sends what the window has room for. */
function sendOn(attachment: Attachment): void {
  const { socket, waiting, unsent } = attachment;
  while (waiting.size < WINDOW && socket.writable) {
    const next = unsent.shift();
    if (next === undefined) return;
    attachment.answers += 1;
    waiting.set(attachment.answers, next);
    socket.write(
      writeClientMessage({ type: "answer", answer: attachment.answers, claim: next.claim }),
    );
  }
}

function settle(attachment: Attachment, answer: number, receipt: AnswerReceipt): void {
  const found = attachment.waiting.get(answer);
  attachment.waiting.delete(answer);
  found?.resolve(receipt);
  sendOn(attachment);
}

function take(attachment: Attachment, message: GateMessage): void {
  switch (message.type) {
    case "hello":
      attachment.missing = message.open;
      break;
    case "open":
      attachment.open.set(message.question.request.id, message.question);
      attachment.changes.push({ type: "open", question: message.question });
      if (attachment.missing !== undefined && attachment.missing > 0) attachment.missing -= 1;
      break;
    case "ended":
      attachment.open.delete(message.id);
      attachment.changes.push({ type: "ended", id: message.id, ending: message.ending });
      break;
    case "outcome":
      attachment.changes.push({ type: "outcome", id: message.id, outcome: message.outcome });
      break;
    case "receipt":
      settle(attachment, message.answer, message.receipt);
      break;
    case "paused_ended":
      attachment.looks.get(message.look)?.resolve(message.end);
      attachment.looks.delete(message.look);
      break;
    case "error":
      attachment.farewell = message.message;
      break;
    default:
      message satisfies never;
  }
  if (attachment.missing === 0) attachment.attached();
}

function listen(attachment: Attachment): void {
  const { socket } = attachment;
  const splitter = createLineSplitter(GATE_LINE_BYTES_MAX);
  socket.on("data", (chunk: Buffer) => {
    try {
      const lines = splitter.push(chunk);
      if (lines === undefined)
        throw gone(`a line of it is longer than ${GATE_LINE_BYTES_MAX} bytes`);
      for (const line of lines) take(attachment, readGateMessage(line));
    } catch (error) {
      attachment.farewell = error instanceof Error ? error.message : "a line of it cannot be read";
      socket.destroy();
    }
  });
  socket.on("error", (error: Error) => {
    attachment.cause = error;
    if (attachment.farewell === "")
      attachment.farewell = "code" in error ? String(error.code) : error.message;
  });
  socket.on("close", () => {
    for (const { reject } of attachment.waiting.values()) reject(gone(attachment.farewell));
    for (const { reject } of attachment.unsent.splice(0)) reject(notSent(attachment.farewell));
    for (const { reject } of attachment.looks.values()) reject(gone(attachment.farewell));
    attachment.waiting.clear();
    attachment.looks.clear();
    attachment.changes.end();
  });
}

async function waitForHello(
  attachment: Attachment,
  ready: Promise<void>,
  { clock = systemClock }: AttachOptions,
): Promise<void> {
  const timer = new AbortController();
  const late = clock.sleep(HELLO_TIMEOUT_MS, { signal: timer.signal }).then(
    () => attachment.socket.destroy(new Error("it sent no hello in time")),
    () => undefined,
  );
  try {
    await ready;
  } finally {
    timer.abort();
    await late;
  }
}

function clientOf(attachment: Attachment): GateClient {
  const { socket, open, changes, unsent } = attachment;
  const close = async (): Promise<void> => {
    socket.destroy();
    changes.end();
  };
  return {
    pending: () => [...open.values()],
    changes,
    answer(claim: JsonObject) {
      if (!socket.writable) return Promise.reject(notSent(attachment.farewell));
      return new Promise((resolve, reject) => {
        unsent.push({ claim, resolve, reject });
        sendOn(attachment);
      });
    },
    endPaused() {
      if (!socket.writable) return Promise.reject(notSent(attachment.farewell));
      return new Promise((resolve, reject) => {
        attachment.answers += 1;
        attachment.looks.set(attachment.answers, { resolve, reject });
        socket.write(writeClientMessage({ type: "end_paused", look: attachment.answers }));
      });
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

/**
 * Attaches to the gate that listens at `socketPath`; resolves when its open questions are known.
 *
 * @throws ConsentError `channel_failed` where nobody listens or the other side speaks another
 *   protocol; `aborted` where the signal ends it.
 */
export async function attachApprover(options: AttachOptions): Promise<GateClient> {
  const { socketPath, signal, role = "approver" } = options;
  if (signal.aborted)
    throw new ConsentError(
      "aborted",
      `Cannot attach to ${quoteText(socketPath)}: it was ended before`,
    );
  const socket = createConnection(socketPath);
  const { promise: ready, resolve, reject } = newPromise();
  const attachment: Attachment = {
    socket,
    open: new Map(),
    waiting: new Map(),
    unsent: [],
    answers: 0,
    looks: new Map(),
    changes: createFeed(),
    missing: undefined,
    farewell: "",
    cause: undefined,
    attached: resolve,
  };
  const stop = (): void => void socket.destroy();
  signal.addEventListener("abort", stop, { once: true });
  listen(attachment);
  socket.on("close", () => {
    signal.removeEventListener("abort", stop);
    const why = attachment.farewell === "" ? "the connection was closed" : attachment.farewell;
    const { cause } = attachment;
    reject(
      new ConsentError(
        signal.aborted ? "aborted" : "channel_failed",
        `Cannot attach to ${quoteText(socketPath)}: ${why}`,
        { cause },
      ),
    );
  });
  socket.write(writeClientMessage({ type: "hello", role }));
  await waitForHello(attachment, ready, options);
  return clientOf(attachment);
}

function newPromise(): {
  readonly promise: Promise<void>;
  readonly resolve: () => void;
  readonly reject: (error: ConsentError) => void;
} {
  let resolve = (): void => undefined;
  let reject: (error: ConsentError) => void = () => undefined;
  const promise = new Promise<void>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  return { promise, resolve, reject };
}
