/**
 * The manager kit against `acp run`: what an agent prepares so that the manager, its next start or
 * the person does its work outside. First against a manager that trusts everything: what does not
 * succeed there is no attempt.
 */
import { formatManagerReport } from "@acp/testing";
import type { ManagerReport } from "@acp/testing";
import { afterAll, describe, expect, it } from "vitest";
import { isDeep } from "../../../tools/deep.js";
import { NEEDS, openManagerWorlds, PLAIN_USER, TIMEOUT_MS } from "./manager-worlds.js";
import type { ManagerWorld, ManagerWorlds } from "./manager-worlds.js";

const SLOW = "it takes minutes: npm run test:deep";
let opened: Promise<ManagerWorlds> | undefined;
afterAll(async () => (await opened)?.[Symbol.asyncDispose]());

async function put(world: ManagerWorld): Promise<ManagerReport> {
  const report = await (await (opened ??= openManagerWorlds())).run(world);
  process.stdout.write(`\n${formatManagerReport(report)}\n`);
  return report;
}

const withDetail = (results: ManagerReport["results"]): readonly string[] =>
  results.map(({ id, detail }) => `${id}: ${detail}`);

describe("managerAttempts", () => {
  it(
    "succeed against a manager that trusts what it finds",
    async ({ skip }) => {
      if (!isDeep && process.getuid?.() !== 0) skip(SLOW); // as root it runs as this user, too
      const { run, reason } = NEEDS.plain();
      if (!run) skip(reason);
      const { results } = await put({ manager: "careless", uid: PLAIN_USER, races: 20 });
      expect(withDetail(results.filter(({ outcome }) => outcome === "blocked"))).toEqual([]);
      expect(
        results.filter(({ outcome }) => outcome === "escaped" || outcome === "told").length,
      ).toBeGreaterThanOrEqual(140);
    },
    TIMEOUT_MS,
  );

  it(
    "show what a line of bubblewrap leaves to whoever starts it",
    async ({ skip }) => {
      if (!isDeep) skip(SLOW);
      const { run, reason } = NEEDS.plain();
      if (!run) skip(reason);
      const { results } = await put({ manager: "bwrap", uid: PLAIN_USER, races: 2 });
      const escaped = new Set(
        results.filter(({ outcome }) => outcome === "escaped").map((result) => result.class),
      );
      expect([...escaped]).toEqual(expect.arrayContaining(["path", "persistence", "terminal"]));
    },
    TIMEOUT_MS,
  );
});

describe.each([
  { manager: "namespace", uid: PLAIN_USER, need: NEEDS.plain, isQuick: true },
  { manager: "namespace", uid: 0, need: NEEDS.root, isQuick: false },
  { manager: "uid", uid: 0, need: NEEDS.root, isQuick: false },
  { manager: "landlock", uid: PLAIN_USER, need: NEEDS.root, isQuick: false },
  { manager: "landlock", uid: 0, need: NEEDS.root, isQuick: false },
])("acp run --sandbox $manager, as uid $uid", ({ manager, uid, need, isQuick }) => {
  it(
    "lets nothing of what it claims be done for an agent, twice in a row where there is time",
    async ({ skip }) => {
      if (!isQuick && !isDeep) skip(SLOW);
      const { run, reason } = need();
      if (!run) skip(reason);
      for (const races of isDeep ? [40, 40] : [2]) {
        const report = await put({ manager, uid, races });
        expect(withDetail(report.brokenPromises)).toEqual([]);
        expect(report.claims.length).toBeGreaterThan(4);
      }
    },
    TIMEOUT_MS,
  );
});
