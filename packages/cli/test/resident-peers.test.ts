/**
 * Another user, where the folder of the sockets lets them in all the same: the kernel says who
 * connected, and nobody but the home's own user is heard.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, readdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { hostNeed } from "@acp/testing";
import { expect, it } from "vitest";
import { frameOf } from "../src/resident/wire.js";
import { residentWorld, textOf } from "./resident-world.js";

const root = hostNeed("root", () => (process.getuid?.() === 0 ? undefined : "not root"));
const OTHER = 61_042;

/** Says it, and prints what comes back until the other side ends the connection. */
const PROGRAM = `
const [path, said] = process.argv.slice(1);
const socket = require("node:net").connect(path);
socket.on("data", (data) => process.stdout.write(data));
socket.write(Buffer.from(said, "base64"));
`;

async function heardBy(uid: number, path: string, said: Buffer | string): Promise<string> {
  const words = ["-e", PROGRAM, path, Buffer.from(said).toString("base64")];
  const child = spawn(process.execPath, words, {
    uid,
    gid: uid,
    env: {},
    cwd: "/",
    stdio: ["ignore", "pipe", "ignore"],
  });
  let heard = "";
  child.stdout.on("data", (chunk: Buffer) => (heard += chunk.toString("latin1")));
  await once(child, "close");
  return heard;
}

it.skipIf(!root.run)(`hears nobody of another user ${root.reason}`, async () => {
  await using at = await residentWorld();
  await using client = await at.client();
  await expect
    .poll(async () => (await at.acp(["resident", "status"])).stdout)
    .toContain("The user of each connecting process is checked");
  const run = join(at.home, "run");
  for (const folder of [dirname(at.home), at.home, run]) await chmod(folder, 0o755);
  const approvers = (await readdir(run)).find((name) => /^\d+\.sock$/.test(name)) ?? "";
  for (const name of ["agents", "control", approvers]) await chmod(join(run, name), 0o666);
  const hello = {
    protocol: [1, 2],
    build: "b",
    argv: ["mcp", "--home", at.home, "--", "/bin/cat"],
    cwd: "/",
    env: {},
    userHome: "/",
    pid: 2,
    ppid: 2,
    umask: 0,
  };
  const agents = frameOf("hello", JSON.stringify(hello));
  const control = frameOf("ask", JSON.stringify({ ask: "status" }));
  const asked = '{"type":"hello","protocol":"acp-approve","version":1,"role":"approver"}\n';
  expect(await heardBy(OTHER, join(run, "agents"), agents)).not.toContain("ready");
  expect(await heardBy(OTHER, join(run, "control"), control)).not.toContain("uptime_seconds");
  expect(await heardBy(OTHER, join(run, approvers), asked)).toBe("");
  // The same words of this user are heard, so that it is the user who is refused.
  expect(await heardBy(0, join(run, "control"), control)).toContain("uptime_seconds");
  for (const folder of [run, at.home]) await chmod(folder, 0o700);
  expect(textOf(await client.call("act", { n: 1 }))).toBe("1");
});
