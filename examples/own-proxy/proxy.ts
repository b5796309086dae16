/**
 * A gate inside an HTTP proxy of one's own: the proxy keeps its transport, @acp/core decides what goes through.
 * The lines that matter are `judge`; proxy.test.ts runs them. An Action holds method and URL: a body goes through unread.
 */
import { createServer, request } from "node:http";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { pipeline } from "node:stream/promises";
import { httpAction } from "@acp/core";
import type { ConsentGate, Release } from "@acp/core";

/** A forward proxy for plain HTTP; every request goes through the gate. */
export function createGatedProxy(gate: ConsentGate): Server {
  return createServer((incoming, outgoing) => {
    judge(gate, incoming, outgoing).catch(() => outgoing.writeHead(502).end());
  });
}

async function judge(gate: ConsentGate, incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  const action = httpAction(incoming.method ?? "", incoming.url ?? ""); // throws for anything that has no single reading: 502
  const gone = new AbortController();
  outgoing.on("close", () => gone.abort());
  const result = await gate.run(action, (release) => forward(release, incoming, outgoing), {
    agent: { id: "my-agent" },
    signal: gone.signal,
  });
  if (!result.ran) outgoing.writeHead(403, { "content-type": "application/json" }).end(JSON.stringify(result.verdict));
}

/** Performs what was released: the action's URL, not the request line's. */
function forward({ action, signal }: Release, incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  if (action.meta.kind !== "http" || action.meta.url === undefined) return Promise.reject(new Error("tunnels are not offered"));
  const { url, method } = action.meta;
  return new Promise((resolve, reject) => {
    const upstream = request(url, { method, headers: { ...incoming.headers, host: new URL(url).host }, signal }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      pipeline(answer, outgoing).then(resolve, reject);
    });
    pipeline(incoming, upstream).catch(reject);
  });
}
