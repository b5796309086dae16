/**
 * Rights cannot be made: whatever the package hands out, in all its entries and after a gate was
 * really used, leads to nothing that makes a permit, a release, a signer or a policy, and to none
 * of what stands behind them.
 */
import { manualClock, seededIds } from "@acp/testing";
import { beforeAll, describe, expect, it } from "vitest";
import * as channels from "../src/channels.js";
import * as core from "../src/index.js";
import * as exec from "../src/exec.js";
import * as policies from "../src/policy.js";
import * as proofs from "../src/proof.js";
import * as vaults from "../src/vault.js";
import * as yaml from "../src/yaml.js";
import { agent, denyAll, first, makeKit, recordingSink, reply, type Kit } from "./gate-kit.js";
import { reachableFrom } from "./reachable.js";

const { createConsentGate, redeem, toolAction } = core;
const { injectSecrets, Secret, createVault } = vaults;

const secret = new Secret({
  name: "TOKEN",
  value: "the-value-of-it",
  servers: ["*"],
  hosts: ["*"],
});
const action = toolAction("files", "write_file", { path: "a", token: "{{secret:TOKEN}}" });
const asking = policies.parsePolicy({
  version: "1",
  rules: [
    { match: { tool: "write_*" }, action: "ask", secrets: ["TOKEN"] },
    { match: { tool: "read_*" }, action: "allow", secrets: ["TOKEN"] },
  ],
  default: "deny",
});

/** Objects of the language and the platform: they are anybody's, with or without this package. */
async function intrinsics(): Promise<ReadonlySet<object>> {
  const samples = [
    async function* () {},
    function* () {},
    async () => undefined,
    new Map().entries(),
    [].values(),
    new AbortController().signal,
  ];
  const builtin = Object.getOwnPropertyNames(globalThis).filter((name) =>
    /^[A-Z][A-Za-z0-9]+$/.test(name),
  );
  return reachableFrom(
    [
      ...builtin.map((name): unknown => Reflect.get(globalThis, name)),
      ...samples,
      Promise.resolve(),
    ],
    { inert: true },
  );
}

/**
 * What a host, a channel, a layer, an assessor, a vault, a sink and a store see while a gate is
 * used in every way.
 */
async function useGate(): Promise<readonly unknown[]> {
  const seen: unknown[] = [];
  const note = <T>(value: T): T => {
    seen.push(value);
    return value;
  };
  const keys = proofs.generateKeyPair();
  const signer = note(proofs.createConsentSigner(keys));
  const store = note(core.memoryStore(manualClock()));
  const real = createVault([secret]);
  const kit: Kit = makeKit({
    policy: asking,
    signer,
    store,
    vault: {
      inject: async (release) => {
        note(release);
        return note(await real.inject(release));
      },
    },
    layers: [{ name: "looks", judge: (...given) => void note(given) }],
    assessors: [{ name: "assesses", assess: (...given) => Promise.resolve(void note(given)) }],
    verifiers: [
      {
        algorithm: "WebAuthn",
        verify: (...given) => Promise.resolve({ ok: note(given).length < 0, reason: "no" }),
      },
    ],
  });
  const { gate, shown, settle } = kit;
  note([
    gate,
    kit.sink,
    asking,
    secret,
    keys,
    real,
    note(
      channels.firstOf(
        { name: "other", deliver: () => Promise.resolve() },
        { name: "third", deliver: () => Promise.resolve() },
      ),
    ),
  ]);
  const pending = note(await gate.open(action, { agent, session: "s", task: "t" }));
  if (pending.decision !== "pending") throw new Error(pending.code);
  await settle();
  const question = first(shown);
  note([question, await question.session.submit({ nonsense: true })]);
  for await (const record of store.pending.open()) note(record);
  note(await question.session.submit(reply(question, { decision: "approved" })));
  const verdict = note(await pending.settled);
  if (verdict.decision !== "allow") throw new Error(verdict.code);
  note(
    await gate.perform(verdict, (release) =>
      Promise.resolve(note([release, release.masker()]).length),
    ),
  );
  note(await gate.perform(verdict, () => Promise.resolve(1)));
  const reading = toolAction("files", "read_file", { path: "a" });
  const stream = await gate.run(
    reading,
    async function* (release: core.Release) {
      yield await Promise.resolve(release);
    } as never,
    { agent },
  );
  note(stream);
  const byHand = note(await gate(reading, { agent }));
  if (byHand.decision !== "allow") throw new Error(byHand.code);
  const release = note(redeem(byHand.permit, byHand.action));
  note(injectSecrets(release, [secret]));
  note(await gate.report(byHand, { status: "performed" }));
  for (const wrong of [
    () => redeem(byHand.permit, reading),
    () => injectSecrets(release, []),
    () => policies.parsePolicy({}),
    () => core.parseAction({}),
  ])
    try {
      wrong();
    } catch (error) {
      note(error);
    }
  note([
    gate.evaluate(reading, { agent }),
    await gate(toolAction("x", "y"), { agent }),
    await gate(null as never, { agent }),
    kit.sink.events,
  ]);
  note(await gate.report(byHand, { status: "performed" }).catch((error: unknown) => error));
  return seen;
}

/**
 * What the makers of rights were given before they were hidden, and are given inside; by position
 * as well.
 */
function plausible(
  deny: core.ConsentGate,
  handed: readonly unknown[],
): readonly (readonly unknown[])[] {
  const clock = manualClock();
  const verdict = { decision: "allow", code: "policy_allowed", reason: "", action };
  const state = {
    gate: deny,
    action,
    secrets: ["TOKEN"],
    clock,
    signal: new AbortController().signal,
    callerSignal: undefined,
    shutdownSignal: new AbortController().signal,
    event: () => ({}),
    denialNow: () => undefined,
    lease: undefined,
    digest: core.actionDigest(action),
    expiresAtMonotonicMs: Number.MAX_SAFE_INTEGER,
    expiresAtMs: Number.MAX_SAFE_INTEGER,
    spent: false,
    released: false,
    told: "nothing",
    verdict,
    mask: <T>(value: T): T => value,
    masker: () => undefined,
    publicKey: "00".repeat(32),
    signAnswer: () => Promise.resolve({}),
    judge: () => ({ effect: "allow", ruleId: "x", reason: "" }),
    classify: () => ({ category: "read", risk: "low" }),
    proves: () => true,
    defaultEffect: "allow",
    rules: [],
    warnings: [],
  };
  return [
    [state],
    [state, undefined],
    [{}, state],
    [action, ["TOKEN"]],
    [deny, state],
    [],
    ...handed.map((each) => [each]),
  ];
}

const describeValue = (value: unknown): string =>
  typeof value === "function" ? `function ${value.name}` : Object.prototype.toString.call(value);

describe("what is handed out", () => {
  let handed: readonly unknown[] = [];
  let reached: readonly object[] = [];
  const makers = new Set<object>();
  const published = new Set<unknown>();

  beforeAll(async () => {
    handed = await useGate();
    const known = await intrinsics();
    // What makes such things in public is no secret, and takes what it makes them of from its
    // caller.
    const api = [core, exec, policies, proofs, vaults, yaml].flatMap((entry) =>
      Object.values<unknown>(entry),
    );
    for (const each of api) published.add(each);
    reached = [...(await reachableFrom([...handed, ...api], { known }))];
    for (const value of reached) if (typeof value === "function") makers.add(value);
  });

  it("is really walked: permits, both releases, sessions, rulings, errors and every entry", () => {
    const keys = (name: string): number =>
      reached.filter((value) => Object.hasOwn(value, name)).length;
    expect(keys("permit")).toBeGreaterThan(1);
    expect(keys("masker")).toBeGreaterThan(3);
    expect(
      ["redelivery", "ruleId", "settled", "eventType", "nonce"].filter((name) => keys(name) === 0),
    ).toEqual([]);
    expect(reached.filter((value) => value instanceof core.ConsentError).length).toBeGreaterThan(3);
    expect(makers.size).toBeGreaterThan(100);
  });

  it("leads to nothing that stands behind a right", () => {
    const inside = [
      "denialNow",
      "told",
      "shutdownSignal",
      "shutdown",
      "identity",
      "expiresAtMonotonicMs",
      "judges",
    ];
    expect(
      reached.flatMap((value) =>
        inside.filter((key) => key in value).map((key) => `${describeValue(value)}.${key}`),
      ),
    ).toEqual([]);
  });

  it("makes no right, whatever is constructed with whatever arguments", async () => {
    const sink = recordingSink();
    const channel: core.Channel = {
      name: "none",
      deliver: () => Promise.reject(new Error("nobody")),
    };
    const options = { channel, audit: sink, clock: manualClock(), ids: seededIds() };
    const deny = createConsentGate({ ...options, policy: denyAll, vault: createVault([secret]) });
    const made = new Set<unknown>();
    for (const maker of makers) {
      if (published.has(maker)) continue;
      for (const given of plausible(deny, handed))
        try {
          made.add(Reflect.construct(maker as never, given));
        } catch {
          // Most of what is reached makes nothing.
        }
    }
    let performed = 0;
    const minted: string[] = [];
    for (const forged of made) {
      const verdict = {
        decision: "allow",
        code: "policy_allowed",
        reason: "",
        action,
        permit: forged,
      };
      const ways: readonly (readonly [string, () => unknown])[] = [
        ["permit", () => redeem(forged as never, action)],
        ["release", () => injectSecrets(forged as never, [secret])],
        [
          "signer",
          () => createConsentGate({ ...options, policy: denyAll, signer: forged as never }),
        ],
        [
          "policy",
          () =>
            expect(
              createConsentGate({ ...options, policy: forged as never }).evaluate(action, { agent })
                .failure,
            ).toBeUndefined(),
        ],
      ];
      for (const [what, way] of ways)
        try {
          way();
          if (!handed.includes(forged)) minted.push(`${what} of ${describeValue(forged)}`);
        } catch {
          // As it should be.
        }
      const result = await deny.perform(verdict as never, () => Promise.resolve(performed++));
      if (result.ran) minted.push(`run of ${describeValue(forged)}`);
    }
    expect(minted).toEqual([]);
    expect(performed).toBe(0);
    expect(sink.events.map(({ eventType }) => eventType)).not.toContain("tool_call_forwarded");
  });

  it("gives a permit and a release a prototype that leads nowhere and cannot be changed", () => {
    const rights = [...reached].filter(
      (value) =>
        Object.hasOwn(value, "masker") && Reflect.getPrototypeOf(value) !== Object.prototype,
    );
    rights.push(
      ...reached.flatMap((value) =>
        Object.hasOwn(value, "permit") ? [Reflect.get(value, "permit") as object] : [],
      ),
    );
    expect(rights.length).toBeGreaterThan(3);
    for (const right of rights) {
      expect(Object.isFrozen(right)).toBe(true);
      const above = Reflect.getPrototypeOf(right);
      expect(above).not.toBeNull();
      if (above === null) continue;
      expect("constructor" in above).toBe(false);
      expect(Object.isFrozen(above)).toBe(true);
      expect(Reflect.getPrototypeOf(above)).toBeNull();
    }
  });
});
