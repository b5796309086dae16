import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { connect, createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";
import { hostNeed } from "@acp/testing";
import { afterEach, beforeEach, expect, it } from "vitest";
import { unixPeers } from "./unix-peer.js";
import type { UnixPeers } from "./unix-peer.js";

const own = process.getuid?.() ?? -1;
const root = hostNeed("root", () => (own === 0 ? undefined : "not root"));

let directory: string;
let server: Server;
let path: string;
beforeEach(async () => {
  directory = await mkdtemp("/tmp/acp-peer-");
  path = join(directory, "s");
  server = createServer();
  await once(server.listen(path), "listening");
});
afterEach(async () => {
  server.close();
  await rm(directory, { recursive: true });
});

async function peers(): Promise<UnixPeers> {
  const found = await unixPeers();
  if (!found.isAvailable) throw new Error(found.reason);
  return found;
}

async function accepted(): Promise<Socket> {
  // what a server of node:net emits
  const [socket] = (await once(server, "connection")) as [Socket];
  return socket.on("error", () => undefined);
}

it("is the user who connected, and the connection goes on", async () => {
  const { uidOf } = await peers();
  const connection = accepted();
  const client = connect(path);
  const socket = await connection;
  expect(await uidOf(socket)).toBe(own);
  client.write("hello");
  const [heard] = (await once(socket, "data")) as [Buffer];
  expect(heard.toString("utf8")).toBe("hello");
  socket.end("and back");
  const [answer] = (await once(client, "data")) as [Buffer];
  expect(answer.toString("utf8")).toBe("and back");
  client.destroy();
});

it.skipIf(!root.run)(`is another user, who may connect ${root.reason}`, async () => {
  const { uidOf } = await peers();
  await chmod(directory, 0o755);
  await chmod(path, 0o777);
  const connection = accepted();
  const program = `require("node:net").connect(${JSON.stringify(path)})`;
  const other = spawn(process.execPath, ["-e", program], {
    uid: 61_042,
    gid: 61_042,
    env: {},
    cwd: "/",
    stdio: "ignore",
  });
  const socket = await connection;
  expect(await uidOf(socket)).toBe(61_042);
  socket.destroy();
  await once(other, "exit");
});

it("is nobody once the connection is closed", async () => {
  const { uidOf } = await peers();
  const connection = accepted();
  const client = connect(path);
  const socket = await connection;
  socket.destroy();
  expect(await uidOf(socket)).toBeUndefined();
  client.destroy();
});

it("says what is missing where there is no compiler", async () => {
  const found = await unixPeers({ directory: join(directory, "empty"), compiler: "no-such-cc" });
  expect(found).toMatchObject({ isAvailable: false, fix: expect.stringContaining("C compiler") });
});
