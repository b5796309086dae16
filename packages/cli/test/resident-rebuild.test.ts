/**
 * A resident of a home with much log and no index: nothing is allowed before the index is whole, what
 * a rule denies is denied, and it goes on where a killed one came to.
 */
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { openAuditLog } from "@acp/audit";
import { homePaths } from "@acp/home";
import { expect, it, vi } from "vitest";
import { lagOf, readIndexLag } from "../src/logs/index-rebuild.js";
import { acp } from "./harness.js";
import { residentWorld, textOf } from "./resident-world.js";
import type { ResidentWorld } from "./resident-world.js";
import { sampleEvent } from "./sample-event.js";

/** Several seconds of work for whoever makes its index. */
const EVENTS = 700;
const EVENT_BYTES = 200_000;

async function worldWithoutIndex(): Promise<ResidentWorld> {
  const at = await residentWorld();
  expect(await acp(["init", "--home", at.home])).toMatchObject({ code: 0 });
  const path = join(at.home, "audit.jsonl");
  {
    await using log = await openAuditLog({ path });
    const text = "x".repeat(EVENT_BYTES);
    for (let number = 0; number < EVENTS; number += 10)
      await log.append(
        Array.from({ length: 10 }, (_, more) =>
          sampleEvent(`ae_${number + more}`, { metadata: { text } }),
        ),
      );
  }
  await rm(`${path}.index`, { force: true });
  return at;
}

it("answers index_rebuilding, denies what a rule denies, and allows once the index is whole, over a kill", async () => {
  await using at = await worldWithoutIndex();
  await using client = at.start();
  // At once, so that all of it is there before the index can be.
  const asked = client.ask("initialize", { protocolVersion: "2025-06-18" });
  client.send({ method: "notifications/initialized" });
  const [act, ask, drop] = ["act", "ask", "drop"].map((name) => client.call(name, { n: 1 }));
  expect(JSON.stringify(await asked)).toContain("is being rebuilt");
  const refused = { error: { data: { code: "index_rebuilding", retryable: true } } };
  expect(await act).toMatchObject(refused);
  expect(await ask).toMatchObject(refused);
  expect(JSON.stringify(await drop)).toContain('"code":"policy_denied"');
  expect(at.done()).toEqual([]);

  process.kill(at.pid(), "SIGKILL");
  let denied = 0;
  const callAgain = async (): Promise<void> => {
    const answer = await client.call("act", { n: 2 });
    if (JSON.stringify(answer).includes("index_rebuilding")) denied += 1;
    expect(textOf(answer)).toBe("2");
  };
  await vi.waitFor(callAgain, { timeout: 120_000, interval: 500 });
  expect(at.done()).toEqual(["2"]);
  expect(await at.logs()).toEqual(["audit.jsonl"]);
  expect(lagOf(await readIndexLag(homePaths(at.home)))).toBeLessThan(1_000_000);
  // Those that the killed one denied are lost.
  const said = (await readFile(join(at.home, "audit.jsonl"), "latin1")).slice(-100_000);
  if (denied > 0)
    expect(said).toMatch(
      new RegExp(`"notice":"denied_while_rebuilding",.*calls were denied from .* ${denied}`),
    );
  const status = JSON.parse((await at.acp(["resident", "status", "--json"])).stdout);
  expect(status.index_percent).toBeNull();
  for (const answers of client.answers.values()) expect(answers).toHaveLength(1);
});
