/**
 * What servers ask of the client: sampling, elicitation, roots. The gate judges each before the
 * client hears of it; without a rule that names it, it is denied. Which folders the client works in
 * is judged once more when the client has told. Rules: spec/mcp-proxy.md §18.
 */
import { isJsonObject, parseJson } from "@acp/core";
import type { JsonObject } from "@acp/core";
import { invalidResult } from "../call-result.js";
import type { CallParams } from "../call-params.js";
import type { NoticeResult } from "../call-result.js";
import type { RequestRoom } from "../in-flight.js";
import { logText } from "../log-text.js";
import { isRecord, readClientLine, resultOf } from "../message.js";
import type { ClientRequest } from "../message.js";
import { errorLine, INTERNAL_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND } from "../rpc.js";
import type { RpcId } from "../rpc.js";
import type { CallJob, CallParts, ToolCall } from "../tool-call.js";
import { judgeAside } from "./judge-aside.js";
import type { Judging } from "./judging.js";
import { isOfTask, isServersMethod } from "./methods.js";
import { noticeOf, REJECTED, serversAnswer } from "./notice-error.js";
import { readRequest, rewriteRequest } from "./read-request.js";
import { effectOf } from "./effect-of.js";
import { createServerRoom } from "./server-room.js";
import type { ServerRoom } from "./server-room.js";
import { createTasks } from "./tasks.js";
import type { Tasks } from "./tasks.js";

/** Where a server's request comes from, and how the client is reached. */
export interface ServerWire {
  readonly server: string;
  /** To the server. */
  reply(line: Buffer): void;
  /** To the client; `onAnswer` gets its answer under the server's id. */
  pass(line: Buffer, onAnswer: (line: Buffer) => void): void;
}

/** The requests of all servers of one client. */
export interface ServerRequests {
  take(wire: ServerWire, line: Buffer): void;
  /**
   * A server takes a request back; true where the client has it and must be told.
   *
   * @param id - The server's.
   */
  cancel(server: string, id: unknown): boolean;
  /** A server is gone, or its client: what waits is over. */
  forget(server: string): void;
}

const ROOTS_LIST = "roots/list";
/** Requests of one server that may wait at a time. */
const OPEN_MAX = 16;
/** So long a gate keeps the question of whoever left, unless its host says otherwise. */
const LEFT_MS = 60_000;

/** What the requests need beside what judging needs. */
export interface ServerRequestsParts extends CallParts {
  /** What requests need a place of. */
  readonly room?: RequestRoom | undefined;
}

/** One that waits. */
interface Open {
  /** True where the client has it. */
  cancel(): boolean;
  /** Its server is gone. */
  drop?(): void;
}

/** A server may use an id again before the request that had it is over. */
function close(own: Map<RpcId, Open>, id: RpcId, entry: Open): void {
  if (own.get(id) === entry) own.delete(id);
}

/** What is known of them. */
interface State {
  readonly parts: CallParts;
  readonly judging: Judging;
  readonly room: ServerRoom;
  /** By server and its ids. */
  readonly open: Map<string, Map<RpcId, Open>>;
  /** Tasks that the client made for a server. */
  readonly tasks: Tasks<string>;
}

/** No requests yet. */
export function createServerRequests(parts: ServerRequestsParts, judging: Judging): ServerRequests {
  const state: State = {
    parts,
    judging,
    room: createServerRoom(parts.clock, parts.room),
    open: new Map(),
    tasks: createTasks<string>(),
  };
  return {
    take: (wire, line) => take(state, wire, line),
    cancel(server, id): boolean {
      const own = openOf(state, server);
      if ((typeof id !== "string" && typeof id !== "number") || !own.has(id)) return false;
      const waiting = own.get(id);
      own.delete(id);
      return waiting?.cancel() ?? false;
    },
    forget(server): void {
      state.room.forget(server);
      for (const waiting of state.open.get(server)?.values() ?? []) waiting.drop?.();
      state.open.delete(server);
    },
  };
}

function openOf({ open }: State, server: string): Map<RpcId, Open> {
  const known = open.get(server) ?? new Map<RpcId, Open>();
  open.set(server, known);
  return known;
}

function take(state: State, wire: ServerWire, line: Buffer): void {
  const { parts, tasks } = state;
  const request = readClientLine(line);
  if (request?.kind !== "request") {
    const why = request?.kind === "refused" ? `: ${logText(request.reason)}` : "";
    parts.log(
      `[${wire.server}] sent a request that readers may read differently; it is dropped${why}`,
    );
    return undefined;
  }
  const { id, method, params } = request;
  const own = openOf(state, wire.server);
  const refuse = (code: number, why: string): void =>
    wire.reply(errorLine(id, { code, message: `Cannot accept the request: ${why}` }));
  if (own.has(id)) return refuse(INVALID_REQUEST, "its id is in use");
  if (own.size >= OPEN_MAX) return refuse(INTERNAL_ERROR, `${OPEN_MAX} are waiting`);
  // A copy, because the line shares the memory of a larger chunk.
  if (isServersMethod(method)) return judge(state, wire, { ...request, line: Buffer.from(line) });
  const taskId = isRecord(params) ? params["taskId"] : undefined;
  if (method === "ping" || (isOfTask(method) && tasks.ownerOf(taskId) === wire.server)) {
    const entry: Open = { cancel: () => true };
    own.set(id, entry);
    return wire.pass(line, (answer) => {
      close(own, id, entry);
      wire.reply(answer);
    });
  }
  parts.log(`[${wire.server}] asked for ${logText(JSON.stringify(method))}; it is refused`);
  return refuse(METHOD_NOT_FOUND, "what it does is not known, so it cannot be judged");
}

function judge(state: State, wire: ServerWire, request: ClientRequest): void {
  const { parts, judging } = state;
  const { server } = wire;
  const { id, method, line } = request;
  const own = openOf(state, server);
  const read = readOrRefuse(state, wire, request);
  if (read === undefined) return undefined;
  const { args, tool } = read;
  const effect = effectOf(parts, { server, tool, args });
  let call: ToolCall | undefined;
  let openUntilMs: number | undefined;
  const over = new AbortController();
  const entry: Open = {
    cancel(): boolean {
      over.abort(new Error("its server took it back"));
      if (call === undefined) place?.over();
      const isPassed = call?.cancel() ?? false;
      // Its question stays open for a while, in case that it asks again.
      if (!isPassed) openUntilMs = parts.clock.now() + LEFT_MS;
      return isPassed;
    },
    drop(): void {
      over.abort(new Error("its server is gone"));
      // What is judged ends with its server by itself.
      if (call === undefined) place?.over();
    },
  };
  const job: CallJob = {
    ...read,
    id,
    server,
    definition: () => Promise.resolve(undefined),
    forward(changed, onAnswer): void {
      // People may be asked about the roots, too.
      if (method !== ROOTS_LIST) place?.judged();
      const passed = changed === undefined ? line : rewriteRequest(line, changed);
      const { signal } = over;
      wire.pass(passed, (answer) =>
        takeAnswer(state, { server, id, method, answer, signal }, onAnswer),
      );
    },
    tell(notice) {
      openUntilMs ??= openUntil(notice);
      return serversAnswer(id, method, notice);
    },
    onOver(): void {
      close(own, id, entry);
      place?.over(openUntilMs);
    },
  };
  const place = state.room.enter(server, { method, args, bytes: line.length, effect }, () => {
    call = judging.begin(job, (answer) => wire.reply(answer));
  });
  if (place === undefined) {
    const message = "Cannot accept the request: the client has no room for it";
    return wire.reply(errorLine(id, { code: REJECTED, message }));
  }
  own.set(id, entry);
}

function readOrRefuse(
  { parts }: State,
  wire: ServerWire,
  request: ClientRequest,
): CallParams | undefined {
  const read = readRequest(request);
  if ("call" in read) return read.call;
  const why = "error" in read ? read.error.message : read.invalid;
  parts.log(`[${wire.server}] ${logText(why)}`);
  wire.reply(errorLine(request.id, { code: INVALID_REQUEST, message: why }));
  return undefined;
}

/** Until when a question is open that goes on without its request. */
function openUntil(notice: NoticeResult): number | undefined {
  const { code, expiresAt } = noticeOf(notice) ?? {};
  return code === "pending" && expiresAt !== undefined ? Date.parse(expiresAt) : undefined;
}

interface Answered {
  readonly server: string;
  readonly id: RpcId;
  readonly method: string;
  readonly answer: Buffer;
  /** Nobody waits for it any more. */
  readonly signal: AbortSignal;
}

/** The client's answer; its roots are judged. */
function takeAnswer(
  { judging, tasks }: State,
  { server, id, method, answer, signal }: Answered,
  onAnswer: (line: Buffer) => void,
): void {
  tasks.learn(server, answer);
  if (method !== ROOTS_LIST) return onAnswer(answer);
  const result = resultOf(answer);
  if (!isRecord(result)) return onAnswer(answer);
  void afterRoots(judging, { server, roots: [result], signal }, (denied) =>
    onAnswer(denied === undefined ? answer : serversAnswer(id, method, denied)),
  );
  return undefined;
}

interface Roots {
  readonly server: string;
  /** Results of `roots/list`. */
  readonly roots: readonly unknown[];
  /** Nobody waits for them any more. */
  readonly signal?: AbortSignal;
}

/** Goes on once the roots that a client tells are judged, with the notice where some are denied. */
export async function afterRoots(
  judging: Judging,
  roots: Roots,
  goOn: (denied: NoticeResult | undefined) => void,
): Promise<void> {
  goOn(await deniedRoots(judging, roots).catch(() => invalidResult("the proxy failed")));
}

/** What is denied is not told: neither as it is, nor as a person changed it. */
async function deniedRoots(
  judging: Judging,
  { server, roots, signal }: Roots,
): Promise<NoticeResult | undefined> {
  for (const each of roots) {
    const args = isRecord(each) ? strict(each) : undefined;
    if (args === undefined) return invalidResult("its roots cannot be read");
    const judged = await judgeAside(judging, { server, method: ROOTS_LIST, args, signal });
    if ("denied" in judged) return judged.denied;
    if (judged.changed !== undefined) return invalidResult("the roots cannot be changed here");
  }
  return undefined;
}

function strict(value: Readonly<Record<string, unknown>>): JsonObject | undefined {
  try {
    const read = parseJson(JSON.stringify(value));
    return isJsonObject(read) ? read : undefined;
  } catch {
    return undefined;
  }
}
