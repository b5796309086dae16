/**
 * A gate inside an HTTP proxy of your own: the proxy keeps its transport, `@acp/core` decides what
 * goes through. An Action holds method and URL; a body passes unread. Offers no tunnels.
 * proxy.test.ts runs it against clients and upstreams that misbehave.
 */
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  request,
  type Server,
  type ServerResponse,
} from "node:http";
import { pipeline } from "node:stream/promises";
import { type ConsentGate, httpAction, type Release } from "@acp/core";
import { type Reach, isPublic, lookupWithin, refuseLiteral } from "./reach.js";

const UPSTREAM_SILENCE_MS = 60_000;
/**
 * Headers of one connection, which end at the proxy (RFC 9110 §7.6.1). Node writes those that it
 * needs anew.
 */
const HOP_BY_HOP =
  /^(?:connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|http2-settings|expect|host)$/;

/**
 * A forward proxy for plain HTTP; every request goes through the gate, and none to an address that
 * `mayReach` refuses.
 */
export function createGatedProxy(
  gate: ConsentGate,
  { mayReach = isPublic }: { readonly mayReach?: Reach } = {},
): Server {
  return createServer((incoming, outgoing) => {
    outgoing.on("error", () => outgoing.destroy());
    judge(gate, { incoming, outgoing, mayReach }).catch((error: unknown) => fail(outgoing, error));
  });
}

interface Exchange {
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
  readonly mayReach: Reach;
}

async function judge(gate: ConsentGate, exchange: Exchange): Promise<void> {
  const { incoming, outgoing, mayReach } = exchange;
  // throws for anything that has no single reading
  const action = httpAction(incoming.method ?? "", incoming.url ?? "");
  refuseLiteral(action.meta.host, mayReach); // before anybody is asked
  const gone = new AbortController();
  outgoing.on("close", () => gone.abort());
  const result = await gate.run(action, (release) => forward(release, exchange), {
    agent: { id: "my-agent" },
    signal: gone.signal,
  });
  if (!result.ran)
    outgoing
      .writeHead(403, { "content-type": "application/json" })
      .end(JSON.stringify(result.verdict));
}

/** Performs what was released: the action's URL, not the request line's. */
async function forward(
  { action, signal }: Release,
  { incoming, outgoing, mayReach }: Exchange,
): Promise<void> {
  if (action.meta.kind !== "http" || action.meta.url === undefined)
    throw new Error("tunnels are not offered");
  const { method, url } = action.meta;
  const headers = { ...endToEnd(incoming.headers), ...framing(incoming.headers) };
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    const upstream = request(url, {
      method,
      headers,
      signal,
      agent: false,
      lookup: lookupWithin(mayReach),
      timeout: UPSTREAM_SILENCE_MS,
    });
    // Stays for the whole exchange: an upstream that breaks off late must end this exchange and
    // nothing else.
    upstream
      .on("response", resolve)
      .on("error", reject)
      .on("close", () => reject(new Error("the upstream sent no answer")));
    upstream.on("timeout", () => upstream.destroy(new Error("the upstream is silent")));
    pipeline(incoming, upstream).catch(reject);
  });
  outgoing.writeHead(answer.statusCode ?? 502, endToEnd(answer.headers)); // trailers end here too
  await pipeline(answer, outgoing); // a body that is cut off ends the client's connection as well
}

function endToEnd(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  const named = new Set(
    (headers.connection ?? "")
      .toLowerCase()
      .split(",")
      .map((name) => name.trim()),
  );
  return Object.fromEntries(
    Object.entries(headers).filter(([name]) => !HOP_BY_HOP.test(name) && !named.has(name)),
  );
}

/** How the body ends, said anew: Node sends the body of a GET without an end unless it is told. */
function framing({ "transfer-encoding": coding }: IncomingHttpHeaders): IncomingHttpHeaders {
  if (coding !== undefined && coding.toLowerCase() !== "chunked")
    throw new Error("an unknown transfer coding");
  return coding === undefined ? {} : { "transfer-encoding": "chunked" };
}

function fail(outgoing: ServerResponse, error: unknown): void {
  if (outgoing.headersSent) outgoing.destroy();
  else
    outgoing
      .writeHead(502, { "content-type": "text/plain" })
      .end(error instanceof Error ? error.message : "it could not be sent");
}
