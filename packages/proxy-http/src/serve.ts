/**
 * Serve: one parsed request from its head to its end. Who asks, what exactly is asked, what the gate says, and only then what was allowed. Whatever
 * goes wrong ends in a refusal with a code, on this one connection.
 */
import { type IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { type HttpAction, isHttpAction, type Release } from "@acp/core";
import type { Naming } from "./addresses.js";
import type { FindCaller } from "./agents.js";
import type { Connection } from "./connections.js";
import { actionOf } from "./decide.js";
import { type Exchange, forward, type ForwardParts, type Passed } from "./forward.js";
import { endToEnd } from "./headers.js";
import type { Caller, Decide, Dial, ProxyCount } from "./parts.js";
import { BrokenOffError } from "./pump.js";
import { makeDenial, makeRefusal, type Refusal, refusalBytes, refused, RefusedError, sendRefusal } from "./refusals.js";
import { type CheckedRequest, checkHost, checkRequest, type RequestLine } from "./request-guard.js";
import { type Carried, carry, holdAhead } from "./tunnel.js";

/** What happened, for whoever reads the log of a proxy. */
export interface ProxyLogEntry {
  readonly level: "info" | "warn" | "error";
  /** Stable name. */
  readonly event: "refused" | "broke_off" | "failed" | "note";
  /** One line. */
  readonly text: string;
  readonly agent?: string;
  readonly host?: string;
  readonly method?: string;
  readonly code?: Refusal["code"];
  readonly requestId?: string;
}

/** What all requests share. */
export interface ServeParts extends ForwardParts {
  readonly findCaller: FindCaller;
  readonly decide: Decide;
  readonly dial: Dial;
  readonly requireSni: boolean;
  /** Which hosts may go over to another protocol. */
  readonly mayUpgrade: Naming;
  readonly isClosing: () => boolean;
  readonly count: (count: ProxyCount) => void;
  readonly log: (entry: ProxyLogEntry) => void;
}

/** A request whose head was parsed, and its connection. */
export interface Arrived<Request extends RequestLine = IncomingMessage> {
  readonly request: Request;
  readonly connection: Connection;
}

interface Judged {
  readonly checked: CheckedRequest;
  readonly action: HttpAction;
  readonly caller: Caller;
  readonly signal: AbortSignal;
}

type Perform = (judged: Judged, release: Release) => Promise<void>;

/** What is said about a request in the log and in counters. */
interface About {
  method: string;
  agent?: string;
  host?: string;
}

interface Job extends Arrived<RequestLine> {
  readonly kind: "requests" | "tunnels";
  readonly perform: Perform;
  /** Says no; `undefined`: ends the connection, if it is not over. */
  refuse(refusal: Refusal | undefined): void | Promise<void>;
}

function whyNotNow({ isClosing, limits }: ServeParts, { connection }: Job): Refusal | undefined {
  if (isClosing()) return makeRefusal("closing", "the proxy is closing");
  return connection.load >= limits.pipelinedMax
    ? makeRefusal("overloaded", `${limits.pipelinedMax} requests of this connection are under way already`)
    : undefined;
}

/** Made once: connections go all the time, and an error costs more than its news. */
const GONE = new BrokenOffError("the agent is gone");

/** Judges a request and performs it. */
async function judge(parts: ServeParts, { kind, request, connection, perform }: Job, about: About): Promise<Refusal | undefined> {
  const gone = new AbortController();
  const { signal } = gone;
  const { rawHeaders } = request;
  let isDecided = false;
  let unwatch = (): void => {};
  const onHalfClosed = (): void => {
    unwatch = parts.watch.add({
      // One way of a tunnel may be over long before the other.
      progress: () => (isDecided && kind === "tunnels" ? undefined : connection.socket.bytesWritten),
      idleMs: parts.limits.halfClosedMs,
      onOver: () => void connection.socket.destroy(),
    });
  };
  const end = connection.begin({ onHalfClosed, onClosed: () => gone.abort(GONE) });
  try {
    if (connection.isHalfClosed) onHalfClosed();
    const caller = parts.findCaller(rawHeaders, connection.caller);
    about.agent = caller.agent.id;
    const checked = checkRequest(request, parts.limits);
    const action = actionOf({ method: checked.method, target: checked.target, rawHeaders });
    about.host = action.meta.host;
    checkHost(checked, action);
    if (checked.upgrade !== undefined) checkUpgrade(parts, action);
    return await parts.decide({ action, caller, signal }, (release) => {
      isDecided = true;
      return perform({ checked, action, caller, signal }, release);
    });
  } finally {
    unwatch();
    end();
  }
}

function checkUpgrade({ mayUpgrade }: ServeParts, { meta }: HttpAction): void {
  if (mayUpgrade(meta) === undefined)
    throw refused(
      "request_invalid",
      `requests to "${meta.host}" may not go over to another protocol; the operator can name it in upgradeHosts`,
    );
}

/** The no that an error stands for; `undefined` where nobody is there to hear it. */
function refusalOf({ log }: ServeParts, about: About, error: unknown): Refusal | undefined {
  if (error instanceof RefusedError) return error.refusal;
  if (error instanceof BrokenOffError) {
    log({ level: "info", event: "broke_off", text: error.message, ...about });
    return undefined;
  }
  log({ level: "error", event: "failed", text: error instanceof Error ? `${error.name}: ${error.message}` : "not an Error", ...about });
  return makeDenial("internal_error", "the proxy failed");
}

/** From arrival to end; never rejects. */
async function run(parts: ServeParts, job: Job): Promise<void> {
  const { count, log } = parts;
  const about: About = { method: job.request.method ?? "" };
  let refusal = whyNotNow(parts, job);
  let isBroken = false;
  if (refusal === undefined) {
    try {
      refusal = await judge(parts, job, about);
    } catch (error) {
      refusal = refusalOf(parts, about, error);
      isBroken = refusal === undefined;
    }
  }
  count({ name: job.kind, by: 1, labels: { outcome: refusal !== undefined ? "refused" : isBroken ? "broke_off" : "performed" } });
  if (refusal !== undefined) {
    const { code, reason, requestId } = refusal;
    count({ name: "refusals", by: 1, labels: { code } });
    log({ level: "info", event: "refused", text: reason, code, ...about, ...(requestId === undefined ? {} : { requestId }) });
  }
  if (refusal !== undefined || isBroken) await job.refuse(refusal);
}

function countBytes({ count }: ServeParts, kind: Job["kind"], { up, down }: Passed | Carried): void {
  if (up > 0) count({ name: "bytes_up", by: up, labels: { kind } });
  if (down > 0) count({ name: "bytes_down", by: down, labels: { kind } });
}

/** Reads what is left of a refused request's body, within bounds: many clients write all of it before they read. */
function readRest({ limits, watch }: ServeParts, request: IncomingMessage): Promise<void> {
  if (request.complete || request.destroyed || request.headers.expect !== undefined) return Promise.resolve();
  return new Promise((resolve) => {
    let left = limits.lingerBytesMax;
    const stop = (): void => {
      unwatch();
      request.off("data", take).off("end", stop).off("close", stop);
      resolve();
    };
    const take = (chunk: Uint8Array): void => {
      left -= chunk.byteLength;
      if (left < 0) stop();
    };
    const unwatch = watch.add({ progress: () => 0, idleMs: limits.lingerMs, onOver: stop });
    request.on("error", () => {});
    request.on("data", take).once("end", stop).once("close", stop);
    request.resume();
  });
}

/** Serves a request that is no CONNECT and wants no other protocol. */
export async function serveRequest(parts: ServeParts, { request, connection }: Arrived, response: ServerResponse): Promise<void> {
  await run(parts, {
    kind: "requests",
    request,
    connection,
    async perform(judged, release) {
      const passed = await forward(parts, exchangeOf(request, response, judged), release);
      if ("up" in passed) countBytes(parts, "requests", passed);
    },
    async refuse(refusal) {
      if (refusal === undefined) return void response.destroy();
      if (!response.headersSent) await readRest(parts, request);
      sendRefusal(response, refusal);
    },
  });
}

function exchangeOf(request: IncomingMessage, response: ServerResponse, { checked, action, caller, signal }: Judged): Exchange {
  return { request, response, checked, action, sharer: caller.agent.id, signal };
}

/** Serves a CONNECT; from here on its socket is ours. A tunnel lives long: of its request only what is read of it is kept. */
export function serveConnect(parts: ServeParts, { request, connection }: Arrived, head: Buffer): Promise<void> {
  const { socket } = connection;
  const { method, url, httpVersion, rawHeaders } = request;
  // An answer of an earlier request is still on its way.
  if (connection.load > 0) {
    socket.destroy();
    return Promise.resolve();
  }
  const takeAhead = holdAhead(socket, head, parts.limits.aheadBytesMax);
  let isOpen = false;
  return run(parts, {
    kind: "tunnels",
    request: { method, url, httpVersion, rawHeaders },
    connection,
    async perform({ signal }, { action }) {
      if (!isHttpAction(action)) throw new Error("the released action is of another kind");
      const { host, port } = action.meta;
      const upstream = await parts.dial({ host, port }, signal);
      isOpen = true;
      socket.write("HTTP/1.1 200 Connection Established\r\n\r\n");
      const hello = { host, requireSni: parts.requireSni };
      countBytes(parts, "tunnels", await carry({ client: socket, upstream }, { ...parts, ahead: takeAhead(), hello }));
    },
    refuse(refusal) {
      if (refusal === undefined) return void socket.destroy();
      if (!isOpen) socket.write(refusalBytes(refusal));
      socket.destroySoon();
    },
  });
}

/** The head of the answer that goes over to another protocol. */
function switchHead({ rawHeaders }: IncomingMessage, upgrade: string): string {
  const kept = [...endToEnd(rawHeaders, { kind: "none" }), "Connection", "Upgrade", "Upgrade", upgrade];
  const lines = kept.map((value, index) => (index % 2 === 0 ? `${value}: ` : `${value}\r\n`));
  return `HTTP/1.1 101 Switching Protocols\r\n${lines.join("")}\r\n`;
}

/** Serves a request that wants to go over to another protocol; from here on its socket is ours. */
export async function serveUpgrade(parts: ServeParts, { request, connection }: Arrived, head: Buffer): Promise<void> {
  const { socket } = connection;
  if (connection.load > 0) return void socket.destroy();
  const takeAhead = holdAhead(socket, head, parts.limits.aheadBytesMax);
  const response = answerOn(socket, request);
  await run(parts, {
    kind: "requests",
    request,
    connection,
    async perform(judged, release) {
      if (isHttpAction(release.action)) checkUpgrade(parts, release.action);
      const passed = await forward(parts, exchangeOf(request, response, judged), release);
      if ("up" in passed) return countBytes(parts, "requests", passed);
      const { answer, socket: upstream, head: first } = passed;
      response.detachSocket(socket);
      socket.write(switchHead(answer, judged.checked.upgrade ?? ""), "latin1");
      if (first.length > 0) socket.write(first);
      countBytes(parts, "tunnels", await carry({ client: socket, upstream }, { ...parts, ahead: takeAhead() }));
    },
    refuse(refusal) {
      if (refusal === undefined) return void socket.destroy();
      sendRefusal(response, refusal);
    },
  });
}

/** A place for an answer on a socket that is parsed no more; the connection ends with it. */
function answerOn(socket: Socket, request: IncomingMessage): ServerResponse {
  const response = new ServerResponse(request);
  response.shouldKeepAlive = false;
  response.assignSocket(socket);
  response.once("finish", () => socket.destroySoon());
  return response;
}
