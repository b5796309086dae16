/**
 * The life of keys under a clock that goes where it likes: what a key signed while it was in use
 * stays provable, and what it signs afterwards is not.
 */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { encodeRequest } from "@acp/core";
import type { ConsentRequest, JsonObject } from "@acp/core";
import { createConsentSigner, generateKeyPair, verifyConsentProof } from "@acp/core/proof";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Home, initHome } from "../src/home.js";
import { signerInUse } from "../src/key-in-use.js";
import { initKeys, repairPeriods, readPublicKeys, rotateKeys, unlockKeys } from "../src/keys.js";
import { makeKeyFile, type Unlock } from "../src/private-key.js";
import {
  beginBy,
  coverSigned,
  isWithin,
  type KeyPeriod,
  parsePublicKeys,
  printPublicKeys,
  type SignedAt,
  succeed,
  trustedKeysOf,
} from "../src/public-keys.js";
import { scratchDirectory } from "./support.js";

const unlock: Unlock = { kind: "key-file", text: makeKeyFile() };
const NOW = Date.UTC(2026, 1, 1);
const DAY = 86_400_000;
const at = (ms: number): { now: () => number } => ({ now: () => ms });

const askedAt = (createdAtMs: number): ConsentRequest => ({
  id: "cr_1",
  createdAtMs,
  expiresAtMs: createdAtMs + 120_000,
  agent: { id: "demo", name: "demo", command: "" },
  action: {
    tool: "write_file",
    server: "files",
    category: "write",
    riskLevel: "medium",
    parameters: {},
    description: "call write_file on files",
  },
  policy: { ruleId: "ask-writes", ruleName: "", requiredLevel: "medium" },
  nonce: "n_1",
  actionDigest: "sha256:00",
  quorum: 1,
  evidence: "any",
  offers: [],
  secrets: [],
  text: "Agent: demo",
});

interface Made extends SignedAt {
  readonly request: ConsentRequest;
  readonly response: JsonObject;
}

/** What a gate of the home does at a moment of its clock: somebody says yes, and it signs. */
async function answerAt(home: Home, atMs: number): Promise<Made> {
  const keys = await unlockKeys(home, unlock, at(atMs));
  const request = askedAt(atMs - 1_000);
  const response = await createConsentSigner(signerInUse(home, keys)).signAnswer(request, {
    decision: "approved",
    nowMs: atMs,
    channel: "terminal",
    approverId: "alice",
  });
  return { request, response, publicKey: keys.publicKey, atMs };
}

async function codeOf(home: Home, { request, response }: Made): Promise<string> {
  const trustedKeys = trustedKeysOf(await readPublicKeys(home));
  const result = await verifyConsentProof(response, encodeRequest(request), { trustedKeys });
  return result.ok ? "proven" : result.code;
}

async function makeHome(initMs: number): Promise<Home> {
  const { home } = await initHome(join(await scratchDirectory(), "h"));
  await initKeys(home, unlock, at(initMs));
  return home;
}

describe("keys under a wrong clock", () => {
  it("stay provable where the clock went back between init and rotation", async () => {
    const home = await makeHome(NOW);
    const made = [await answerAt(home, NOW + DAY), await answerAt(home, NOW + 2 * DAY)];
    // A dead battery: the log's last event is of a later time than the clock shows.
    const { keys } = await rotateKeys(home, unlock, at(Math.max(NOW - 9 * DAY, NOW + 2 * DAY + 1)));
    made.push(await answerAt(home, NOW - 9 * DAY));
    expect(made[2]?.publicKey).toBe(keys.publicKey);
    for (const each of made) expect(await codeOf(home, each)).toBe("proven");
  });

  it("stay provable where the clock was ahead at init and was set right", async () => {
    const home = await makeHome(NOW + 1_000 * DAY);
    const made = [await answerAt(home, NOW + 1_000 * DAY + 1), await answerAt(home, NOW)];
    await rotateKeys(home, unlock, {
      now: () => NOW + DAY,
      signed: () => Promise.resolve(made),
    });
    made.push(await answerAt(home, NOW + DAY));
    for (const each of made) expect(await codeOf(home, each)).toBe("proven");
    // A retired key is trusted for what it signed, not for the years in between.
    const [, ...retired] = await readPublicKeys(home);
    const [old] = made;
    if (old === undefined) throw new Error("unreachable");
    expect(isWithin(retired, { publicKey: old.publicKey, atMs: NOW + 500 * DAY })).toBe(false);
    expect(isWithin(retired, { publicKey: old.publicKey, atMs: NOW + DAY })).toBe(false);
  });

  it("are repaired from the log where a version of before wrote that a key ended when it began", async () => {
    const home = await makeHome(NOW);
    const made = await answerAt(home, NOW + DAY);
    await rotateKeys(home, unlock, at(NOW - DAY));
    expect((await readPublicKeys(home))[1]).toMatchObject({ fromMs: NOW, untilMs: NOW });
    expect(await codeOf(home, made)).toBe("key_not_valid");
    expect(await repairPeriods(home, [])).toBe(false);
    expect(await codeOf(home, made)).toBe("key_not_valid");
    expect(await repairPeriods(home, [made])).toBe(true);
    expect(await codeOf(home, made)).toBe("proven");
    expect(await repairPeriods(home, [made])).toBe(false);
  });

  it("begin in the file before they sign, and not for bytes that bear no time", async () => {
    const home = await makeHome(NOW);
    const keys = await unlockKeys(home, unlock);
    const before = await readFile(home.publicKeyPath, "utf8");
    const signer = signerInUse(home, keys);
    for (const text of ["what was asked", "a\n{", 'a\n{"timestamp":1}', 'a\n{"timestamp":"no"}'])
      await signer.sign(new TextEncoder().encode(text));
    expect(await readFile(home.publicKeyPath, "utf8")).toBe(before);
    await writeFile(home.publicKeyPath, `${before}more\n`);
    await expect(answerAt(home, NOW - 1)).rejects.toMatchObject({ code: "key_rejected" });
  });
});

type Step =
  | { readonly do: "clock"; readonly toMs: number }
  | { readonly do: "sign" | "rotate" | "mend" };

const steps: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.oneof(
    fc.record({
      do: fc.constant("clock" as const),
      toMs: fc.integer({ min: 0, max: 2_000 * DAY }),
    }),
    fc.record({ do: fc.constant("clock" as const), toMs: fc.integer({ min: 0, max: 50 }) }),
    fc.record({ do: fc.constantFrom("sign" as const, "sign" as const, "rotate" as const) }),
  ),
  { maxLength: 40 },
);

/** One home as its files and its log see it. */
interface World {
  clockMs: number;
  wentBack: boolean;
  /** The largest time that the clock showed. */
  latestMs: number;
  lastEventMs: number | undefined;
  periods: readonly KeyPeriod[];
  readonly signed: SignedAt[];
  readonly retiredAtMs: Map<string, number>;
}

const KEYS = Array.from({ length: 41 }, () => generateKeyPair().publicKey);

function start(clockMs: number): World {
  return {
    clockMs,
    wentBack: false,
    latestMs: clockMs,
    lastEventMs: undefined,
    periods: [{ publicKey: KEYS[0] ?? "", fromMs: clockMs }],
    signed: [],
    retiredAtMs: new Map(),
  };
}

function take(world: World, step: Step): void {
  const publicKey = world.periods[0]?.publicKey ?? "";
  if (step.do === "clock") {
    world.wentBack ||= step.toMs < world.clockMs;
    world.clockMs = step.toMs;
    world.latestMs = Math.max(world.latestMs, step.toMs);
    return;
  }
  world.clockMs++;
  world.latestMs = Math.max(world.latestMs, world.clockMs);
  if (step.do === "sign") {
    world.periods = beginBy(world.periods, world.clockMs);
    world.signed.push({ publicKey, atMs: world.clockMs });
    world.lastEventMs = world.clockMs;
    return;
  }
  const next = KEYS[world.retiredAtMs.size + 1] ?? "";
  const logMs = Math.max(world.clockMs, (world.lastEventMs ?? 0) + 1);
  world.periods = coverSigned(succeed(world.periods, next, logMs), world.signed);
  world.retiredAtMs.set(publicKey, world.latestMs);
  world.lastEventMs = world.clockMs;
}

it("every signature of a key in use verifies, and none after its end, whatever the clock does", () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 2_000 * DAY }), steps, (clockMs, taken) => {
      const world = start(clockMs);
      for (const step of taken) {
        take(world, step);
        const { periods, signed, retiredAtMs } = world;
        expect(parsePublicKeys(printPublicKeys(periods))).toEqual(periods);
        for (const { fromMs, untilMs = Infinity } of periods)
          expect(untilMs).toBeGreaterThanOrEqual(fromMs);
        expect(signed.filter((each) => !isWithin(periods, each))).toEqual([]);
        for (const [publicKey, endMs] of retiredAtMs)
          for (const laterMs of [1, DAY, 3_000 * DAY])
            expect(isWithin(periods, { publicKey, atMs: endMs + 1 + laterMs })).toBe(false);
        if (!world.wentBack)
          for (const [index, { fromMs }] of periods.entries())
            expect(periods[index + 1]?.untilMs ?? fromMs).toBe(fromMs);
      }
    }),
    { numRuns: 1_000 },
  );
});
