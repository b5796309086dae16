import { createServer, connect, type Socket } from "node:net";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { createBudgets } from "./budgets.js";
import { attendControl } from "./control.js";
import { createDoors } from "./doors.js";
import { createPeers } from "./peers.js";
import { attendSession } from "./session.js";
import type { SessionParts } from "./session.js";
import { PROTOCOLS, frameOf } from "./wire.js";

const nobody = new Error("it asked for more than it may");
const no = (): never => {
  throw nobody;
};
const notOurs = { admits: () => Promise.resolve(false) };

it("asks the kernel once there is a helper, and says why where there is none", async () => {
  const said: string[] = [];
  // What is asked here is not read.
  const socket = undefined as unknown as Socket;
  const none = createPeers(
    1000,
    (text) => said.push(text),
    () => Promise.resolve({ isAvailable: false, reason: "there is no compiler" }),
  );
  const failing = createPeers(
    1000,
    (text) => said.push(text),
    () => Promise.reject(nobody),
  );
  const some = createPeers(1000, no, () =>
    Promise.resolve({ isAvailable: true, uidOf: () => Promise.resolve(0) }),
  );
  const unknown = createPeers(1000, no, () =>
    Promise.resolve({ isAvailable: true, uidOf: () => Promise.resolve(undefined) }),
  );
  const broken = createPeers(0, no, () =>
    Promise.resolve({ isAvailable: true, uidOf: () => Promise.reject(nobody) }),
  );
  const ours = createPeers(0, no, () =>
    Promise.resolve({ isAvailable: true, uidOf: () => Promise.resolve(0) }),
  );
  await expect.poll(() => said).toHaveLength(2);
  const checked = [none, failing, some, unknown, broken, ours].map((each) => each.isChecked());
  expect(checked).toEqual([false, false, true, true, true, true]);
  expect(await none.admits(socket)).toBe(true);
  expect(await some.admits(socket)).toBe(false);
  expect(await unknown.admits(socket)).toBe(false);
  expect(await broken.admits(socket)).toBe(false);
  expect(await ours.admits(socket)).toBe(true);
});

const HELLO = {
  protocol: PROTOCOLS,
  version: "1.0.0",
  build: "b",
  pid: 2,
  ppid: 2,
  cwd: "/",
  argv: ["mcp", "--home", "/home/x", "--", "true"],
  env: {},
  userHome: "/home/x",
  umask: 0o22,
};

it.each([
  [
    "an agent's",
    (socket: Socket, budgets: SessionParts["budgets"]) =>
      void attendSession(socket, {
        homeDir: "/home/x",
        greeting: () => frameOf("greeting", "{}"),
        gates: undefined as never,
        commands: [],
        budgets,
        doors: createDoors(),
        peers: notOurs,
        isUnlocked: no,
      }),
    frameOf("hello", JSON.stringify(HELLO)),
  ],
  [
    "a person's",
    (socket: Socket) =>
      attendControl(socket, {
        greeting: () => frameOf("greeting", "{}"),
        peers: notOurs,
        // What it would hear.
        status: () => ({ pid: 1 }) as never,
        stop: () => undefined,
        unlock: no,
        lock: no,
        restartServers: no,
        giveWay: no,
      }),
    frameOf("ask", JSON.stringify({ ask: "stop" })),
  ],
] as const)(
  "ends %s connection of another user, and keeps nothing for it",
  async (_, attend, said) => {
    const folder = await mkdtemp("/tmp/acp-peers-");
    const budgets = createBudgets();
    let opened = 0;
    let ended = 0;
    const counted: SessionParts["budgets"] = {
      ...budgets,
      open(client) {
        opened++;
        const share = budgets.open(client);
        if (typeof share === "string") return share;
        return { ...share, [Symbol.dispose]: () => (ended++, share[Symbol.dispose]()) };
      },
    };
    const server = createServer((socket) => void attend(socket, counted));
    await once(server.listen(join(folder, "s")), "listening");
    const client = connect(join(folder, "s"));
    const heard: Buffer[] = [];
    client.on("data", (chunk: Buffer) => heard.push(chunk));
    client.write(said);
    await once(client, "close");
    expect(Buffer.concat(heard)).toEqual(frameOf("greeting", "{}"));
    expect(ended).toBe(opened);
    expect(opened).toBe(attend.length - 1);
    server.close();
    await rm(folder, { recursive: true });
  },
);
