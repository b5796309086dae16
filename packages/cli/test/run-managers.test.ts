/**
 * Some attempts of the manager kit against `acp run`, one of each class: what an agent prepares so
 * that the manager, its next start or the person does its work outside. run-managers-all.test.ts
 * makes them all, first against a manager that trusts everything: what does not succeed there is no
 * attempt.
 */
import { formatManagerReport, managerAttempts, MANAGER_CLASSES } from "@acp/testing";
import { expect, it } from "vitest";
import { NEEDS, openManagerWorlds, PLAIN_USER, TIMEOUT_MS } from "./manager-worlds.js";

const SOME: readonly string[] = MANAGER_CLASSES.flatMap((name) =>
  managerAttempts.filter((attempt) => attempt.class === name).slice(0, 1),
).map(({ id }) => id);

it(
  "managerAttempts do nothing of what acp run claims to hold",
  async ({ skip }) => {
    const { run, reason } = NEEDS.plain();
    if (!run) skip(reason);
    await using worlds = await openManagerWorlds();
    const report = await worlds.run({
      manager: "namespace",
      uid: PLAIN_USER,
      only: SOME,
      races: 2,
    });
    process.stdout.write(`\n${formatManagerReport(report)}\n`);
    expect(report.results.map(({ id }) => id).toSorted()).toEqual(SOME.toSorted());
    expect(report.brokenPromises.map(({ id, detail }) => `${id}: ${detail}`)).toEqual([]);
    expect(report.claims.length).toBeGreaterThan(4);
  },
  TIMEOUT_MS,
);
