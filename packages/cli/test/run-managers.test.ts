/**
 * Some attempts of the manager kit against `acp run`, a few of each class: what an agent prepares so
 * that the manager, its next start or the person does its work outside. First against a manager
 * that trusts everything: what does not succeed there is no attempt. run-managers-all.test.ts makes
 * them all.
 */
import { formatManagerReport, managerAttempts, MANAGER_CLASSES } from "@acp/testing";
import type { ManagerReport } from "@acp/testing";
import { afterAll, describe, expect, it } from "vitest";
import { someInLane } from "../../../tools/deep.js";
import { NEEDS, openManagerWorlds, PLAIN_USER, TIMEOUT_MS } from "./manager-worlds.js";
import type { ManagerWorld, ManagerWorlds } from "./manager-worlds.js";

const SOME: readonly string[] = MANAGER_CLASSES.flatMap((name) =>
  someInLane(managerAttempts.filter((attempt) => attempt.class === name)),
).map(({ id }) => id);
let opened: Promise<ManagerWorlds> | undefined;
afterAll(async () => (await opened)?.[Symbol.asyncDispose]());

async function put(world: Pick<ManagerWorld, "manager" | "races">): Promise<ManagerReport> {
  const worlds = await (opened ??= openManagerWorlds());
  const report = await worlds.run({ uid: PLAIN_USER, only: SOME, ...world });
  process.stdout.write(`\n${formatManagerReport(report)}\n`);
  return report;
}

const withDetail = (results: ManagerReport["results"]): readonly string[] =>
  results.map(({ id, detail }) => `${id}: ${detail}`);

describe("managerAttempts", () => {
  it(
    "succeed against a manager that trusts what it finds",
    async ({ skip }) => {
      const { run, reason } = NEEDS.plain();
      if (!run) skip(reason);
      const { results } = await put({ manager: "careless", races: 20 });
      expect(results.map(({ id }) => id).toSorted()).toEqual(SOME.toSorted());
      expect(withDetail(results.filter(({ outcome }) => outcome === "blocked"))).toEqual([]);
    },
    TIMEOUT_MS,
  );

  it(
    "do nothing of what acp run claims to hold",
    async ({ skip }) => {
      const { run, reason } = NEEDS.plain();
      if (!run) skip(reason);
      const { brokenPromises, claims } = await put({ manager: "namespace", races: 2 });
      expect(withDetail(brokenPromises)).toEqual([]);
      expect(claims.length).toBeGreaterThan(4);
    },
    TIMEOUT_MS,
  );
});
