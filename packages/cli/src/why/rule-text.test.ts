import { chmod, mkdtemp, readFile, readdir, rm, stat, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { openAuditLog, pruneAuditLog } from "@acp/audit";
import { logEvent } from "@acp/core";
import { homePaths } from "@acp/home";
import { carryPolicyNotes } from "../gate/carry-policy-notes.js";
import { keepPolicy, policyHash, prunePolicies, readKeptPolicy } from "../gate/kept-policies.js";
import { POLICY } from "../../test/why-world.js";
import { type EventQuery, findEvents } from "./find-events.js";
import { findRuleTexts, ruleIn } from "./rule-text.js";

const DAY_MS = 86_400_000;
const FILE = "/home/ada/.acp/policy.yml";
const OTHER = POLICY.replace("files stay here", "not today");

async function scratchHome(): Promise<string> {
  const home = await mkdtemp(join(tmpdir(), "acp-why-"));
  await chmod(home, 0o700);
  onTestFinished(() => rm(home, { recursive: true, force: true }));
  return home;
}

let number = 0;
const note = (text: string, atMs: number) =>
  logEvent(
    "gate_notice",
    { id: `ae_${(number += 1)}`, atMs },
    { notice: "policy_loaded", text: "in force", policy: policyHash(text), file: FILE },
  );
const judged = (atMs: number) => ({
  ...logEvent("policy_evaluated", { id: `ae_${(number += 1)}`, atMs }, { layer: "rules" }),
  policyRule: "no-moves",
});

describe("ruleIn()", () => {
  it("cuts a rule out of its policy, from its line to the next", () => {
    expect(ruleIn(POLICY, "no-moves")).toEqual({
      line: 10,
      text: "- id: no-moves\n  match: { tool: move_file }\n  action: deny\n  reason: files stay here",
    });
    expect(ruleIn(POLICY, "reads")?.text).toMatch(/^- id: reads\n[^#]*action: allow$/);
    expect(ruleIn(POLICY, "notes")?.text).toMatch(/offers: \[\{ covers: tool, ttl: 3600 \}\]$/);
    expect(ruleIn(POLICY, "default")).toEqual({ line: 2, text: "default: ask" });
    expect(ruleIn(POLICY, "other")).toBeUndefined();
    expect(ruleIn("rules: [", "other")).toBeUndefined();
  });
});

describe("keepPolicy()", () => {
  it("keeps each text once, private, and knows one that comes back", async () => {
    const home = await scratchHome();
    const { hash } = await keepPolicy(home, POLICY);
    expect(await keepPolicy(home, POLICY)).toEqual({ hash });
    const path = join(home, "policies", `${hash.slice(7)}.yml`);
    expect([await readFile(path, "utf8"), (await stat(path)).mode & 0o777]).toEqual([
      POLICY,
      0o600,
    ]);
    await utimes(path, 1, 1);
    await keepPolicy(home, OTHER);
    expect(await keepPolicy(home, POLICY)).toEqual({ hash, seenMs: 1_000 });
    expect(await readdir(join(home, "policies"))).toHaveLength(2);
  });

  it("gives no text that is not the one of the hash", async () => {
    const home = await scratchHome();
    const { hash } = await keepPolicy(home, POLICY);
    expect(await readKeptPolicy(home, hash)).toBe(POLICY);
    await writeFile(join(home, "policies", `${hash.slice(7)}.yml`), OTHER);
    expect(await readKeptPolicy(home, hash)).toBeUndefined();
    expect(await readKeptPolicy(home, "sha256:../../x")).toBeUndefined();
  });
});

describe("findRuleTexts()", () => {
  it("gives the rule as it was at each moment, and says where it is not kept", async () => {
    const home = await scratchHome();
    await keepPolicy(home, POLICY);
    const other = await keepPolicy(home, OTHER);
    await using log = await openAuditLog({ path: join(home, "audit.jsonl") });
    await log.append([judged(0), note(POLICY, 1), judged(2), note(OTHER, 3), judged(4)]);
    const find = (query: EventQuery) => findEvents(home, query);
    const texts = async (): Promise<readonly string[]> => {
      const all: string[] = [];
      for await (const found of find({ where: ({ policyRule }) => policyRule !== "" })) {
        const rule = { ruleId: "no-moves", layer: "rules" };
        const {
          texts: [text],
          missing,
        } = await findRuleTexts(found, rule, { find, home });
        all.push(/reason: (.*)/.exec(text?.text ?? "")?.[1] ?? missing ?? "");
      }
      return all;
    };
    expect(await texts()).toEqual([
      "the log does not say which policy was in force",
      "files stay here",
      "not today",
    ]);
    await rm(join(home, "policies", `${other.hash.slice(7)}.yml`));
    expect((await texts())[2]).toBe(
      `the policy that was in force is not kept in this home (${other.hash})`,
    );
  });

  it("still knows it after the file that named it was removed, and drops what no log names", async () => {
    const home = await scratchHome();
    const path = join(home, "audit.jsonl");
    const { hash } = await keepPolicy(home, POLICY);
    const stale = await keepPolicy(home, OTHER);
    await using log = await openAuditLog({ path, rotation: { maxBytes: 700 } });
    await log.append([note(POLICY, 1)]);
    for (let at = 2; at < 6; at += 1) await log.append([judged(at)]);
    await carryPolicyNotes(homePaths(home), log, 2);
    expect(await pruneAuditLog(log, { keepFiles: 1 })).not.toEqual([]);
    expect(await prunePolicies(home, Date.now())).toBe(0);
    expect(await prunePolicies(home, Date.now() + 2 * DAY_MS)).toBe(1);
    expect(await readdir(join(home, "policies"))).toEqual([`${hash.slice(7)}.yml`]);
    expect(stale.hash).not.toBe(hash);
    const find = (query: EventQuery) => findEvents(home, query);
    for await (const found of find({ where: ({ policyRule }) => policyRule !== "" })) {
      const rule = { ruleId: "no-moves", layer: "rules" };
      expect((await findRuleTexts(found, rule, { find, home })).texts).toHaveLength(1);
    }
  });
});
