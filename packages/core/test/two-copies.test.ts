/**
 * Two copies of the package in one process, as two versions in one node_modules make them: neither
 * takes the other's rights, and each says why.
 */
import { beforeAll, describe, expect, it, vi } from "vitest";
import * as channelsHere from "../src/channels.js";
import * as here from "../src/index.js";
import * as policiesHere from "../src/policy.js";
import type * as proofsHere from "../src/proof.js";
import type * as vaultsHere from "../src/vault.js";
import { agent, allowAll, denyAll, makeKit } from "./gate-kit.js";

const OTHER = "another copy of @acp/core";
const plain = (name: string): here.Channel => ({ name, deliver: () => Promise.resolve() });

describe("another copy's", () => {
  let there: typeof here;
  let channels: typeof channelsHere;
  let policies: typeof policiesHere;
  let proofs: typeof proofsHere;
  let vaults: typeof vaultsHere;

  beforeAll(async () => {
    vi.resetModules();
    [there, channels, policies, proofs, vaults] = await Promise.all([
      import("../src/index.js"),
      import("../src/channels.js"),
      import("../src/policy.js"),
      import("../src/proof.js"),
      import("../src/vault.js"),
    ]);
  });

  it("functions are others", () => {
    expect(there.createConsentGate).not.toBe(here.createConsentGate);
  });

  const refusal = expect.objectContaining({
    code: "options_invalid",
    message: expect.stringContaining(OTHER),
  });

  it("policy, signer, vault and composed channel are refused when a gate is made", () => {
    expect(() =>
      makeKit({ policy: policies.parsePolicy({ version: "1", default: "allow" }) }),
    ).toThrow(refusal);
    expect(() => makeKit({ signer: proofs.createConsentSigner(proofs.generateKeyPair()) })).toThrow(
      refusal,
    );
    expect(() => makeKit({ vault: vaults.createVault([]) })).toThrow(refusal);
    const composed = channels.firstOf(plain("a"), plain("b"));
    expect(() => makeKit({ channel: composed })).toThrow(refusal);
    expect(() => makeKit({ channel: channelsHere.toAll(plain("c"), composed) })).toThrow(refusal);
  });

  it("action and permit are refused when they are used", async () => {
    const { gate } = makeKit({ policy: allowAll });
    const action = there.toolAction("files", "read_file", {});
    expect(await gate(action, { agent })).toMatchObject({
      code: "action_invalid",
      reason: expect.stringContaining("another copy"),
    });
    const verdict = await there.createConsentGate({
      policy: policies.parsePolicy({ version: "1", default: "allow" }),
      channel: plain("a"),
      audit: { append: () => Promise.resolve({ seq: 0, hash: "" }) },
    })(action, { agent });
    if (verdict.decision !== "allow") throw new Error(verdict.code);
    const perform = (): Promise<string> => Promise.resolve("ran");
    expect(await gate.perform(verdict, perform)).toMatchObject({
      verdict: { code: "permit_refused", reason: expect.stringContaining(OTHER) },
    });
    expect(() => here.redeem(verdict.permit, here.toolAction("files", "read_file", {}))).toThrow(
      expect.objectContaining({ code: "permit_unknown", message: expect.stringContaining(OTHER) }),
    );
    await expect(gate.report(verdict, { status: "performed" })).rejects.toThrow(OTHER);
  });

  it("label makes nothing of what has it", async () => {
    const real = policiesHere.parsePolicy({ version: "1", default: "allow" });
    const labels = Object.getOwnPropertySymbols(real).map(
      (key) => [key, Reflect.get(real, key)] as const,
    );
    expect(labels).toHaveLength(1);
    const forged = Object.defineProperties(
      { ...real },
      Object.fromEntries(labels.map(([key, value]) => [key, { value }])),
    );
    expect(() => makeKit({ policy: forged })).toThrow(
      expect.objectContaining({ code: "options_invalid" }),
    );
    const made = { name: "x", args: {}, meta: Object.freeze({ kind: "tool", server: "s" }) };
    expect(
      await makeKit({ policy: denyAll }).gate(Object.freeze(made) as never, { agent }),
    ).toMatchObject({ code: "action_invalid" });
  });
});
