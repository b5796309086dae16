import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { allowAll, askAll, denyAll } from "../../test/gate-kit.js";
import { combine, hear, type Judges } from "./evaluate.js";
import type { Layer } from "../layers.js";
import { shellAction, toolAction } from "../action/action.js";
import type { Effect } from "../types/words.js";

const action = toolAction("files", "write_file", {});
const facts = { agent: { id: "demo" }, nowMs: 0 };
const evaluate = (...heard: Parameters<typeof hear>) => combine(hear(...heard));
const says = (effect: Effect | undefined, i = 0): Layer => ({
  name: `l${i}`,
  judge: () => (effect === undefined ? undefined : { effect, ruleId: `r${i}`, reason: "" }),
});
const judges = (part: Partial<Judges>): Judges => ({
  policy: undefined,
  layers: [],
  observed: undefined,
  askTimeoutMs: 1_000,
  groups: {},
  defaultOffers: () => [],
  ...part,
});

describe("evaluate()", () => {
  it("takes a command's risk from the layer that reads commands, so that it is the level that the layer asks for", () => {
    const exec: Layer = {
      name: "exec",
      judge: () => ({ effect: "ask", ruleId: "exec.x", reason: "", level: "critical" }),
    };
    const of = (layers: readonly Layer[], judged = shellAction("rm -rf /")): readonly string[] => {
      const { risk, level } = evaluate(judges({ policy: askAll, layers }), judged, facts);
      return [risk, level];
    };
    expect(of([exec])).toEqual(["critical", "critical"]);
    expect(
      of([
        {
          ...exec,
          judge: () => ({ effect: "ask", ruleId: "exec.x", reason: "", level: "medium" }),
        },
      ]),
    ).toEqual(["medium", "medium"]);
    expect(of([])).toEqual(["high", "high"]);
  });

  it("uses the default only where every layer abstains", () => {
    expect(
      evaluate(judges({ policy: denyAll, layers: [says("allow")] }), action, facts).ruling.effect,
    ).toBe("allow");
    expect(
      evaluate(judges({ policy: denyAll, layers: [says(undefined)] }), action, facts),
    ).toMatchObject({
      layer: "default",
      ruling: { effect: "deny" },
    });
    expect(evaluate(judges({ policy: askAll }), action, facts).ruling.effect).toBe("ask");
    expect(evaluate(judges({}), action, facts).ruling.effect).toBe("deny");
  });

  it("puts deny over ask over allow, in any order, and a deny more never makes an allow", () => {
    const effects = fc.array(
      fc.constantFrom<(Effect | undefined)[]>("allow", "ask", "deny", undefined),
      { maxLength: 6 },
    );
    fc.assert(
      fc.property(effects, fc.nat(), (list, at) => {
        const before = evaluate(judges({ policy: allowAll, layers: list.map(says) }), action, facts)
          .ruling.effect;
        const spoken = list.filter((effect) => effect !== undefined);
        const want = spoken.includes("deny") ? "deny" : spoken.includes("ask") ? "ask" : "allow";
        expect(before).toBe(want);
        const guarded = [
          ...list.slice(0, at % (list.length + 1)),
          "deny" as const,
          ...list.slice(at % (list.length + 1)),
        ];
        expect(
          evaluate(judges({ policy: allowAll, layers: guarded.map(says) }), action, facts).ruling
            .effect,
        ).toBe("deny");
      }),
    );
  });

  it("keeps every layer's word, and the highest level", () => {
    const low: Layer = {
      name: "low",
      judge: () => ({ effect: "ask", ruleId: "a", reason: "", level: "low" }),
    };
    const high: Layer = {
      name: "high",
      judge: () => ({ effect: "allow", ruleId: "b", reason: "", level: "high" }),
    };
    const evaluation = evaluate(judges({ layers: [low, says(undefined, 9), high] }), action, facts);
    expect(evaluation.rulings.map(({ layer, ruling }) => [layer, ruling?.effect])).toEqual([
      ["low", "ask"],
      ["l9", undefined],
      ["high", "allow"],
    ]);
    expect(evaluation.level).toBe("high");
    expect(evaluation.risk).toBe("medium");
  });

  it("takes a policy whose classify throws for the worst", () => {
    const broken = {
      ...allowAll,
      judge: () => undefined,
      classify: () => {
        throw new Error("x");
      },
    };
    expect(evaluate(judges({ policy: broken }), action, facts)).toMatchObject({
      category: "system",
      risk: "critical",
    });
  });
});

describe("evaluate() of a tool that is not presented as it was pinned", () => {
  const tool = { server: "files", name: "write_file" };

  it.each(["new", "same", undefined] as const)("lets one that is %s be judged", (pinned) => {
    const known = { ...facts, tool: pinned === undefined ? tool : { ...tool, pinned } };
    expect(evaluate(judges({ policy: allowAll }), action, known).ruling.effect).toBe("allow");
  });

  it("denies a changed one with its own code, whatever allows or asks for it", () => {
    const changed = { ...facts, tool: { ...tool, pinned: "changed", notes: ["why"] } } as const;
    for (const policy of [allowAll, askAll])
      expect(evaluate(judges({ policy }), action, changed)).toMatchObject({
        failure: "definition_changed",
        ruling: { effect: "deny", ruleId: "definition:pinned", reason: "why" },
      });
    expect(evaluate(judges({ policy: denyAll }), action, changed).ruling.effect).toBe("deny");
  });

  it("denies one that its server does not present, with a code of its own", () => {
    const unknown = { ...facts, tool: { ...tool, pinned: "unknown" } } as const;
    for (const policy of [allowAll, askAll])
      expect(evaluate(judges({ policy }), action, unknown)).toMatchObject({
        failure: "definition_unknown",
        ruling: { effect: "deny", ruleId: "definition:unknown" },
      });
  });
});
