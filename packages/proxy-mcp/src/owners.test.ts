import { describe, expect, it } from "vitest";
import { systemClock } from "@acp/core";
import type { ManyState } from "./many-state.js";
import { ownerOfRequest } from "./owners.js";
import type { Peer } from "./peer.js";
import { createRoutes } from "./routes.js";

const request = {
  kind: "request",
  id: 1,
  method: "resources/read",
  params: { uri: "x://a" },
  line: Buffer.from(""),
} as const;

/** Lists one URI once `ready` is there. */
function peerOf(name: string, ready: Promise<void>, padding = ""): Peer {
  const result = { resources: [{ uri: "x://a", padding }] };
  const line = Buffer.from(JSON.stringify({ jsonrpc: "2.0", id: 1, result }));
  return {
    name,
    capabilities: { resources: {} },
    failure: undefined,
    ask: () => ({ id: 1, answer: ready.then(() => line) }),
    abandon() {},
    presented: { take: (_: string, each: Buffer) => each },
  } as unknown as Peer;
}

const stateOf = (...peers: readonly Peer[]): ManyState =>
  ({
    peers,
    parts: { clock: systemClock },
    routes: createRoutes<Peer>(() => {}),
    listed: new Map(),
  }) as unknown as ManyState;

describe("ownerOfRequest()", () => {
  it("gives a URI to the server that is configured first, whichever lists it first", async () => {
    let open: () => void = () => {};
    const slow = new Promise<void>((resolve) => (open = resolve));
    const peers = [peerOf("slow", slow), peerOf("fast", Promise.resolve())];
    const target = ownerOfRequest(stateOf(...peers), request);
    await new Promise(setImmediate);
    open();
    expect(await target).toEqual({ peer: peers[0] });
  });

  it("holds only so many bytes of a server's own lists", async () => {
    const at = Promise.resolve();
    const peers = [peerOf("large", at, "x".repeat(16 * 1024 * 1024)), peerOf("small", at)];
    expect(await ownerOfRequest(stateOf(...peers), request)).toEqual({ peer: peers[1] });
  });
});
