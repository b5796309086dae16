/**
 * The escape kit against every backend. First with no sandbox at all: what does not get out there
 * is no attempt. Each run is a world of its own (see packages/testing/escape/world.sh), so nothing
 * here touches the machine.
 */
import { type EscapeReport, escapeAttempts, formatEscapeReport } from "@acp/testing";
import { afterAll, describe, expect, it } from "vitest";
import { NEEDS, openWorlds, PLAIN_USER, TIMEOUT_MS, type Worlds } from "./escape-worlds.js";

let opened: Promise<Worlds> | undefined;
const worlds = (): Promise<Worlds> => (opened ??= openWorlds());
afterAll(async () => (await opened)?.[Symbol.asyncDispose]());

async function escape(backend: string, uid: number): Promise<EscapeReport> {
  const report = (await (await worlds()).run("escape-manager.ts", backend, uid)) as EscapeReport;
  process.stdout.write(`\n${formatEscapeReport(report)}\n`);
  return report;
}

const withDetail = (results: EscapeReport["results"]): readonly string[] =>
  results.map(({ id, detail }) => `${id}: ${detail}`);
const idsOf = ({ results }: EscapeReport, outcome: string): readonly string[] =>
  withDetail(results.filter((result) => result.outcome === outcome));

describe("escapeAttempts", () => {
  it(
    "get out where there is no sandbox",
    async ({ skip }) => {
      const { run, reason } = NEEDS.world();
      if (!run) skip(reason);
      const report = await escape("open", PLAIN_USER);
      expect(idsOf(report, "blocked")).toEqual([]);
      expect(idsOf(report, "escaped").length).toBeGreaterThanOrEqual(60);
      expect(report.strays).toEqual([]);
    },
    TIMEOUT_MS,
  );

  it(
    "get out where an agent has capabilities and no sandbox",
    async ({ skip }) => {
      const { run, reason } = NEEDS.root();
      if (!run) skip(reason);
      const report = await escape("open", 0);
      expect(idsOf(report, "blocked")).toEqual([]);
      expect(idsOf(report, "escaped")).toHaveLength(
        escapeAttempts.filter(({ batch }) => batch === "privileged").length,
      );
      expect(report.strays).toEqual([]);
    },
    TIMEOUT_MS,
  );
});

describe("runEscapeKit()", () => {
  it(
    "finds out a sandbox that claims everything and stops nothing",
    async ({ skip }) => {
      const { run, reason } = NEEDS.world();
      if (!run) skip(reason);
      const report = (await (
        await worlds()
      ).run("escape-manager.ts", "boaster", PLAIN_USER)) as EscapeReport;
      expect(idsOf(report, "blocked")).toEqual([]);
      expect(report.brokenPromises.length).toBe(report.results.length);
      expect(
        new Set(
          report.brokenPromises.map(
            ({ id }) => escapeAttempts.find((attempt) => attempt.id === id)?.provenBy,
          ),
        ).size,
      ).toBe(6);
    },
    TIMEOUT_MS,
  );

  it(
    "believes no excuse that the host does not bear out, and hears what nobody tried",
    async ({ skip }) => {
      const { run, reason } = NEEDS.world();
      if (!run) skip(reason);
      const report = await escape("excuser", PLAIN_USER);
      expect(idsOf(report, "skipped")).toEqual([]);
      expect(idsOf(report, "blocked")).toHaveLength(report.results.length);
      expect(report.strays.map(({ listener }) => listener).toSorted()).toEqual([
        "packet=far",
        "udp=0.0.0.0,7002",
      ]);
    },
    TIMEOUT_MS,
  );

  it(
    "takes a sandbox of anybody's, and finds what a line of bubblewrap forgets",
    async ({ skip }) => {
      const { run, reason } = NEEDS.bubblewrap();
      if (!run) skip(reason);
      const report = await escape("foreign", PLAIN_USER);
      expect(report.brokenPromises.map(({ id }) => id)).toEqual([
        "inherited-socket",
        "read-inherited",
      ]);
      expect(idsOf(report, "escaped").length).toBeLessThan(20);
      expect(report.strays).toEqual([]);
    },
    TIMEOUT_MS,
  );

  it(
    "does not take a sandbox that starts nothing for one that holds",
    async ({ skip }) => {
      const { run, reason } = NEEDS.world();
      if (!run) skip(reason);
      await expect((await worlds()).run("escape-manager.ts", "idler", PLAIN_USER)).rejects.toThrow(
        "its agent did not come to an end",
      );
    },
    TIMEOUT_MS,
  );
});

// The helper of landlock wants directories above it that are root's own, which a user namespace has
// not.
describe.each([
  { backend: "namespace", uid: 0, need: NEEDS.root, isBarrier: true },
  { backend: "namespace", uid: PLAIN_USER, need: NEEDS.bubblewrap, isBarrier: true },
  {
    backend: "namespace-private-sockets",
    uid: PLAIN_USER,
    need: NEEDS.bubblewrap,
    isBarrier: true,
  },
  { backend: "uid", uid: 0, need: NEEDS.root, isBarrier: true },
  { backend: "landlock", uid: 0, need: NEEDS.root, isBarrier: true },
  { backend: "landlock", uid: PLAIN_USER, need: NEEDS.root, isBarrier: true },
  { backend: "preload", uid: PLAIN_USER, need: NEEDS.world, isBarrier: false },
  { backend: "env", uid: PLAIN_USER, need: NEEDS.world, isBarrier: false },
])("$backend, from a manager with uid $uid", ({ backend, uid, need, isBarrier }) => {
  it(
    "stops everything that it claims to stop",
    async ({ skip }) => {
      const { run, reason } = need();
      if (!run) skip(reason);
      const report = await escape(backend, uid);
      expect(withDetail(report.brokenPromises)).toEqual([]);
      expect(report.strays).toEqual([]);
      if (isBarrier) expect(Object.values(report.claims)).toContain("enforced");
    },
    TIMEOUT_MS,
  );
});
