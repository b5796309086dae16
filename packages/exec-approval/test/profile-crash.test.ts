/**
 * Processes that keep patterns in the same profile and are killed at random moments: nothing that
 * was kept is lost, and the file is always whole.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { expect, it } from "vitest";
import { bundled } from "../../../tools/bundled.js";
import { openExecProfile } from "../src/profile-config.js";
import { scratchDirectory } from "./desk.js";

const KILLS = Number(process.env["ACP_KILLS"] ?? 4);
const ALLOWER = await bundled(new URL("allower.ts", import.meta.url));

/**
 * Lets a process keep patterns, and kills it; what it said was kept, as far as whole lines arrived.
 */
async function allowAndKill(home: string, prefix: string): Promise<readonly string[]> {
  const child = spawn(process.execPath, [ALLOWER, home, prefix], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let text = "";
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
  const ended = once(child, "close");
  await Promise.race([once(child.stdout, "data"), ended]);
  await wait(Math.random() * 60);
  child.kill("SIGKILL");
  await ended;
  return text.split("\n").slice(0, -1);
}

it(`allow() loses nothing kept in ${KILLS} kills of two processes`, async () => {
  const home = await scratchDirectory();
  const directory = join(home, "agent-profiles", "default");
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const path = join(directory, "config.json");
  await writeFile(
    path,
    JSON.stringify({ other: { key: [1, 2, 3] }, execApproval: { ask: "always" } }),
    { mode: 0o600 },
  );
  const kept: string[] = [];
  for (let round = 0; round < KILLS; round++) {
    const said = await Promise.all([
      allowAndKill(home, `a${round}`),
      allowAndKill(home, `b${round}`),
    ]);
    kept.push(...said.flat());
    const { allowlist, ask } = openExecProfile({ home, profileId: "default" }).read();
    const patterns = new Set(allowlist.entries.map(({ pattern }) => pattern));
    expect(kept.filter((pattern) => !patterns.has(pattern))).toEqual([]);
    expect(ask).toBe("always");
    expect(JSON.parse(await readFile(path, "utf8"))).toMatchObject({ other: { key: [1, 2, 3] } });
  }
  expect(kept.length).toBeGreaterThan(KILLS);
});
