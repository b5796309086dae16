import { describe, expect, it } from "vitest";
import { systemClock } from "@acp/core";
import type { Clock } from "@acp/core";
import { manualClock } from "@acp/testing";
import type { ManyState } from "./many-state.js";
import { listsChanged, ownerOfRequest } from "./owners.js";
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

const stateOf = (...peers: readonly Peer[]): ManyState => stateAt(systemClock, peers);

const stateAt = (clock: Clock, peers: readonly Peer[]): ManyState =>
  ({
    peers,
    parts: { clock },
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

  it("waits ten seconds for a server's lists, and not again within a minute", async () => {
    const clock = manualClock();
    let asked = 0;
    const slow = {
      ...peerOf("slow", Promise.resolve()),
      ask() {
        const result = { resources: [], nextCursor: String(++asked) };
        const line = Buffer.from(JSON.stringify({ jsonrpc: "2.0", id: 1, result }));
        const stop = new AbortController();
        const { signal } = stop;
        return { id: 1, answer: clock.sleep(4_900, { signal }).then(() => line) };
      },
    };
    const state = stateAt(clock, [slow]);
    let found: unknown;
    const look = (): void => void ownerOfRequest(state, request).then((each) => (found = each));
    look();
    await clock.advance(10_000);
    expect([asked, found]).toEqual([3, { error: expect.anything() }]);
    listsChanged(state, slow);
    found = undefined;
    look();
    await clock.advance(0);
    expect([asked, found]).toEqual([3, { error: expect.anything() }]);
    await clock.advance(60_000);
    look();
    expect(asked).toBe(4);
  });

  it("looks at once at quick lists that changed", async () => {
    let asked = 0;
    const quick = peerOf("quick", Promise.resolve());
    const { ask } = quick;
    const counted = { ...quick, ask: (...all: Parameters<Peer["ask"]>) => (asked++, ask(...all)) };
    const state = stateAt(manualClock(), [counted]);
    const other = { ...request, params: { uri: "x://b" } };
    for (const times of [2, 2, 4]) {
      if (times === 4) listsChanged(state, counted);
      await ownerOfRequest(state, other);
      expect(asked).toBe(times);
    }
  });
});
