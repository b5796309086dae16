/**
 * A resident that ends at every moment of its life, under many clients: nothing runs twice, nothing
 * runs without a yes, every request has one answer, and every approver hears what is true.
 *
 * ACP_RESIDENT_KINDS: which kinds of moments, a regular expression. ACP_RESIDENT_FROM and
 * ACP_RESIDENT_TO: which points of each kind (0 to 1). ACP_RESIDENT_CLIENTS: how many clients (20).
 * ACP_RESIDENT_ASKS: questions of each client at once (2). ACP_RESIDENT_REPORT: a file that gets a
 * line of JSON for each point.
 */
import { appendFileSync } from "node:fs";
import { expect, it } from "vitest";
import { KINDS } from "./resident-killed-moments.js";
import type { Kind } from "./resident-killed-moments.js";
import { endAt } from "./resident-killed-points.js";
import type { Moment, Seen } from "./resident-killed-points.js";
import { openKilledWorld } from "./resident-killed-world.js";
import type { How, KilledWorld } from "./resident-killed-world.js";

const { env } = process;
const ONLY = new RegExp(env["ACP_RESIDENT_KINDS"] ?? "");
const FROM = Number(env["ACP_RESIDENT_FROM"] ?? 0);
const TO = Number(env["ACP_RESIDENT_TO"] ?? 1);
const CLIENTS = Number(env["ACP_RESIDENT_CLIENTS"] ?? 20);
const ASKS = Number(env["ACP_RESIDENT_ASKS"] ?? 2);
const HOWS: readonly How[] = ["kill", "kill", "stop, then kill", "kill", "stop, then let go"];
/** A moment that was not reached is tried again, at its first occurrence. */
const TRIES_MAX = 3;

function report(line: object): void {
  const file = env["ACP_RESIDENT_REPORT"];
  if (file !== undefined) appendFileSync(file, `${JSON.stringify(line)}\n`);
}

const first = ({ at, ...moment }: Moment): Moment => ({
  ...moment,
  ...(at !== undefined && { at: at.replace(/\|\d+\|/, "|1|") }),
});

/** Tries it until it is reached. */
async function endOnce(world: KilledWorld, kind: Kind, n: number): Promise<readonly Seen[]> {
  const load = { asks: ASKS, acts: 1, isSlow: true, ...kind.load };
  const how = kind.hows?.[n % kind.hows.length] ?? HOWS[n % HOWS.length] ?? "kill";
  const all: Seen[] = [];
  while (all.at(-1)?.isHit !== true && all.length < TRIES_MAX) {
    const moment = all.length === 0 ? kind.moment(n) : first(kind.moment(n));
    const startMs = performance.now();
    const seen = await endAt(world, moment, how, load);
    const tookMs = Math.round(performance.now() - startMs);
    report({ kind: kind.name, n, at: moment, how, clients: CLIENTS, tookMs, ...seen });
    all.push(seen);
  }
  return all;
}

const chosen = KINDS.filter(({ name }) => ONLY.test(name));

it.each([...new Set(chosen.map(({ world }) => world))])(
  "a resident that ends in a home %s does nothing twice, and nothing unasked",
  async (name) => {
    await using world = await openKilledWorld({
      clients: CLIENTS,
      hasSmallLogs: name === "with small logs",
      isLocked: name === "with a passphrase",
    });
    const wrong: string[] = [];
    const missed: string[] = [];
    for (let n = FROM; n < TO; n++)
      for (const kind of chosen.filter((each) => each.world === name)) {
        const all = await endOnce(world, kind, n);
        const place = `${kind.name} ${n}`;
        wrong.push(...all.flatMap((each) => each.wrong.map((what) => `${place}: ${what}`)));
        if (all.at(-1)?.isHit !== true) missed.push(place);
      }
    const told = await world.people.told();
    report({ world: name, told, spent: world.people.spent() });
    expect([...wrong, ...told]).toEqual([]);
    expect(missed).toEqual([]);
  },
);
