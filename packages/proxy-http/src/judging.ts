/**
 * Judging: one parsed request from its head to its end. It finds out who asks and what exactly,
 * asks the gate, and only then performs what was allowed. Any failure ends in a refusal with a
 * code, on this one connection.
 */
import type { IncomingMessage } from "node:http";
import type { Authority, HttpAction, Release } from "@acp/core";
import type { Naming } from "./addresses.js";
import type { FindCaller } from "./agents.js";
import type { Connection } from "./connections.js";
import { actionOf } from "./decide.js";
import type { ForwardParts } from "./forward.js";
import { type FindInternal, type InternalService, isInternalHost, serviceFor } from "./internal.js";
import type { Caller } from "./caller.js";
import type { Decide } from "./decide.js";
import type { Dial } from "./dial.js";
import type { ProxyCount } from "./proxy-count.js";
import { BrokenOffError } from "./pump.js";
import { makeDenial, makeRefusal, type Refusal, refused, RefusedError } from "./refusals.js";
import { type CheckedRequest, checkHost, checkRequest, type RequestLine } from "./request-guard.js";

/** One entry for the operator's log; decisions are in the audit log. */
export interface ProxyLogEntry {
  /** Severity. */
  readonly level: "info" | "warn" | "error";
  /** What happened; the names are stable. */
  readonly event: "refused" | "broke_off" | "failed" | "internal" | "note";
  /** One line for people. */
  readonly text: string;
  /** ID of the agent, if known. */
  readonly agent?: string;
  /** Host of the request, if known. */
  readonly host?: string;
  /** HTTP method of the request, if known. */
  readonly method?: string;
  /** Code of the refusal, if there was one. */
  readonly code?: Refusal["code"];
  /** ID of the question, if there was one. */
  readonly requestId?: string;
}

/** What all requests share. */
export interface ServeParts extends ForwardParts {
  readonly findCaller: FindCaller;
  readonly decide: Decide;
  readonly dial: Dial;
  /**
   * Refuses what is known to be refused after a yes.
   *
   * @throws RefusedError.
   */
  readonly foresee: (target: Authority) => void;
  readonly requireSni: boolean;
  /** Which hosts may go over to another protocol. */
  readonly mayUpgrade: Naming;
  readonly internal: FindInternal;
  readonly isClosing: () => boolean;
  readonly count: (count: ProxyCount) => void;
  readonly log: (entry: ProxyLogEntry) => void;
}

/** A request whose head was parsed, and its connection. */
export interface Arrived<Request extends RequestLine = IncomingMessage> {
  readonly request: Request;
  readonly connection: Connection;
}

/** A request that was judged. */
export interface Judged {
  readonly checked: CheckedRequest;
  readonly action: HttpAction;
  readonly caller: Caller;
  readonly signal: AbortSignal;
}

/** Does what was allowed. */
export type Perform = (judged: Judged, release: Release) => Promise<void>;

/** What is said about a request in the log and in counters. */
interface About {
  method: string;
  agent?: string;
  host?: string;
}

/** A request, and what becomes of it. */
export interface Job extends Arrived<RequestLine> {
  readonly kind: "requests" | "tunnels";
  readonly perform: Perform;
  /**
   * Gives the connection to a service in this process; settles when it is gone. Left out: the
   * request is no CONNECT.
   */
  readonly handOver?: (service: InternalService, caller: Caller) => Promise<void>;
  /** Says no; `undefined`: ends the connection, if it is not over. */
  refuse(refusal: Refusal | undefined): void | Promise<void>;
}

function whyNotNow({ isClosing, limits }: ServeParts, { connection }: Job): Refusal | undefined {
  if (isClosing()) return makeRefusal("closing", "the proxy is closing");
  return connection.load() >= limits.pipelinedMax
    ? makeRefusal(
        "overloaded",
        `${limits.pipelinedMax} requests of this connection are under way already`,
      )
    : undefined;
}

const SECRET_UPGRADE = "another protocol could carry secrets back unmasked";

/** Made once: connections go all the time, and an error costs more than its news. */
const GONE = new BrokenOffError("the agent is gone");

/** A request under way on its connection. */
interface Visit {
  /** Aborts when the agent is gone. */
  readonly signal: AbortSignal;
  /** Something was allowed. */
  decided(): void;
  leave(): void;
}

function enter({ watch, limits }: ServeParts, { kind, connection }: Job): Visit {
  const gone = new AbortController();
  let isDecided = false;
  let unwatch = (): void => {};
  const onHalfClosed = (): void => {
    unwatch = watch.add({
      // One way of a tunnel may be over long before the other.
      progress: () =>
        isDecided && kind === "tunnels" ? undefined : connection.socket.bytesWritten,
      idleMs: limits.halfClosedMs,
      onOver: () => void connection.socket.destroy(),
    });
  };
  const end = connection.begin({ onHalfClosed, onClosed: () => gone.abort(GONE) });
  if (connection.isHalfClosed) onHalfClosed();
  return {
    signal: gone.signal,
    decided: () => {
      isDecided = true;
    },
    leave: () => {
      unwatch();
      end();
    },
  };
}

/**
 * Judges a request and performs it.
 *
 * @throws RefusedError for what is not even judged.
 */
async function judge(
  parts: ServeParts,
  job: Job,
  { about, visit }: Judging,
): Promise<Refusal | undefined> {
  const { request, connection, perform } = job;
  const { rawHeaders } = request;
  const { signal } = visit;
  const caller = parts.findCaller(rawHeaders, connection.caller);
  about.agent = caller.agent.id;
  const checked = checkRequest(request, parts.limits);
  const action = actionOf({ method: checked.method, target: checked.target, rawHeaders });
  about.host = action.meta.host;
  checkHost(checked, action);
  if (isInternalHost(action.meta.host))
    return serveInside(parts, job, { about, visit, action, caller });
  const foreseen = foresee(parts, checked, action);
  const start = (release: Release): Promise<void> => {
    visit.decided();
    return perform({ checked, action, caller, signal }, release);
  };
  const refusal = await parts.decide({ action, caller, signal, obstacle: foreseen?.reason }, start);
  // The agent reads the same no as where nobody had to be asked.
  return refusal?.code === "not_performable" ? (foreseen ?? refusal) : refusal;
}

/**
 * What would be refused after a yes, as far as it is known, so that nobody is asked in vain. It is
 * the gate that says no, and the log has it.
 */
function foresee(
  parts: ServeParts,
  { upgrade }: CheckedRequest,
  action: HttpAction,
): Refusal | undefined {
  try {
    if (upgrade !== undefined) checkUpgrade(parts, action);
    parts.foresee(action.meta);
    return undefined;
  } catch (error) {
    if (error instanceof RefusedError) return error.refusal;
    throw error;
  }
}

interface Judging {
  readonly about: About;
  readonly visit: Visit;
}

/**
 * Gives a connection to a service in this process. The gate is not asked about it: whatever is said
 * over it is judged there.
 *
 * @throws RefusedError `service_refused`.
 */
async function serveInside(
  { internal, log }: ServeParts,
  { connection, handOver }: Job,
  { about, visit, action, caller }: Judging & Pick<Judged, "action" | "caller">,
): Promise<undefined> {
  const { method, host, port } = action.meta;
  const service = serviceFor(internal, { target: { host, port }, method, connection });
  if (handOver === undefined) throw new Error("a CONNECT cannot be handed over");
  visit.decided();
  log({
    level: "info",
    event: "internal",
    text: `the connection goes to the service at port ${port}`,
    ...about,
  });
  await handOver(service, caller);
}

/**
 * Checks that a host may go over to another protocol.
 *
 * @throws RefusedError `request_invalid`.
 */
export function checkUpgrade({ mayUpgrade }: ServeParts, { meta, args }: HttpAction): void {
  // Its only arguments are headers with placeholders.
  if (args !== undefined) throw refused("request_invalid", SECRET_UPGRADE);
  if (mayUpgrade(meta) === undefined)
    throw refused(
      "request_invalid",
      `requests to "${meta.host}" may not switch to another protocol; the operator can name the host in upgradeHosts`,
    );
}

/** The no that an error stands for; `undefined` where nobody is there to hear it. */
function refusalOf({ log }: ServeParts, about: About, error: unknown): Refusal | undefined {
  if (error instanceof RefusedError) return error.refusal;
  if (error instanceof BrokenOffError) {
    log({ level: "info", event: "broke_off", text: error.message, ...about });
    return undefined;
  }
  log({
    level: "error",
    event: "failed",
    text: error instanceof Error ? `${error.name}: ${error.message}` : "not an Error",
    ...about,
  });
  return makeDenial("internal_error", "the proxy failed");
}

/** From arrival to end; never rejects. */
export async function run(parts: ServeParts, job: Job): Promise<void> {
  const about: About = { method: job.request.method ?? "" };
  let refusal = whyNotNow(parts, job);
  let isBroken = false;
  const visit = enter(parts, job);
  try {
    refusal ??= await judge(parts, job, { about, visit });
  } catch (error) {
    refusal = refusalOf(parts, about, error);
    isBroken = refusal === undefined;
  }
  tell(parts, job.kind, { about, refusal, isBroken });
  try {
    if (refusal !== undefined || isBroken) await job.refuse(refusal);
  } catch {
    // A no that cannot be written ends its connection, and nothing else.
    job.connection.socket.destroy();
  }
  visit.leave();
}

interface Outcome {
  readonly about: About;
  readonly refusal: Refusal | undefined;
  readonly isBroken: boolean;
}

function tell(
  { count, log }: ServeParts,
  kind: Job["kind"],
  { about, refusal, isBroken }: Outcome,
): void {
  const name = about.host !== undefined && isInternalHost(about.host) ? "internal" : kind;
  count({
    name,
    by: 1,
    labels: { outcome: refusal !== undefined ? "refused" : isBroken ? "broke_off" : "performed" },
  });
  if (refusal === undefined) return;
  const { code, reason, requestId } = refusal;
  count({ name: "refusals", by: 1, labels: { code } });
  log({
    level: "info",
    event: "refused",
    text: reason,
    code,
    ...about,
    ...(requestId === undefined ? {} : { requestId }),
  });
}
