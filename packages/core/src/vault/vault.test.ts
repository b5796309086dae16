import { inspect } from "node:util";
import { describe, expect, it } from "vitest";
import { agent, allowAll, askAll, last, makeKit, reply } from "../../test/gate-kit.js";
import { actionDigest, type Policy, type Release, toolAction, type Vault } from "../index.js";
import { parsePolicy } from "../policy.js";
import { createVault, Secret } from "../vault.js";
import { injectSecrets } from "./inject.js";

const value = "s3cr3t-value";
const token = new Secret({ name: "TOKEN", value, servers: ["github"] });
const vault = createVault([
  token,
  new Secret({ name: "OTHER", value: "another-value", servers: ["*"] }),
]);
const call = toolAction("github", "create_issue", { auth: "Bearer {{secret:TOKEN}}", title: "x" });
const named = (names: readonly string[], action: "allow" | "ask" = "allow"): Policy =>
  parsePolicy({ version: "1", rules: [{ match: { tool: "*" }, action, secrets: names }] });

/** What the performer got. */
async function perform(policy: Policy, given: Vault | undefined, action = call) {
  const kit = makeKit({ policy, ...(given === undefined ? {} : { vault: given }) });
  const seen: Release[] = [];
  const result = await kit.gate.run(
    action,
    (release) => {
      seen.push(release);
      return Promise.resolve({ echoed: release.action.args });
    },
    { agent },
  );
  return { ...kit, result, seen };
}

describe("createVault() in a gate", () => {
  it("injects what an allow rule names, records the name, and masks what comes back", async () => {
    const { result, seen, sink, types } = await perform(named(["TOKEN", "OTHER"]), vault);
    expect(seen[0]?.action.args).toEqual({ auth: "Bearer s3cr3t-value", title: "x" });
    expect(result).toMatchObject({
      ran: true,
      value: { echoed: { auth: "Bearer [secret TOKEN]", title: "x" } },
    });
    expect(types().slice(2)).toEqual([
      "credential_injected",
      "tool_call_forwarded",
      "tool_call_completed",
    ]);
    expect(sink.events[2]?.metadata).toMatchObject({ secret: "TOKEN" });
    expect(inspect(sink.events, { depth: null })).not.toContain(value);
  });

  it("masks an error that perform throws", async () => {
    const { gate } = makeKit({ policy: named(["TOKEN"]), vault });
    const run = gate.run(
      call,
      (release) =>
        Promise.reject(new TypeError(`bad header ${JSON.stringify(release.action.args)}`)),
      { agent },
    );
    await expect(run).rejects.toThrow(
      new TypeError('bad header {"auth":"Bearer [secret TOKEN]","title":"x"}'),
    );
  });

  it("shows the names in the arguments to a person, whose yes releases them, whatever the rule names", async () => {
    const { gate, shown, settle, clock } = makeKit({ policy: askAll, vault });
    const run = gate.run(call, (release) => Promise.resolve(release.action.args), { agent });
    await settle();
    const question = last(shown);
    expect(question.request.secrets).toEqual(["TOKEN"]);
    expect(question.request.text).toContain("A yes releases the secrets: TOKEN");
    expect(question.request.text).not.toContain(value);
    await question.session.submit(reply(question, { decision: "approved" }));
    await clock.advance(0);
    expect(await run).toMatchObject({ ran: true, value: { auth: "Bearer [secret TOKEN]" } });
  });

  it("asks anew where an edit brings in another secret", async () => {
    const { gate, shown, settle } = makeKit({ policy: askAll, vault });
    const run = gate.run(call, (release) => Promise.resolve(release.action.args), { agent });
    await settle();
    const modifications = { auth: "{{secret:OTHER}}" };
    const receipt = await last(shown).session.submit(
      reply(last(shown), { decision: "approved_with_modifications", modifications }),
    );
    expect(receipt).toMatchObject({ status: "reshow", request: { secrets: ["OTHER"] } });
    await settle();
    await last(shown).session.submit(reply(last(shown), { decision: "denied" }));
    expect(await run).toMatchObject({ ran: false });
  });

  const denials: readonly (readonly [string, Policy, Vault, typeof call])[] = [
    ["that no rule names", allowAll, vault, call],
    [
      "that is unknown",
      named(["NONE"]),
      vault,
      toolAction("github", "t", { a: "{{secret:NONE}}" }),
    ],
    [
      "that is bound to another server",
      named(["TOKEN"]),
      vault,
      toolAction("evil", "t", { a: "{{secret:TOKEN}}" }),
    ],
    [
      "that stands in a key",
      named(["TOKEN"]),
      vault,
      toolAction("github", "t", { "{{secret:TOKEN}}": 1 }),
    ],
    [
      "that the vault cannot read",
      named(["TOKEN"]),
      createVault(() => Promise.reject(new Error(`locked ${value}`))),
      call,
    ],
    [
      "that the vault leaves as it is",
      named(["TOKEN"]),
      { inject: (release) => Promise.resolve(release) },
      call,
    ],
    [
      "that the vault puts in by itself",
      named(["TOKEN"]),
      {
        inject: (release) =>
          Promise.resolve({ ...release, action: toolAction("github", "t", { a: value }) }),
      },
      call,
    ],
    [
      "that the vault put into a copy of the release",
      named(["TOKEN"]),
      { inject: (release) => Promise.resolve({ ...injectSecrets(release, [token]) }) },
      call,
    ],
  ];

  it.each(denials)(
    "gives one answer for a secret %s, and performs nothing",
    async (_what, policy, given, action) => {
      const { result, seen, types, sink } = await perform(policy, given, action);
      expect(result).toEqual((await perform(allowAll, vault)).result);
      expect(result).toMatchObject({ ran: false, verdict: { code: "vault_failed" } });
      expect(seen).toEqual([]);
      expect(types().slice(2)).toEqual(["tool_call_completed"]);
      expect(last(sink.events).metadata).toMatchObject({ outcome: "not_performed" });
      expect(inspect(sink.events, { depth: null })).not.toContain(`locked ${value}`);
    },
  );

  it("masks what a later call reads back, though nothing was injected into it", async () => {
    const kit = makeKit({ policy: allowAll, vault });
    const read = toolAction("files", "read_file", { path: "a" });
    const result = await kit.gate.run(
      read,
      (release) => Promise.resolve([`saved ${value}`, release.masker() === undefined]),
      { agent },
    );
    expect(result).toMatchObject({ value: ["saved [secret TOKEN]", false] });
    expect(kit.types()).not.toContain("credential_injected");
    // What is no data can only be kept where no secret was given away.
    expect(
      await kit.gate.run(read, () => Promise.resolve(new Map([["a", 1]])), { agent }),
    ).toMatchObject({ ran: true });
    const given = makeKit({ policy: named(["TOKEN"]), vault }).gate.run(
      call,
      () => Promise.resolve(new Map([["a", 1]])),
      { agent },
    );
    await expect(given).rejects.toMatchObject({ code: "secret_refused" });
  });

  it("leaves placeholders as text where there is no vault, and masks nothing where it is empty", async () => {
    const { seen } = await perform(allowAll, undefined);
    expect(seen[0]?.action).toBe(call);
    const plain = toolAction("github", "t", {});
    const empty = await perform(allowAll, createVault([]), plain);
    expect(empty.seen[0]?.action).toBe(plain);
    expect(empty.seen[0]?.masker()).toBe(undefined);
    const bytes = (await perform(allowAll, vault, plain)).seen[0]?.masker();
    expect(
      Buffer.concat([
        bytes?.push(Buffer.from(value)) ?? [],
        bytes?.end() ?? [],
      ] as Uint8Array[]).toString(),
    ).toBe("[secret TOKEN]");
  });

  it("reads the secrets anew for every release", async () => {
    let secrets: readonly Secret[] = [];
    const changing = createVault(() => secrets);
    expect((await perform(named(["TOKEN"]), changing)).result).toMatchObject({ ran: false });
    secrets = Object.freeze([token]);
    expect((await perform(named(["TOKEN"]), changing)).result).toMatchObject({ ran: true });
  });
});

describe("the injected action", () => {
  it("is frozen, prints its placeholders, and is no action to a gate or a digest", async () => {
    const { seen, gate } = await perform(named(["TOKEN"]), vault);
    const action = seen[0]?.action ?? call;
    expect(
      Object.isFrozen(action) && Object.isFrozen(action.args) && Object.isFrozen(seen[0]),
    ).toBe(true);
    for (const shown of [
      JSON.stringify(action),
      inspect(action, { depth: null }),
      inspect(seen[0], { depth: null }),
    ]) {
      expect(shown).toContain("{{secret:TOKEN}}");
      expect(shown).not.toContain(value);
    }
    expect(JSON.stringify(action.args)).toContain(value);
    expect(() => actionDigest(action)).toThrow(expect.objectContaining({ code: "action_invalid" }));
    expect(await gate(action, { agent })).toMatchObject({ code: "action_invalid" });
  });

  it("is made once of each release, and of nothing that only looks like one", async () => {
    const { seen } = await perform(named(["TOKEN"]), undefined);
    const [release] = seen;
    if (release === undefined) throw new Error("nothing was performed");
    const refused = expect.objectContaining({ code: "secret_refused" }) as Error;
    expect(() => injectSecrets({ ...release }, [token])).toThrow(refused);
    const injected = injectSecrets(release, [token]);
    expect(() => injectSecrets(release, [token])).toThrow(refused);
    expect(() => injectSecrets(injected, [token])).toThrow(refused);
  });

  it("does not grow without bound", async () => {
    const long = new Secret({ name: "LONG", value: "x".repeat(16_384), servers: ["*"] });
    const many = (count: number): typeof call =>
      toolAction("github", "t", { a: "{{secret:LONG}}".repeat(count) });
    expect((await perform(named(["LONG"]), createVault([long]), many(64))).result).toMatchObject({
      ran: true,
    });
    expect((await perform(named(["LONG"]), createVault([long]), many(65))).result).toMatchObject({
      ran: false,
    });
  });
});
