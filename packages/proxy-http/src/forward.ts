/**
 * Forward: one allowed request, sent anew from what was parsed and released, and its answer on the
 * way back. Bodies pass as they come, no faster than the slower side reads. Whichever side goes
 * away, the other is let go.
 */
import type { ClientRequest, IncomingMessage, ServerResponse } from "node:http";
import { Socket } from "node:net";
import { asError, type HttpAction, isHttpAction, type Release } from "@acp/core";
import { endToEnd, requestHeaders, trailersOf } from "./headers.js";
import type { ProxyLimits } from "./limits.js";
import { BrokenOffError, pump } from "./pump.js";
import { checkAnswer, type CheckedRequest } from "./request-guard.js";
import { refused, RefusedError } from "./refusals.js";
import { createResponseMask, fillHeaders, type ResponseMask } from "./secret-headers.js";
import { isShareable, type Outgoing, type Upstream } from "./upstream.js";
import type { Watch } from "./watch.js";

/** What all requests share. */
export interface ForwardParts {
  readonly upstream: Upstream;
  readonly limits: ProxyLimits;
  readonly watch: Watch;
  /** Header names, lower case, that the proxy keeps for itself. */
  readonly dropped: ReadonlySet<string>;
}

/** One request and the place for its answer. */
export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly checked: CheckedRequest;
  readonly action: HttpAction;
  /** Whose connections to hosts it may share. */
  readonly sharer: string;
  /** Aborts when the agent is gone. */
  readonly signal: AbortSignal;
}

/** Body bytes that passed. */
export interface Passed {
  up: number;
  down: number;
}

const SCHEME = "http://";
/** Answers of 1xx before the answer to one request: a server that has hints sends one or two. */
const INTERIM_MAX = 64;
/** What a status text may hold; the rest is left out, not repaired. */
const STATUS_TEXT = /^[\t\u0020-\u007e\u0080-\u00ff]*$/;

/**
 * What is sent: method, host and path of what was released, which is what was judged or what a
 * person made of it.
 *
 * @throws RefusedError.
 */
export function outgoingOf(
  { dropped }: ForwardParts,
  exchange: Exchange,
  release: Release,
): Outgoing & { readonly isShared: boolean } {
  const { checked, request, action, sharer } = exchange;
  const released = release.action;
  const url = isHttpAction(released) ? released.meta.url : undefined;
  if (!isHttpAction(released) || url === undefined || !url.startsWith(SCHEME))
    throw refused("request_invalid", "what was released is not a plain HTTP request");
  const slash = url.indexOf("/", SCHEME.length);
  const { framing, wantsTrailers, upgrade } = checked;
  const isShared = isShareable(released.name) && framing.kind === "none" && upgrade === undefined;
  const kept = endToEnd(request.rawHeaders, framing, dropped);
  const terms = {
    method: released.name,
    host: url.slice(SCHEME.length, slash),
    framing,
    wantsTrailers,
    upgrade,
    isKept: isShared,
  };
  const headers = requestHeaders(kept, terms);
  const hasSecrets =
    action.args !== undefined || released.args !== undefined || release.masker() !== undefined;
  return {
    method: released.name,
    host: released.meta.host,
    port: released.meta.port,
    path: url.slice(slash),
    headers: hasSecrets ? fillHeaders(headers, release) : headers,
    sharer,
    isShared,
  };
}

/** Why a request failed, as the agent is told. */
export function failureOf(error: unknown): RefusedError {
  if (error instanceof RefusedError) return error;
  const code =
    error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";
  return code.startsWith("HPE_")
    ? refused("upstream_invalid", `the host's answer is not strict HTTP/1.1 (${code})`, {
        cause: error,
      })
    : refused("upstream_unreachable", "the host closed the connection before it answered", {
        cause: error,
      });
}

/** The host went over to another protocol, as it was asked to. */
export interface Switched {
  readonly answer: IncomingMessage;
  readonly socket: Socket;
  /** Bytes that came with it. */
  readonly head: Buffer;
}

/**
 * Forwards a request and its answer; settles when the last byte has passed, or the host went over
 * to another protocol.
 *
 * @throws RefusedError where there is no answer to pass on; BrokenOffError where it broke off on
 *   the way.
 */
export async function forward(
  parts: ForwardParts,
  exchange: Exchange,
  release: Release,
): Promise<Passed | Switched> {
  const outgoing = outgoingOf(parts, exchange, release);
  const mask = createResponseMask(release);
  if (exchange.checked.upgrade !== undefined && mask !== undefined)
    throw refused("request_invalid", "another protocol could carry secrets back unmasked");
  const passed: Passed = { up: 0, down: 0 };
  const once = (sent: ClientRequest): Promise<Ending> =>
    transfer(parts, exchange, { sent, mask, passed });
  const first = outgoing.isShared ? await once(parts.upstream.share(outgoing)) : "stale";
  const ending =
    first === "stale"
      ? await once(
          await parts.upstream.open(
            outgoing.isShared ? alone(outgoing) : outgoing,
            exchange.signal,
          ),
        )
      : first;
  return typeof ending === "object" ? ending : passed;
}

/** The same over a connection of its own. */
function alone(outgoing: Outgoing): Outgoing {
  const headers = outgoing.headers.map((value, index) =>
    index % 2 === 1 && outgoing.headers[index - 1] === "Connection"
      ? value.replace("keep-alive", "close")
      : value,
  );
  return { ...outgoing, headers };
}

interface Transfer {
  readonly sent: ClientRequest;
  readonly mask: ResponseMask | undefined;
  readonly passed: Passed;
}

/** `stale`: a kept connection was closed under the request, so that it may be sent again. */
type Ending = "passed" | "stale" | Switched;

/**
 * Ends a request that passes no byte for too long. `late` tells with what it was ended, once it
 * was.
 */
function watchIdle(
  { watch, limits }: ForwardParts,
  { sent, response }: { readonly sent: ClientRequest; readonly response: ServerResponse },
  progress: () => number,
): { readonly unwatch: () => void; readonly late: () => RefusedError | undefined } {
  let late: RefusedError | undefined;
  const unwatch = watch.add({
    progress,
    idleMs: limits.idleMs,
    onOver: () => {
      late = refused("upstream_timeout", "no byte came from or went to the host for too long");
      sent.destroy(late);
      if (response.headersSent) response.destroy();
    },
  });
  return { unwatch, late: () => late };
}

/** Passes bodies both ways. */
function transfer(
  parts: ForwardParts,
  exchange: Exchange,
  { sent, mask, passed }: Transfer,
): Promise<Ending> {
  const { response, signal, checked } = exchange;
  return new Promise((resolve, reject) => {
    let answer: IncomingMessage | undefined;
    const { unwatch, late } = watchIdle(
      parts,
      { sent, response },
      () => passed.up + passed.down + (answer === undefined ? 0 : 1),
    );
    const end = (): void => {
      unwatch();
      response.removeListener("close", onClosed);
    };
    const fail = (error: Error): void => {
      end();
      sent.destroy();
      reject(error);
    };
    const onClosed = (): void => {
      if (!response.writableFinished)
        return fail(late() ?? new BrokenOffError("the connection broke off"));
      end();
      // An answer that came early leaves a request that nobody reads.
      if (answer?.complete !== true || !sent.writableFinished) sent.destroy();
      resolve("passed");
    };
    response.once("close", onClosed);
    sent.on("error", (error) => {
      if (answer !== undefined) return;
      end();
      const isStale = sent.reusedSocket && late() === undefined && !signal.aborted;
      if (isStale && isReset(error)) resolve("stale");
      else reject(late() ?? failureOf(error));
    });
    sent.once("upgrade", (incoming, socket, head) => {
      if (checked.upgrade === undefined || !(socket instanceof Socket)) {
        socket.destroy();
        return fail(refused("upstream_invalid", "the host switched protocols without being asked"));
      }
      end();
      resolve({ answer: incoming, socket, head });
    });
    passInterim(sent, { response, mask, fail });
    sent.once("response", (incoming) => {
      answer = incoming;
      try {
        passAnswer(parts, { incoming, response, mask, passed });
      } catch (error) {
        incoming.on("error", () => {});
        fail(response.headersSent ? asError(error) : unforwardable(error));
      }
    });
    passBody(exchange, sent, passed);
    if (signal.aborted) fail(new BrokenOffError("the connection broke off"));
  });
}

/** What Node does not take into an answer's head. */
function unforwardable(cause: unknown): RefusedError {
  return cause instanceof RefusedError
    ? cause
    : refused("upstream_invalid", "the host's answer has a head that cannot be sent", { cause });
}

function isReset(error: Error): boolean {
  return "code" in error && (error.code === "ECONNRESET" || error.code === "EPIPE");
}

/** The request's body and trailers. */
function passBody(
  { request, checked, response }: Exchange,
  sent: ClientRequest,
  passed: Passed,
): void {
  if (checked.framing.kind === "none") {
    sent.end();
    return;
  }
  // Told by the closing of the response.
  request.on("error", () => {});
  pump(request, sent, (bytes) => {
    passed.up += bytes;
  });
  request.once("end", () => {
    if (sent.destroyed || response.destroyed) return;
    if (checked.framing.kind === "chunked") sent.addTrailers(trailersOf(request.rawTrailers));
    sent.end();
  });
  sent.once("close", () => request.resume());
}

interface Interim extends Pick<Exchange, "response">, Pick<Transfer, "mask"> {
  fail(error: RefusedError): void;
}

/** Passes interim answers as they come, up to a number: more than that fail the request. */
function passInterim(sent: ClientRequest, { response, mask, fail }: Interim): void {
  let count = 0;
  sent.on("information", (head: Information) => {
    // Each is written whether what was written before is read or not: more would fill the memory.
    if (++count <= INTERIM_MAX) return passInformation(response, head, mask);
    if (count > INTERIM_MAX + 1) return;
    // The answer may have come together with them.
    sent.removeAllListeners("response").on("response", (late) => void late.on("error", () => {}));
    fail(refused("upstream_invalid", `the host sent more than ${INTERIM_MAX} interim answers`));
  });
}

interface Information {
  readonly statusCode: number;
  readonly rawHeaders: readonly string[];
}

const EARLY_HINTS = 103;

/** 100 and 102 say nothing but themselves; early hints have headers. Others nobody asked for. */
function passInformation(
  response: ServerResponse,
  { statusCode, rawHeaders }: Information,
  mask: ResponseMask | undefined,
): void {
  const { socket, req } = response;
  // Where an earlier answer of this connection is still on its way, an intermediate one has no
  // place to go.
  if (response.headersSent || socket === null || req.httpVersion !== "1.1") return;
  if (statusCode === 100) response.writeContinue();
  else if (statusCode === 102) response.writeProcessing();
  else if (statusCode === EARLY_HINTS) {
    const kept = endToEnd(mask === undefined ? rawHeaders : mask.trailers(rawHeaders), {
      kind: "none",
    });
    const lines = trailersOf(kept).map(([name, value]) => `${name}: ${value}\r\n`);
    if (lines.every((line) => STATUS_TEXT.test(line.slice(0, -2))))
      socket.write(`HTTP/1.1 103 Early Hints\r\n${lines.join("")}\r\n`, "latin1");
  }
}

interface Answering {
  readonly incoming: IncomingMessage;
  readonly response: ServerResponse;
  readonly mask: ResponseMask | undefined;
  readonly passed: Passed;
}

/**
 * The answer's head, body and trailers.
 *
 * @throws RefusedError `upstream_invalid` before anything is written; what Node throws where it
 *   does not take a status or header.
 */
function passAnswer(
  { limits }: ForwardParts,
  { incoming, response, mask, passed }: Answering,
): void {
  const framing = checkAnswer(incoming, limits);
  if (typeof framing === "string")
    throw refused("upstream_invalid", `the host's answer cannot be forwarded: ${framing}`);
  const kept = endToEnd(incoming.rawHeaders, framing);
  if (framing.kind === "length") kept.push("Content-Length", framing.length);
  const headers = mask === undefined ? kept : mask.headers(kept);
  const given = incoming.statusMessage ?? "";
  const text = mask === undefined ? given : mask.text(given);
  response.sendDate = false;
  response.writeHead(incoming.statusCode ?? 0, STATUS_TEXT.test(text) ? text : "", [...headers]);
  const finish = (): void => {
    const trailers =
      mask === undefined ? incoming.rawTrailers : mask.trailers(incoming.rawTrailers);
    if (framing.kind === "chunked" && response.chunkedEncoding)
      response.addTrailers(trailersOf(trailers));
    response.end();
  };
  // Also where it breaks off: Node makes an error of that.
  incoming.on("error", () => response.destroy());
  const body = mask === undefined ? incoming : incoming.pipe(mask.body());
  pump(body, response, (bytes) => {
    passed.down += bytes;
  });
  body.once("end", finish);
}
