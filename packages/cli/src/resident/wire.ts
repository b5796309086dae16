/**
 * Wire: the frames between a thin client and the resident of a home. A frame is one byte for its
 * kind, four bytes for the length of its body (big-endian), and the body. Imports nothing of ours: a
 * client must start fast. Format: spec/resident.md. Vectors: spec/vectors/resident.json.
 */

/** The version of the protocol. */
export const PROTOCOL = 3;
/** The oldest and the newest version that this side speaks: 1 has no holding and no numbers, 2 no runs. */
export const PROTOCOLS: readonly [number, number] = [1, PROTOCOL];
/** From this version on a client numbers its calls, and may ask about them. */
export const NUMBERS_FROM = 2;
/** From this version on a client holds its requests back when it is told to. */
export const HOLDS_FROM = 2;
/** From this version on a resident has the gate of an agent that its client holds. */
export const RUNS_FROM = 3;
/** Bytes of a frame's body. */
export const BODY_BYTES_MAX: number = 1024 * 1024;
/** Bytes of input that a client may send before the resident asks for more. */
export const ROOM_BYTES: number = 1024 * 1024;
/** Bytes before the body. */
export const HEAD_BYTES = 5;

/** The kinds of frames, and their first byte. */
export const KINDS = {
  /** Client: who it is; JSON, once and first. */
  hello: 1,
  /** Client: bytes of its standard input. */
  input: 2,
  /** Client: its standard input has ended. */
  end: 3,
  /** Client: the name of a signal that it got. */
  signal: 4,
  /** Client of the control socket: `{"ask"}`, and what belongs to it. */
  ask: 5,
  /** Client: the number of the call that comes next; `{"id","n"}`. */
  call: 6,
  /** Client: how far did these calls come; `{"calls":[{"n","ms"}]}`. */
  asks: 7,
  /** Client: no request follows what it has sent; empty. The answer to `hold`. */
  held: 10,
  /** Client: it listens where it was told to, or why not; `{"ports"}` or `{"message"}`. */
  opened: 12,
  /** Client, first on a connection of its own: bytes of one that it accepted; `{"key","door"}`. */
  join: 13,
  /** Client: how the command that it holds is held, and what its servers are shown; JSON, once. */
  run: 14,
  /** Client: something for the log; `{"n","code","text"}`. */
  note: 15,
  /** Resident: its protocol and build; JSON, before anything else. */
  greeting: 16,
  /** Resident: the session is open; empty. */
  ready: 17,
  /** Resident: there is no session; `{"code","message"}`. It closes. */
  refused: 18,
  /** Resident: bytes for the client's standard output. */
  output: 19,
  /** Resident: bytes for the client's standard error. */
  notice: 20,
  /** Resident: the session is over; `{"code"}`. It closes. */
  exit: 21,
  /** Resident: so many more bytes of input may be sent; four bytes, big-endian. */
  room: 22,
  /** Resident: it ends as it was told to; empty. It closes. */
  leaving: 23,
  /** Resident, on the control socket: the answer; JSON. */
  told: 24,
  /** Resident: the session is over, and the client opens another one at once; empty. It closes. */
  again: 25,
  /** Resident: how far they came; `{"calls":[{"n","state"}]}`. */
  known: 26,
  /** Resident: send no more requests, another session follows; empty. */
  hold: 30,
  /** Resident: accept connections for this session; `{"key","doors":[{"name","port"}]}`. */
  doors: 31,
  /** Resident: the command may begin; empty. */
  go: 32,
  /** Resident: it is in the log, or why not; `{"n"}` or `{"n","code","message"}`. */
  noted: 33,
  /** Resident: what it started for the command has ended; empty. */
  ended: 34,
} as const;

/** The name of a kind. */
export type Kind = keyof typeof KINDS;

/** One frame. */
export interface Frame {
  readonly kind: Kind;
  readonly body: Buffer;
}

/** Why bytes are no frames. */
export type FrameError = "frame_unknown" | "frame_too_large";

const isKind = (name: string): name is Kind => Object.hasOwn(KINDS, name);
const NAMES: ReadonlyMap<number, Kind> = new Map(
  Object.keys(KINDS)
    .filter(isKind)
    .map((kind) => [KINDS[kind], kind]),
);

/** A frame as bytes. */
export function frameOf(kind: Kind, body: Uint8Array | string = ""): Buffer {
  const bytes = typeof body === "string" ? Buffer.from(body) : body;
  if (bytes.length > BODY_BYTES_MAX)
    throw new RangeError(`Cannot send a frame of ${bytes.length} bytes`);
  return Buffer.concat([frameHead(kind, bytes.length), bytes]);
}

/** What stands before a body of so many bytes. */
export function frameHead(kind: Kind, bodyBytes: number): Buffer {
  const head = Buffer.allocUnsafe(HEAD_BYTES);
  head[0] = KINDS[kind];
  head.writeUInt32BE(bodyBytes, 1);
  return head;
}

/** A frame that says how much more input may come. */
export function roomFrame(bytes: number): Buffer {
  const body = Buffer.alloc(4);
  body.writeUInt32BE(bytes);
  return frameOf("room", body);
}

/** The number in a frame of the kind `room`; 0 where there is none. */
export function roomIn(body: Buffer): number {
  return body.length === 4 ? body.readUInt32BE() : 0;
}

/** Takes the bytes of one side as they come, and calls back with each whole frame. */
export interface FrameReader {
  /** Takes bytes; after an error nothing more. */
  push(chunk: Buffer): void;
  /** Takes no more frames, called while one is handed out; gives the bytes that follow it. */
  stop(): Buffer;
}

/**
 * Creates a reader. It keeps at most one frame.
 *
 * @param onError - Called once; nothing follows.
 */
export function createFrameReader(
  onFrame: (frame: Frame) => void,
  onError: (error: FrameError) => void,
): FrameReader {
  let chunks: Buffer[] = [];
  let size = 0;
  let wanted = HEAD_BYTES;
  let isOver = false;
  const fail = (error: FrameError): void => {
    isOver = true;
    chunks = [];
    onError(error);
  };
  return {
    push(chunk) {
      if (isOver) return;
      chunks.push(chunk);
      size += chunk.length;
      if (size < wanted) return;
      let bytes = chunks.length === 1 ? chunk : Buffer.concat(chunks);
      wanted = HEAD_BYTES;
      while (bytes.length >= HEAD_BYTES) {
        const kind = NAMES.get(bytes[0] ?? 0);
        const length = bytes.readUInt32BE(1);
        if (kind === undefined) return fail("frame_unknown");
        if (length > BODY_BYTES_MAX) return fail("frame_too_large");
        wanted = HEAD_BYTES + length;
        if (bytes.length < wanted) break;
        const body = bytes.subarray(HEAD_BYTES, wanted);
        bytes = bytes.subarray(wanted);
        chunks = [bytes];
        wanted = HEAD_BYTES;
        onFrame({ kind, body });
        if (isOver) return;
      }
      chunks = bytes.length === 0 ? [] : [bytes];
      size = bytes.length;
    },
    stop() {
      isOver = true;
      return Buffer.concat(chunks.splice(0));
    },
  };
}

/** What a client says of itself. */
export interface Hello {
  /** The oldest and the newest protocol that it speaks. */
  readonly protocol: readonly [number, number];
  /** Of its package; empty where a client of protocol 1 says none. Decides nothing. */
  readonly version: string;
  /** Which files it was loaded from. Decides nothing. */
  readonly build: string;
  /** The words after `acp`. */
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Where `~` leads. */
  readonly userHome: string;
  readonly pid: number;
  readonly ppid: number;
  readonly umask: number;
  /**
   * 32 random bytes in hex, which this client made when it started: whoever has them may ask about
   * its calls. Absent of protocol 1, whose clients give their calls no numbers.
   */
  readonly secret?: string;
}

/** Ports of 127.0.0.1 on which a client accepts connections for its session. */
export interface WantedDoors {
  /** Whoever says it may join the session's doors. */
  readonly key: string;
  readonly doors: readonly { readonly name: string; readonly port: number }[];
}

/** Reads the body of a frame of the kind `doors`; `undefined` for what is none. */
export function readDoors(body: Buffer): WantedDoors | undefined {
  const { key, doors } = recordIn(body) ?? {};
  if (!isText(key) || !Array.isArray(doors)) return undefined;
  const read = doors.flatMap((each: unknown) => {
    const { name, port } = isRecord(each) ? each : {};
    return isText(name) && isCount(port) ? [{ name, port }] : [];
  });
  return read.length === doors.length && read.length > 0 ? { key, doors: read } : undefined;
}

/** Reads the body of a frame of the kind `opened`: as many ports as were asked for, or a message. */
export function readOpened(body: Buffer, count: number): readonly number[] | string | undefined {
  const { ports, message } = recordIn(body) ?? {};
  if (isText(message)) return message;
  return Array.isArray(ports) && ports.length === count && ports.every(isCount) ? ports : undefined;
}

/** What a resident says first. */
export interface Greeting {
  readonly protocol: readonly [number, number];
  /** Of its package; empty where a resident of protocol 1 says none. */
  readonly version: string;
  /** Which files it was loaded from. */
  readonly build: string;
  /** Whether these files are still there as they were. */
  readonly isCurrent: boolean;
  /** Shown to people; decides nothing. */
  readonly pid: number;
}

/** Whether a value is an object that is no array. */
export const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const SECRET = /^[0-9a-f]{64}$/;
const isText = (value: unknown): value is string => typeof value === "string";
const isCount = (value: unknown): value is number =>
  typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
const isRange = (value: unknown): value is readonly [number, number] =>
  Array.isArray(value) && value.length === 2 && value.every(isCount);

/** The JSON of a body; `undefined` for what is none or no object. */
export function recordIn(body: Buffer): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(body.toString("utf8"));
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Reads a hello; `undefined` for what is none. */
export function readHello(body: Buffer): Hello | undefined {
  const { protocol, build, argv, cwd, env, userHome, pid, ppid, umask, ...rest } =
    recordIn(body) ?? {};
  const { version = "", secret } = rest;
  if (
    !(secret === undefined || (isText(secret) && SECRET.test(secret))) ||
    !isRange(protocol) ||
    !isText(build) ||
    !isText(version) ||
    !(Array.isArray(argv) && argv.every(isText)) ||
    !(isText(cwd) && cwd.startsWith("/")) ||
    !(isText(userHome) && userHome.startsWith("/")) ||
    !isRecord(env) ||
    !(isCount(pid) && isCount(ppid) && isCount(umask) && umask <= 0o777)
  )
    return undefined;
  const texts = Object.entries(env).filter((each): each is [string, string] => isText(each[1]));
  if (texts.length !== Object.keys(env).length) return undefined;
  const said = { protocol, version, build, argv, cwd, userHome, pid, ppid, umask };
  const hello = { ...said, env: Object.fromEntries(texts) };
  return secret === undefined ? hello : { ...hello, secret };
}

/** Numbers of the calls in a frame of the kind `known` of which nothing was forwarded. */
export function againIn(body: Buffer): ReadonlySet<number> {
  const { calls } = recordIn(body) ?? {};
  const known: readonly unknown[] = Array.isArray(calls) ? calls : [];
  return new Set(
    known.flatMap((each) => {
      const { n, state } = isRecord(each) ? each : {};
      return isCount(n) && (state === "open" || state === "unknown") ? [n] : [];
    }),
  );
}

/** What a resident says first on each of its sockets. */
export function greetingFrame({
  version,
  build,
  isCurrent,
}: Pick<Greeting, "version" | "build" | "isCurrent">): Buffer {
  const said = { protocol: PROTOCOLS, version, build, is_current: isCurrent, pid: process.pid };
  return frameOf("greeting", JSON.stringify(said));
}

/** Reads a greeting; `undefined` for what is none. */
export function readGreeting(body: Buffer): Greeting | undefined {
  const { protocol, version = "", build, is_current: isCurrent = true, pid } = recordIn(body) ?? {};
  const isGreeting =
    isRange(protocol) &&
    isText(version) &&
    isText(build) &&
    typeof isCurrent === "boolean" &&
    isCount(pid);
  return isGreeting ? { protocol, version, build, isCurrent, pid } : undefined;
}

/** Whether both sides speak a common version. */
export function speakAlike(
  one: readonly [number, number],
  two: readonly [number, number],
): boolean {
  return one[0] <= two[1] && two[0] <= one[1];
}
