/**
 * Held calls: the tool calls and the other judged requests under way, and how many bytes of them are
 * held.
 */
import { DENY_CODES, isReservedName } from "@acp/core";
import { leaveOutMeta } from "./call-members.js";
import { deniedResult, invalidResult } from "./call-result.js";
import type { NoticeResult } from "./call-result.js";
import { readCall } from "./call-params.js";
import type { CallParams, ReadCall } from "./call-params.js";
import type { ServerFailure } from "./failure.js";
import { createAsked } from "./judged/asked.js";
import { judgedAnswer } from "./judged/judge-answer.js";
import type { Judging } from "./judged/judging.js";
import { noticeError } from "./judged/notice-error.js";
import { readRequest } from "./judged/read-request.js";
import { afterRoots } from "./judged/server-requests.js";
import { createTasks } from "./judged/tasks.js";
import { HELD_BYTES_MAX } from "./limits.js";
import { logText } from "./log-text.js";
import type { ClientRequest } from "./message.js";
import { errorLine, INVALID_PARAMS, resultLine } from "./rpc.js";
import { startCall } from "./tool-call.js";
import type { CallJob, CallParts, ToolCall } from "./tool-call.js";

/** Keys that are told of in the log; an agent may make up new ones. */
const TOLD_MAX = 100;
const TOOLS_CALL = "tools/call";

/** What only the router knows of a call. */
export type CallRoute = Pick<
  CallJob,
  "server" | "tool" | "definition" | "forward" | "limits" | "recall"
> & {
  /** Looks at the tool again before it is called, where its server said that its tools changed. */
  renew?(): Promise<unknown> | undefined;
};

/** The calls of one client. */
export interface HeldCalls extends Judging {
  /**
   * Reads a `tools/call`, or another request that is judged, and starts it; `undefined` where it was answered at once.
   *
   * @param route - Where the call goes; `line` is a copy that may be kept. `undefined`: the router
   *   answered it.
   */
  start(
    request: ClientRequest,
    route: (call: CallParams, line: Buffer) => CallRoute | undefined,
    onOver: () => void,
  ): ToolCall | undefined;
  /** The client is gone; resolves when every call is forwarded or over. */
  leave(): Promise<void>;
  /**
   * The calls' server is gone; resolves when they are answered, and the log has what it can have of
   * all calls to it.
   */
  fail(failure: ServerFailure): Promise<void>;
}

/** Says in the log which key of `_meta` was left out, each once. */
function createTeller(log: CallParts["log"]): (key: string) => void {
  const told = new Set<string>();
  return (key) => {
    if (told.has(key) || told.size >= TOLD_MAX) return;
    told.add(key);
    log(
      `Left ${logText(JSON.stringify(key))} out of the _meta of a tool call: MCP does not define this key, so it could not be judged`,
    );
  };
}

/** The request as what is judged: a tool's call, or that of its reserved name. */
function readJudged(request: ClientRequest): ReadCall {
  if (request.method !== TOOLS_CALL) return readRequest(request);
  const read = readCall(request);
  return "call" in read && isReservedName(read.call.tool) ? reserved(read.call.tool) : read;
}

function reserved(tool: string): ReadCall {
  const message = `Cannot call ${JSON.stringify(tool)}: names that begin with "mcp:" are reserved`;
  return { error: { code: INVALID_PARAMS, message } };
}

/** Others take all the memory that calls may take. */
function tooMany(heldBytesMax: number): NoticeResult {
  return deniedResult({
    decision: "deny",
    code: "too_many_pending",
    reason: `calls of more than ${heldBytesMax} bytes are waiting`,
    ...DENY_CODES.too_many_pending,
  });
}

/** How the client of a request is told that it was not made. */
function sayerOf({ id, method }: ClientRequest, isTyped: boolean): Say {
  if (method !== TOOLS_CALL) return (notice) => errorLine(id, noticeError(notice));
  return (notice) => resultLine(id, isTyped ? { resultType: "complete", ...notice } : notice);
}

type Say = (notice: NoticeResult) => Buffer;

/** What the calls of one client share. */
interface Holding {
  readonly parts: CallParts;
  readonly heldBytesMax: number;
  readonly judging: Judging;
  readonly tellOnce: (key: string) => void;
  track(call: ToolCall, server: string): ToolCall;
  heldBytes: number;
}

/** No calls yet. */
export function createHeldCalls(
  parts: CallParts & Pick<Judging, "room">,
  heldBytesMax: number = HELD_BYTES_MAX,
): HeldCalls {
  const calls = new Map<ToolCall, string>();
  const track = (call: ToolCall, server: string): ToolCall => {
    calls.set(call, server);
    void call.over.finally(() => calls.delete(call));
    return call;
  };
  const judging: Judging = {
    room: parts.room,
    tasks: createTasks<string>(),
    asked: createAsked(),
    begin(job, send) {
      // Ids of requests are the client's.
      const { callOf: _, ...own } = parts;
      return track(startCall({ ...own, send }, job), job.server);
    },
  };
  const tellOnce = createTeller(parts.log);
  const holding: Holding = { parts, heldBytesMax, judging, tellOnce, track, heldBytes: 0 };
  return {
    ...judging,
    start: (request, route, onOver) => startHeld(holding, request, { route, onOver }),
    async leave(): Promise<void> {
      const open = [...calls.keys()];
      for (const call of open) call.leave();
      await Promise.all(open.map((call) => call.sent));
    },
    async fail(failure): Promise<void> {
      const open = [...calls]
        .filter(([, server]) => server === failure.server)
        .map(([call]) => call);
      for (const call of open) call.fail(failure);
      await Promise.all(open.map((call) => call.over));
    },
  };
}

interface Starting {
  readonly route: Parameters<HeldCalls["start"]>[1];
  readonly onOver: () => void;
}

function startHeld(
  holding: Holding,
  request: ClientRequest,
  { route, onOver }: Starting,
): ToolCall | undefined {
  const { parts, judging, heldBytesMax, tellOnce } = holding;
  const { id } = request;
  const read = readJudged(request);
  const say = sayerOf(request, "call" in read && read.call.typedResults);
  const refuse = (line: Buffer): undefined => {
    parts.send(line);
  };
  if ("error" in read) return refuse(errorLine(id, read.error));
  if ("invalid" in read) return refuse(say(invalidResult(read.invalid)));
  const bytes = request.line.length;
  if (holding.heldBytes + bytes > heldBytesMax) return refuse(say(tooMany(heldBytesMax)));
  const { line: cleaned, leftOut } = leaveOutMeta(request.line, request.params);
  const { line, params } = judging.asked.leaveOut({ line: cleaned, params: request.params });
  for (const key of leftOut) tellOnce(key);
  // A copy, because the line shares the memory of a larger chunk.
  const kept = Buffer.from(line);
  const target = route(read.call, kept);
  if (target === undefined) return undefined;
  const why = judging.asked.problem({ server: target.server, name: target.tool }, params);
  if (why !== undefined)
    return refuse(errorLine(id, { code: INVALID_PARAMS, message: `Cannot continue: ${why}` }));
  holding.heldBytes += bytes;
  const { progressToken, typedResults, args, argumentChars } = read.call;
  const call = startCall(parts, {
    ...target,
    ...judgedAround(judging, { target, params, say }),
    tell: say,
    id,
    args,
    argumentChars,
    progressToken,
    typedResults,
    request: { ...request, line: kept },
    onOver: () => {
      holding.heldBytes -= bytes;
      onOver();
    },
  });
  return holding.track(call, target.server);
}

interface Around {
  readonly target: CallRoute;
  readonly params: unknown;
  readonly say: Say;
}

/** Judges what the request answers, before it is sent, and what its own answer asks for. */
function judgedAround(
  judging: Judging,
  { target: { server, tool, renew }, params, say }: Around,
): Pick<CallJob, "before" | "judge"> {
  const of = { server, name: tool, tell: say };
  const roots = judging.asked.rootsIn(of, params);
  return {
    before(signal) {
      // What became of the tool is the forward's to say.
      const renewed = (): Promise<undefined> | undefined => renew?.()?.then(() => undefined);
      if (roots.length === 0) return renewed();
      return new Promise<NoticeResult | undefined>((resolve) => {
        void afterRoots(judging, { server, roots, signal }, resolve);
      }).then((denied) => (denied === undefined ? renewed() : say(denied)));
    },
    judge(line, signal) {
      judging.tasks.learn(server, line);
      return judgedAnswer(judging, { ...of, signal }, line);
    },
  };
}
