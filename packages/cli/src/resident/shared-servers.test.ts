/** The shared servers of a resident: each is one process, however many there are. */
import { createMasker, Secret } from "@acp/core/vault";
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

it("masks a process with the vault of the client that started it, not of the first one", async () => {
  const told: string[] = [];
  let tell: () => void = () => {};
  const heard = new Promise<void>((resolve) => (tell = resolve));
  const invocation = {
    io: { env: { PATH: "/usr/bin:/bin" }, userHome: "/" },
    print: { notice: (text: string) => (told.push(text), tell()) },
  };
  await using sharing = createSharedServers(invocation as never, {
    servers: { note: () => {} } as never,
    version: "0",
  });
  const command = ["/bin/sh", "-c", "echo value-of-B >&2; cat"];
  const db = { name: "db", command, shared: true } as never;
  const masker = (name: string) => () =>
    createMasker([new Secret({ name, value: `value-of-${name}` })]);
  sharing.of(db, masker("A"));
  const upstream = sharing.of(db, masker("B"));
  if (!("start" in upstream)) throw new Error("it is started by its caller");
  const client = await upstream.start();
  client.stdin.write(`${GREET}\n`);
  await heard;
  expect(told[0]).toBe("[db] [secret B]");
});
