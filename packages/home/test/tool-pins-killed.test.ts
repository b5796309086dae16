/**
 * A process that is killed before and after each change of the file system while it pins: what is
 * there is the old pins or the new ones, and the next process goes on.
 */
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { fileToolPins, homePaths } from "../src/index.js";
import type { ServerPins } from "../src/index.js";
import { scratchDirectory } from "./support.js";

const KILL = fileURLToPath(new URL("../../cli/test/kill-at.mjs", import.meta.url));
const HOME = fileURLToPath(new URL("../dist/index.js", import.meta.url));
const hash = (digit: string): string => `sha256:${digit.repeat(64)}`;
const BEFORE: ServerPins = {
  id: hash("1"),
  server: "files",
  pins: [{ kind: "tool", name: "a", pin: hash("2"), atMs: 1, by: "first" }],
};
const AFTER: ServerPins = {
  ...BEFORE,
  pins: [
    { kind: "tool", name: "a", pin: hash("2"), atMs: 1, by: "first", found: hash("4") },
    { kind: "prompt", name: "b", pin: hash("3"), atMs: 2, by: "first" },
  ],
};

const PROGRAM = `
  const { fileToolPins, homePaths } = await import(${JSON.stringify(HOME)});
  const [dir, next] = process.argv.slice(1);
  const pins = fileToolPins(homePaths(dir));
  await pins.change(() => ({ next: [JSON.parse(next)], answer: undefined }));
  await pins.keepTexts(JSON.parse(next).id, ['{"a":1}', '{"b":2}'], new Set());
`;

function pin(dir: string, at: number): { readonly isKilled: boolean; readonly calls: number } {
  const words = [
    "--import",
    KILL,
    "--input-type=module",
    "-e",
    PROGRAM,
    dir,
    JSON.stringify(AFTER),
  ];
  const { signal, status, stderr } = spawnSync(process.execPath, words, {
    env: { PATH: process.env["PATH"], ACP_TEST_KILL_AT: String(at), ACP_TEST_CALLS: "1" },
    encoding: "utf8",
  });
  if (signal === null && status !== 0) throw new Error(stderr);
  return {
    isKilled: signal === "SIGKILL",
    calls: Number(/^calls (\d+)$/m.exec(stderr)?.[1] ?? "0"),
  };
}

it("leaves the old pins or the new ones, wherever it is killed", async () => {
  const counted = pin((await started()).dir, 0);
  expect(counted.calls).toBeGreaterThan(3);
  let killed = 0;
  for (let at = 2; at <= counted.calls * 2 + 1; at++) {
    const home = await started();
    if (pin(home.dir, at).isKilled) killed++;
    const [found] = await fileToolPins(home).read();
    expect([BEFORE, AFTER]).toContainEqual(found);
    expect(pin(home.dir, 0).isKilled).toBe(false);
    expect(await fileToolPins(home).read()).toEqual([AFTER]);
    const texts = await fileToolPins(home).texts(AFTER.id);
    expect([...texts.values()]).toEqual(expect.arrayContaining(['{"a":1}', '{"b":2}']));
  }
  expect(killed).toBe(counted.calls * 2);
});

async function started(): Promise<ReturnType<typeof homePaths>> {
  const home = homePaths(await scratchDirectory());
  await fileToolPins(home).change(() => ({ next: [BEFORE], answer: undefined }));
  return home;
}
