/**
 * Budgets: what one client may take of a resident, so that it leaves the others served. A client is
 * an agent id and the process that started it; both are what the client says. Whoever lies about
 * them is a process of this user outside of any sandbox, which could pretend to be any client.
 */
import type { AuditSink, QuestionRoom } from "@acp/core";
import type { RequestRoom } from "@acp/proxy-mcp";
import { createAgentsTaken, flowOut, whyFull, whyNotMore } from "./agents-taken.js";
import type { AgentsTaken, Counts } from "./agents-taken.js";
import { LONG_BYTES, createLongAppend, entryBytes } from "./long-entries.js";
import type { LongAppend } from "./long-entries.js";
import { LIMITS } from "./limits.js";
import type { Limits } from "./limits.js";
import { createLogRoom } from "./log-room.js";
import type { LogRoom } from "./log-room.js";
import { createTurns } from "./turns.js";
import type { Turns } from "./turns.js";

const MINUTE_MS = 60_000;
/** Whoever had a call under way within this time is likely to have the next one soon. */
const RECENT_MS = 1_000;
/** How often a client's limits are told of. */
const TELL_EVERY_MS = 60_000;

/** What one client has now. */
export interface Usage {
  readonly sessions: number;
  readonly questions: number;
  /** Of any kind under way, calls among them. */
  readonly requests: number;
  readonly calls: number;
  readonly bytes: number;
  /** What is being written into the log. */
  readonly writes: number;
  readonly log_bytes: number;
}

/** The share of one session in its client's budget. */
export interface Share extends Disposable {
  readonly questionRoom: QuestionRoom;
  /** Of one of its agents. */
  roomOf(agentId: string): RequestRoom;
  /**
   * Counts what is written, and has this client's writes wait for each other.
   *
   * @param keepBytes - How large all logs of the home together may get, where that is limited.
   */
  counted(sink: AuditSink, keepBytes?: number): AuditSink;
  /** Waits until fewer sessions of this client are starting. */
  turn(): Promise<void>;
  /** The session has started, or does not. */
  started(): void;
  /** Says once a minute, for this client, that it reached a limit. Set by the session's gate. */
  onFull(tell: (why: string) => void): void;
  /** What its client has. */
  usage(): Usage;
}

/** The budgets of all clients. */
export interface Budgets {
  /**
   * A session for a client, or why it gets none.
   *
   * @param claims - What it says of itself, each part on its own. Default: nothing.
   */
  open(client: string, claims?: readonly string[]): Share | string;
}

interface Client {
  sessions: number;
  /** Sessions that it began; they flow out of the measure as what it logs does. */
  starts: number;
  readonly turns: Turns;
  /** Every decision is written before it counts: so many of one client's go on at a time. */
  readonly turnsToWrite: Turns;
  writes: number;
  readonly taken: AgentsTaken;
  /** Bytes that are in the log, by agent. */
  readonly logged: Map<string, number>;
  drainedAtMs: number;
  toldAtMs: number | undefined;
  /** When a call of it began or ended last. */
  calledAtMs: number;
}

interface State {
  readonly limits: Limits;
  readonly nowMs: () => number;
  readonly clients: Map<string, Client>;
  sessions: number;
  /** Clients with tool calls under way. */
  busy: number;
  readonly long: LongAppend;
  /** What is written beyond what each client may. */
  readonly logRoom: LogRoom;
  /** Sessions by what their clients say. */
  readonly claims: Map<string, number>;
}

/**
 * No client is there.
 *
 * @param nowMs - Milliseconds of a clock that only runs forward.
 * @param spare - Bytes free on the disk of the logs. Default: none.
 */
export function createBudgets(
  nowMs: () => number = () => performance.now(),
  limits: Limits = LIMITS,
  spare: () => number = () => 0,
): Budgets {
  const state: State = {
    limits,
    nowMs,
    clients: new Map(),
    sessions: 0,
    busy: 0,
    long: createLongAppend(),
    logRoom: createLogRoom(spare, nowMs),
    claims: new Map(),
  };
  return {
    open(name, claims = []) {
      const why = whyNoSession(state, name) ?? whyNoClaim(state, claims);
      if (why !== undefined) return why;
      const client = state.clients.get(name) ?? newClient(state);
      state.clients.set(name, client);
      return shareOf(state, client, claims);
    },
  };
}

const newClient = (state: State): Client => ({
  sessions: 0,
  starts: 0,
  turns: createTurns(state.limits.startsAtOnce),
  turnsToWrite: createTurns(() =>
    state.busy > 1 ? state.limits.writesBesideOthers : state.limits.writesAtOnce,
  ),
  writes: 0,
  taken: createAgentsTaken(),
  logged: new Map(),
  drainedAtMs: state.nowMs(),
  toldAtMs: undefined,
  calledAtMs: -Infinity,
});

function whyNoSession(state: State, name: string): string | undefined {
  const { limits, clients, sessions } = state;
  const client = clients.get(name);
  const own = client?.sessions ?? 0;
  if (client !== undefined) drain(state, client);
  if (client !== undefined && client.starts > limits.starts - 1)
    return `this client has begun ${limits.starts} sessions within a minute`;
  if (sessions >= limits.sessions) return `the resident has ${limits.sessions} sessions already`;
  if (own >= limits.sessionsOfOne)
    return `this client has ${own} sessions already; one client may have ${limits.sessionsOfOne}`;
  return own > 0 && sessions >= limits.sessions - limits.sessionsForNew
    ? `the last ${limits.sessionsForNew} sessions are for clients that have none`
    : undefined;
}

/** Who makes up parents, or agents, leaves room for those who say something else. */
function whyNoClaim(
  { limits, claims: counts }: State,
  claims: readonly string[],
): string | undefined {
  const full = claims.find((claim) => (counts.get(claim) ?? 0) >= limits.sessionsOfClaim);
  return full === undefined
    ? undefined
    : `clients of ${full} have ${limits.sessionsOfClaim} sessions already`;
}

function shareOf(state: State, client: Client, claims: readonly string[]): Share {
  const { limits, nowMs } = state;
  begin(state, client, claims);
  // What this session took, so that its end gives back what it did not.
  const own = createAgentsTaken();
  const turn = client.turns.of();
  let isOver = false;
  let tell: (why: string) => void = () => undefined;
  const take = (agent: string, what: keyof Counts, by: number): void => {
    if (isOver) return;
    own.add(agent, what, by);
    addTo(state, client, { agent, what, by });
  };
  const full = (why: string): string => {
    const now = nowMs();
    if (client.toldAtMs === undefined || now - client.toldAtMs >= TELL_EVERY_MS) {
      client.toldAtMs = now;
      tell(why);
    }
    return why;
  };
  return {
    questionRoom: {
      full(agent) {
        const why = whyFull(limits, client.taken, { agent, what: "questions", more: 1 });
        return why === undefined ? undefined : full(why);
      },
      count: (by, agent) => take(agent, "questions", by),
    },
    roomOf: (agent) => roomOf(state, client, { agent, take, full }),
    counted(sink, keepBytes) {
      state.logRoom.keep(keepBytes);
      return countedSink(sink, state, client);
    },
    turn: turn.take,
    started: turn.give,
    onFull: (next) => (tell = next),
    usage: () => usageOf(state, client),
    [Symbol.dispose]() {
      if (isOver) return;
      turn.give();
      for (const [agent, counts] of own.all())
        for (const what of ["questions", "requests", "calls", "bytes"] as const)
          addTo(state, client, { agent, what, by: -counts[what] });
      isOver = true;
      state.sessions--;
      client.sessions--;
      countClaims(state, claims, -1);
      forgetIdle(state);
    },
  };
}

interface Taking {
  readonly agent: string;
  readonly take: (agent: string, what: keyof Counts, by: number) => void;
  /** Tells why there is no room. */
  readonly full: (why: string) => string;
}

const roomOf = (state: State, client: Client, { agent, take, full }: Taking): RequestRoom => ({
  enter(request) {
    const why = whyNoRequest(state, client, { agent, ...request });
    if (why !== undefined) return { full: full(why) };
    const change = (by: 1 | -1): void => {
      take(agent, "requests", by);
      if (request.isCall) take(agent, "calls", by);
      take(agent, "bytes", by * request.bytes);
    };
    change(1);
    return { leave: () => change(-1) };
  },
  isShared: () => {
    const sinceMs = state.nowMs() - RECENT_MS;
    for (const other of state.clients.values())
      if (other !== client && (other.taken.total.calls > 0 || other.calledAtMs > sinceMs))
        return true;
    return false;
  },
});

/** Counts what a client has, and how many clients have calls. */
function addTo(
  state: State,
  client: Client,
  { agent, what, by }: { readonly agent: string; readonly what: keyof Counts; readonly by: number },
): void {
  const { taken } = client;
  const wasBusy = taken.total.calls > 0;
  taken.add(agent, what, by);
  if (what === "calls" && by !== 0) client.calledAtMs = state.nowMs();
  state.busy += Number(taken.total.calls > 0) - Number(wasBusy);
}

const countedSink = (sink: AuditSink, state: State, client: Client): AuditSink => ({
  async append(events, terms) {
    const turn = client.turnsToWrite.of();
    client.writes++;
    try {
      // What may wait keeps no turn from what may not, and hardly anything goes on after it.
      if (terms?.mayWait !== true) await turn.take();
      const bytes = entryBytes(events);
      countLog(state, client, { agent: events[0]?.agent ?? "", bytes });
      return await (bytes > LONG_BYTES ? state.long(sink, events) : sink.append(events, terms));
    } finally {
      client.writes--;
      turn.give();
    }
  },
});

/** What one agent may not have by itself is taken of what all may have, where there is some. */
function countLog(
  state: State,
  client: Client,
  { agent, bytes }: { readonly agent: string; readonly bytes: number },
): void {
  drain(state, client);
  const { limits, logRoom } = state;
  const { logged } = client;
  const before = logged.get(agent) ?? 0;
  const own = Math.max(0, limits.logBytes - before);
  if (bytes <= own || !logRoom.hasSome()) logged.set(agent, before + bytes);
  else {
    logged.set(agent, before + own);
    logRoom.take(bytes - own);
  }
}

function begin(state: State, client: Client, claims: readonly string[]): void {
  countClaims(state, claims, 1);
  state.sessions++;
  client.sessions++;
  client.starts++;
}

function countClaims({ claims: counts }: State, claims: readonly string[], by: 1 | -1): void {
  for (const claim of claims) {
    const count = (counts.get(claim) ?? 0) + by;
    if (count === 0) counts.delete(claim);
    else counts.set(claim, count);
  }
}

function usageOf(state: State, client: Client): Usage {
  drain(state, client);
  const { sessions, writes } = client;
  return { sessions, ...client.taken.total, writes, log_bytes: Math.ceil(loggedBy(client)) };
}

/** What all agents of a client have in the log. */
function loggedBy({ logged }: Client): number {
  let sum = 0;
  for (const bytes of logged.values()) sum += bytes;
  return sum;
}

interface AgentRequest {
  readonly agent: string;
  readonly bytes: number;
  readonly isCall: boolean;
}

function whyNoRequest(
  state: State,
  client: Client,
  { agent, bytes, isCall }: AgentRequest,
): string | undefined {
  const { limits, logRoom } = state;
  const why =
    whyFull(limits, client.taken, { agent, what: "bytes", more: bytes }) ??
    (isCall ? whyFull(limits, client.taken, { agent, what: "calls", more: 1 }) : undefined);
  if (why !== undefined || !isCall) return why;
  drain(state, client);
  const own = client.logged.get(agent) ?? 0;
  const isFull =
    whyNotMore(limits, { what: "logBytes", own, total: loggedBy(client), more: 1 }) !== undefined;
  return isFull && !logRoom.hasSome()
    ? `this client has filled ${limits.logBytes} bytes of the log within a minute`
    : undefined;
}

/** What was written and begun flows out of the measure with time. */
function drain({ nowMs, limits }: State, client: Client): void {
  const now = nowMs();
  const minutes = (now - client.drainedAtMs) / MINUTE_MS;
  flowOut(client.logged, limits, minutes);
  client.starts = Math.max(0, client.starts - minutes * limits.starts);
  client.drainedAtMs = now;
}

/** A client without a session is remembered for as long as what it did counts. */
function forgetIdle(state: State): void {
  for (const [name, client] of state.clients) {
    drain(state, client);
    if (client.sessions === 0 && client.logged.size === 0 && client.starts === 0)
      state.clients.delete(name);
  }
}

/**
 * Whether a client has anything under way but questions: what was answered already and is not in the
 * log yet, too.
 */
export const isUnderWay = (used: Usage | undefined): boolean =>
  used !== undefined && (used.requests > used.questions || used.writes > 0);

/** The name that a client's budget goes by: what it says of itself. */
export function clientName(agentId: string, ppid: number): string {
  return JSON.stringify([agentId, ppid]);
}

/** What it says, each part on its own. */
export function claimsOf(agentId: string, ppid: number): readonly string[] {
  return [`agent ${JSON.stringify(agentId)}`, `process ${ppid}`];
}
