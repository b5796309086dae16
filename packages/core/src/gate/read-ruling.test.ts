import { describe, expect, it } from "vitest";
import { agent, allowAll, asPending, makeKit } from "../../test/gate-kit.js";
import { toolAction } from "../index.js";
import { readRuling } from "./read-ruling.js";

const write = toolAction("files", "write_file", { path: "a.txt" });
const good = { effect: "allow", ruleId: "r", reason: "because" } as const;
const claim = { key: "k", amount: 1, max: 1, windowMs: 1_000 };
const offer = { scope: { kind: "tool", server: "s", tool: "t" }, ttlMs: 1_000 };

class Says {
  readonly effect = "allow";
  readonly ruleId = "r";
  readonly reason = "";
}

let read = 0;
/** Allows when it is checked and asks when it is used, or the other way round. */
const changing = {
  ruleId: "r",
  reason: "",
  get effect(): string {
    return read++ === 0 ? "ask" : "allow";
  },
};

const BROKEN: readonly (readonly [string, unknown])[] = [
  ["null", null],
  ["a text", "allow"],
  ["a list", [good]],
  ["a promise", Promise.resolve(good)],
  ["a promise with the members of one", Object.assign(Promise.resolve(), good)],
  // oxlint-disable-next-line unicorn/no-thenable -- what is refused
  ["something thenable", { ...good, then: () => undefined }],
  ["an instance of a class", new Says()],
  ["an effect that is a list", { ...good, effect: ["allow"] }],
  ["an effect that turns into text", { ...good, effect: { toString: () => "allow" } }],
  ["an effect of Object.prototype", { ...good, effect: "toString" }],
  ["an effect behind a getter", changing],
  [
    "a Proxy that throws",
    new Proxy(good, {
      ownKeys: () => {
        throw new Error("no more keys");
      },
    }),
  ],
  ["no rule id", { effect: "allow", reason: "" }],
  ["a reason that is no text", { ...good, reason: 1 }],
  ["a level that is a list", { ...good, level: ["low"] }],
  ["an unknown level", { ...good, level: "none" }],
  ["secrets that are a text", { ...good, secrets: "TOKEN" }],
  ["a secret with an empty name", { ...good, secrets: [""] }],
  ["a secret that is no name", { ...good, secrets: [["TOKEN"]] }],
  ["a claim that gives back", { ...good, limits: [{ ...claim, amount: -1 }] }],
  ["a claim on less than nothing", { ...good, limits: [{ ...claim, max: -1 }] }],
  ["a claim without a window", { ...good, limits: [{ ...claim, windowMs: 0 }] }],
  ["a claim that is not a number", { ...good, limits: [{ ...claim, max: Number.NaN }] }],
  ["limits that are not a list", { ...good, limits: claim }],
  ["approvers that are a text", { ...good, effect: "ask", ask: { approvers: "ann" } }],
  ["an approver that is a list", { ...good, effect: "ask", ask: { approvers: [["ann"]] } }],
  ["a quorum that is a text", { ...good, effect: "ask", ask: { quorum: "1" } }],
  ["evidence that is a list", { ...good, effect: "ask", ask: { evidence: ["any"] } }],
  [
    "steps that are not a list",
    { ...good, effect: "ask", ask: { escalate: { every: () => true } } },
  ],
  [
    "an offer whose kind is a list",
    { ...good, effect: "ask", ask: { offers: [{ ...offer, scope: { kind: ["tool"] } }] } },
  ],
  ["terms that are no object", { ...good, effect: "ask", ask: true }],
];

describe("readRuling()", () => {
  it.each(BROKEN)("refuses %s", (_, given) => {
    expect(() => readRuling(given)).toThrow(/it returned no ruling|as JSON|no more keys/);
  });

  it("takes a whole ruling as a copy, without what is undefined, and nothing as nothing", () => {
    const ask = {
      timeoutMs: 1,
      approvers: ["ann"],
      quorum: 1,
      evidence: "any",
      offers: [offer],
      escalate: [{ afterMs: 1, channel: "c" }],
    };
    const whole = {
      ...good,
      effect: "ask",
      level: "low",
      ruleName: "n",
      ask,
      limits: [claim],
      secrets: ["TOKEN"],
    };
    const copy = readRuling({ ...whole, observed: undefined });
    expect(copy).toEqual(whole);
    ask.approvers.push("eve");
    expect(copy?.ask?.approvers).toEqual(["ann"]);
    expect(readRuling(undefined)).toBeUndefined();
  });

  it.each(["reason", "ruleId", "ruleName"] as const)(
    "cuts a %s that would fill the log",
    (member) => {
      expect(
        readRuling({ ...good, [member]: "x".repeat(5_000_000) })?.[member]?.length,
      ).toBeLessThan(5_000);
    },
  );
});

describe("a gate", () => {
  it.each(BROKEN)("denies where a layer or an assessor gives %s", async (_, given) => {
    read = 0;
    const layer = { name: "broken", judge: () => given as never };
    expect(
      await makeKit({ policy: allowAll, layers: [layer] }).gate(write, { agent }),
    ).toMatchObject({ code: "layer_failed" });
    read = 0;
    const assessor = { name: "broken", assess: () => Promise.resolve(given as never) };
    // What an assessor gives is awaited: it is no promise any more, and a promise that never
    // settles is the deadline's business.
    if (typeof given === "object" && given !== null && "then" in given) return;
    const verdict = await makeKit({ policy: allowAll, assessors: [assessor] }).gate(write, {
      agent,
    });
    expect(verdict).toMatchObject({ code: "assessor_failed" });
  });

  it("asks what a judge said when it was asked, whatever it says later", async () => {
    const said: { effect: string; ruleId: string; reason: string } = {
      effect: "ask",
      ruleId: "r",
      reason: "",
    };
    const { gate, settle } = makeKit({
      policy: allowAll,
      layers: [{ name: "changing", judge: () => said as never }],
    });
    const pending = asPending(await gate.open(write, { agent }));
    said.effect = "allow";
    await settle();
    expect(pending.decision).toBe("pending");
    await pending.withdraw("enough");
  });
});
