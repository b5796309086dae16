/**
 * Processes that ask and are killed at random moments: every question that was acknowledged is
 * there for the next one.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { expect, it } from "vitest";
import { bundled } from "../../../tools/bundled.js";
import { openPendingFiles } from "../src/pending-directory.js";
import { scratchDirectory } from "./support.js";

const KILLS = Number(process.env["ACP_KILLS"] ?? 8);
const ASKER = await bundled(new URL("asker.ts", import.meta.url));

/** The acknowledged version of each id, as far as whole lines arrived. */
async function askAndKill(directory: string, round: number): Promise<ReadonlyMap<string, number>> {
  const child = spawn(process.execPath, [ASKER, directory, String(round)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let text = "";
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
  const ended = once(child, "close");
  await Promise.race([once(child.stdout, "data"), ended]);
  await wait(Math.random() * 40);
  child.kill("SIGKILL");
  await ended;
  const lines = text.split("\n").slice(0, -1);
  return new Map(lines.map((line) => [line.split(" ")[0] ?? "", Number(line.split(" ")[1])]));
}

it(`openPendingFiles() loses nothing acknowledged in ${KILLS} kills`, async () => {
  const directory = join(await scratchDirectory(), "pending");
  const acknowledged = new Map<string, number>();
  for (let round = 0; round < KILLS; round++) {
    for (const [id, version] of await askAndKill(directory, round)) acknowledged.set(id, version);
  }
  await using store = await openPendingFiles(directory);
  for (const [id, version] of acknowledged)
    expect((await store.get(id))?.version ?? `${id} is lost`).toBeGreaterThanOrEqual(version);
  expect(store.leftOpen.size).toBeGreaterThanOrEqual(acknowledged.size);
  expect(acknowledged.size).toBeGreaterThan(KILLS);
});
