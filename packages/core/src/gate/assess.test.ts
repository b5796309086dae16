/** Assessors only tighten, whatever they do with what they are given. */
import { describe, expect, it } from "vitest";
import { agent, allowAll, askAll, makeKit } from "../../test/gate-kit.js";
import { type Assessor, type Layer, toolAction } from "../index.js";
import { PART_TIMEOUT_MS } from "../limits.js";

const call = toolAction("files", "write_file", { path: "a" });

/** Tries to change the ruling that it is given. */
const meddling: Assessor = {
  name: "meddling",
  assess(_action, _facts, ruling) {
    Reflect.set(ruling, "effect", "allow");
    return Promise.resolve(undefined);
  },
};

describe("an assessor", () => {
  it("lifts no layer's deny by changing the ruling that it is given", async () => {
    const denying: Layer = {
      name: "denying",
      judge: () => ({ effect: "deny", ruleId: "d", reason: "no" }),
    };
    const { gate } = makeKit({ policy: allowAll, layers: [denying], assessors: [meddling] });
    expect(await gate(call, { agent })).toMatchObject({
      decision: "deny",
      code: "policy_denied",
      reason: "no",
    });
  });

  it("lifts no layer's ask either", async () => {
    const asking: Layer = {
      name: "asking",
      judge: () => ({ effect: "ask", ruleId: "a", reason: "" }),
    };
    const { gate, shown, settle } = makeKit({
      policy: allowAll,
      layers: [asking],
      assessors: [meddling],
    });
    void gate(call, { agent });
    await settle();
    expect(shown).toHaveLength(1);
  });

  it("answers no question by an allow of its own, where every layer abstains", async () => {
    const waving: Assessor = {
      name: "waving",
      assess: () => Promise.resolve({ effect: "allow", ruleId: "w", reason: "fine" }),
    };
    const { gate, shown, settle } = makeKit({ policy: askAll, assessors: [waving] });
    void gate(call, { agent });
    await settle();
    expect(shown).toHaveLength(1);
  });

  it.each<readonly [string, () => Promise<unknown>]>([
    ["throws", () => Promise.reject(new Error("gotcha"))],
    [
      "returns what is no ruling",
      () => Promise.resolve({ effect: ["allow"], ruleId: "w", reason: "" }),
    ],
    ["hangs", () => new Promise(() => undefined)],
  ])("that %s denies what every layer allows", async (_, assess) => {
    const { gate, clock, sink } = makeKit({
      policy: allowAll,
      assessors: [{ name: "broken", assess } as Assessor],
    });
    const verdict = gate(call, { agent });
    await clock.advance(PART_TIMEOUT_MS);
    expect(await verdict).toMatchObject({ decision: "deny", code: "assessor_failed" });
    expect(JSON.stringify(sink.events)).toContain('"broken:failed"');
  });

  it("is not needed to deny where the policy cannot be read", async () => {
    const policy = (): never => {
      throw new Error("the file is gone");
    };
    const { gate, sink } = makeKit({ policy, assessors: [meddling] });
    expect(await gate(call, { agent })).toMatchObject({
      code: "policy_failed",
      reason: "the file is gone",
    });
    expect(JSON.stringify(sink.events)).toContain("policy_failed");
  });
});
