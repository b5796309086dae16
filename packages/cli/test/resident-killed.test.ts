/**
 * A resident that dies at every moment of a call's life, under many clients: nothing runs twice,
 * nothing runs without a yes, every request has one answer, and every approver hears what is true.
 *
 * ACP_RESIDENT_POINTS: how many deaths (default 12); ACP_RESIDENT_CLIENTS: how many clients (20).
 */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { dieUnderLoad } from "./resident-killed-world.js";
import type { Death, Load, Seen } from "./resident-killed-world.js";
import { residentWorld } from "./resident-world.js";

const POINTS = Number(process.env["ACP_RESIDENT_POINTS"] ?? 12);
const CLIENTS = Number(process.env["ACP_RESIDENT_CLIENTS"] ?? 20);
/** A question ends soon that a crash made unanswerable. */
const POLICY = `version: "1"
default_action: deny
rules:
  - { id: acts, match: { tool: act }, action: allow }
  - { id: asks, match: { tool: ask }, action: ask, timeout: 20 }
`;
/** Small files, so that a log is full and pruned within one load. */
const CONFIG = `version: "1"
defaults:
  prompt_limit: none
audit:
  rotate_megabytes: 1
  keep_files: 1
`;

interface Moment {
  readonly name: string;
  /** The death at the n-th point of this moment, from 0. */
  readonly death: (n: number) => Death;
  readonly load?: Partial<Load>;
}

const event = (type: string): string => `write:"event_type":"${type}"`;
const turns =
  (what: string, whens: readonly string[]) =>
  (n: number): Death => ({
    at: `${what}|${1 + Math.floor(n / whens.length) * 3}|${whens[n % whens.length]}`,
  });
const BOTH = ["before", "after"] as const;

const MOMENTS: readonly Moment[] = [
  { name: "start", death: (n) => ({ at: `file:${n % 2 === 0 ? "jsonl" : ""}|${1 + n}|after` }) },
  { name: "asked", death: turns(event("consent_requested"), BOTH) },
  { name: "decision written", death: turns(event("consent_approved"), BOTH) },
  { name: "permit", death: turns('write:"adopted":true', BOTH) },
  { name: "forwarded", death: turns(event("tool_call_forwarded"), BOTH) },
  { name: "server answered", death: turns(event("tool_call_completed"), BOTH) },
  {
    name: "reply half sent",
    death: (n) => ({ at: `output|${CLIENTS + 1 + n * 2}|${n % 2 === 0 ? "half" : "before"}` }),
  },
  {
    name: "index write",
    death: (n) => ({ at: `file:.index|1|${BOTH[n % 2]}` }),
    load: { calls: 12 },
  },
  { name: "rotation", death: turns("rename:audit.jsonl", BOTH), load: { pad: 20_000 } },
  {
    name: "prune",
    death: (n) => ({ at: `unlink:audit.jsonl.0|1|${BOTH[n % 2]}` }),
    load: { pad: 20_000 },
  },
  { name: "killed from outside", death: (n) => ({ killedAfterMs: 7 * n }), load: { ms: 20 } },
  {
    name: "stopped, then killed or let go",
    death: (n) => ({
      stoppedAfterMs: 11 * n,
      forMs: 500,
      isKilled: n % 2 === 0,
    }),
  },
];

it(`a resident that dies at ${POINTS} points does nothing twice and nothing unasked`, async () => {
  await using at = await residentWorld(POLICY);
  await at.acp(["init"]);
  await writeFile(join(at.home, "config.yml"), CONFIG, { mode: 0o600 });
  const wrong: string[] = [];
  const seen = new Map<string, Seen[]>();
  for (let point = 0; point < POINTS; point++) {
    const moment = MOMENTS[point % MOMENTS.length];
    if (moment === undefined) break;
    const death = moment.death(Math.floor(point / MOMENTS.length));
    const result = await dieUnderLoad(at, death, { clients: CLIENTS, calls: 4, ...moment.load });
    wrong.push(...result.wrong.map((each) => `${moment.name} ${JSON.stringify(death)} ${each}`));
    seen.set(moment.name, [...(seen.get(moment.name) ?? []), result.seen]);
    if (process.env["ACP_RESIDENT_POINTS"] !== undefined)
      process.stderr.write(
        `${point} ${moment.name} ${JSON.stringify(death)} ${JSON.stringify(result)}\n`,
      );
  }
  expect(wrong).toEqual([]);
  // Where no resident died where it was to, nothing was shown.
  if (POINTS >= MOMENTS.length)
    for (const { name } of MOMENTS.filter((each) => !each.name.startsWith("stopped")))
      expect([name, seen.get(name)?.some(({ isDead }) => isDead)]).toEqual([name, true]);
});
