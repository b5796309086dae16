/** The shared servers of a resident: each is one process, however many there are. */
import { expect, it, onTestFinished } from "vitest";
import type { CommandServer } from "@acp/home";
import type { LocalUpstream } from "@acp/proxy-mcp";
import type { Invocation } from "../command.js";
import { createSharedServers } from "./shared-servers.js";
import type { SharedServers } from "./shared-servers.js";

const GREETING = JSON.stringify({
  jsonrpc: "2.0",
  id: "acp-shared-initialize",
  result: { protocolVersion: "2025-11-25", capabilities: {}, serverInfo: {} },
});
const server = (name: string): CommandServer => ({
  name,
  command: ["/bin/sh", "-c", 'read line; printf "%s\\n" "$0"; cat >/dev/null', GREETING],
  shared: true,
});

const GREET = JSON.stringify({
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-11-25" },
});

/** Starts a client's part, and resolves when it is greeted. */
async function greeted(upstream: LocalUpstream): Promise<void> {
  if (!("start" in upstream)) throw new Error("it is another kind of server");
  const process = await upstream.start();
  const answer = new Promise((resolve) => process.stdout.once("data", resolve));
  process.stdin.write(`${GREET}\n`);
  await answer;
}

/** None runs yet. */
function world(): { readonly all: SharedServers; starts(): number } {
  let starts = 0;
  const invocation = {
    io: { env: { PATH: process.env["PATH"] }, userHome: "/" },
    print: { notice: () => {} },
  } as unknown as Invocation;
  const note = (): (() => void) => {
    starts++;
    return () => {};
  };
  const all = createSharedServers(invocation, { servers: { note }, version: "0" });
  onTestFinished(() => all[Symbol.asyncDispose]());
  return { all, starts: () => starts };
}

it("two of them are one process each for two clients, which a restart and the end reach", async () => {
  const { all, starts } = world();
  const client = (): readonly LocalUpstream[] =>
    [server("x"), server("y")].map((each) => all.of(each, undefined));
  const [first, second] = [client(), client()];
  await Promise.all(first.map(greeted));
  expect([...all.running()].sort()).toEqual(["x", "y"]);
  await Promise.all(second.map(greeted));
  expect(starts()).toBe(2);
  await all[Symbol.asyncDispose]();
  expect(all.running()).toEqual([]);
});

it("one whose configuration was another is let go once nobody is connected to it", async () => {
  const { all, starts } = world();
  const before = all.of(server("x"), undefined);
  // Evicts it; the client of before starts it all the same, and it is known then.
  all.of({ ...server("x"), cwd: "/" }, undefined);
  await greeted(before);
  await greeted(all.of(server("x"), undefined));
  expect(all.running()).toEqual(["x"]);
  expect(starts()).toBe(1);
});
