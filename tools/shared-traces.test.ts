import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { expect, it } from "vitest";
import { leftBehind, traces } from "./shared-traces.js";

const here = process.cwd();
const note = (): void => undefined;

it.each<readonly [string, () => void, () => void]>([
  ["the working directory", () => process.chdir(tmpdir()), () => process.chdir(here)],
  ["process.env", () => (process.env["ACP_TRACE"] = "1"), () => delete process.env["ACP_TRACE"]],
  [
    "globals",
    () => Object.assign(globalThis, { acpTrace: 1 }),
    () => Reflect.deleteProperty(globalThis, "acpTrace"),
  ],
  ["a listener of warning", () => process.on("warning", note), () => process.off("warning", note)],
])("leftBehind() names what changed: %s", (what, change, back) => {
  const before = traces();
  change();
  expect(leftBehind(before)).toEqual([what]);
  back();
  expect(leftBehind(before)).toEqual([]);
});

it("leftBehind() names what is still open", async () => {
  const before = traces();
  const server = createServer();
  await once(server.listen(0, "127.0.0.1"), "listening");
  const child = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], { stdio: "ignore" });
  expect(leftBehind(before)).toEqual(["an open ProcessWrap", "an open TCPServerWrap"]);
  const gone = Promise.all([once(server.close(), "close"), once(child, "exit")]);
  child.kill("SIGKILL");
  await gone;
  await expect.poll(() => leftBehind(before)).toEqual([]);
});
