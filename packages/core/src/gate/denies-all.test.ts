import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { shellAction, toolAction } from "../action/action.js";
import type { Layer } from "../layers.js";
import { parsePolicy } from "../policy/parse.js";
import { deniesAll } from "./denies-all.js";
import { combine, hear } from "./evaluate.js";
import type { Judges } from "./evaluate.js";

const judges = (policy: object | undefined, layers: readonly Layer[] = []): Judges => ({
  policy: policy === undefined ? undefined : parsePolicy(policy),
  layers,
  observed: undefined,
  askTimeoutMs: 1_000,
  groups: {},
  defaultOffers: () => [],
});
const rules = (...all: readonly object[]): object => ({
  version: "1",
  default: "allow",
  rules: all,
});
const deny = (match: object, more: object = {}): object => ({ match, action: "deny", ...more });
const tool = toolAction("files", "delete_file", {});

describe("deniesAll()", () => {
  it.each([
    ["the tool by its name", rules(deny({ tool: "delete_*" })), true],
    ["the tool of this server", rules(deny({ tool: "delete_*", server: "files" })), true],
    ["the tool of another server", rules(deny({ tool: "delete_*", server: "mail" })), false],
    ["everything", rules(deny({ kind: "*" })), true],
    ["a category", rules(deny({ category: "system" })), true],
    ["some arguments", rules(deny({ tool: "*", args: { path: "/etc/*" } })), false],
    [
      "at some times",
      rules(
        deny({ tool: "*" }, { conditions: { time_of_day: { after: "08:00", before: "12:00" } } }),
      ),
      false,
    ],
    [
      "behind a rule that allows some arguments",
      rules(
        { match: { tool: "delete_file", args: { path: "/tmp/*" } }, action: "allow" },
        deny({ tool: "*" }),
      ),
      false,
    ],
    [
      "behind a rule that asks",
      rules({ match: { tool: "*" }, action: "ask" }, deny({ tool: "*" })),
      false,
    ],
    [
      "behind a rule for another server",
      rules({ match: { tool: "*", server: "mail" }, action: "allow" }, deny({ tool: "*" })),
      true,
    ],
    ["by the default alone", { version: "1", default: "deny", rules: [] }, true],
    ["nothing", { version: "1", default: "ask", rules: [] }, false],
    ["all of it, for there is no policy", undefined, true],
  ])("of a policy that denies %s", (_, policy, want) => {
    expect(deniesAll(judges(policy), tool)).toBe(want);
  });

  it("of a default that a layer could overrule", () => {
    const policy = { version: "1", default: "deny" };
    const allows: Layer = {
      name: "x",
      judge: () => ({ effect: "allow", ruleId: "x", reason: "x" }),
    };
    expect(deniesAll(judges(policy, [allows]), tool)).toBe(false);
    expect(deniesAll(judges(rules(deny({ tool: "*" })), [allows]), tool)).toBe(true);
    const restricts = { ...allows, onlyRestricts: true };
    expect(deniesAll(judges(policy, [restricts]), tool)).toBe(true);
    // It said that it never does.
    const heard = combine(
      hear(judges(policy, [restricts]), tool, { agent: { id: "a" }, nowMs: 0 }),
    );
    expect(heard).toMatchObject({ ruling: { effect: "deny" }, failure: "layer_failed" });
    expect(deniesAll(judges(policy), shellAction("rm x"))).toBe(false);
  });

  it("is true of no tool of which some call is anything but denied", () => {
    const match = fc
      .record(
        {
          tool: fc.constantFrom("delete_file", "delete_*", "*", "read_file", "*_file"),
          server: fc.constantFrom("files", "mail", "f*"),
          args: fc.constantFrom({ path: "/tmp/*" }, { path: "*" }, { "n.a": "1" }),
          category: fc.constantFrom("read", "write", "system"),
        },
        { requiredKeys: [] },
      )
      .filter((each) => Object.keys(each).length > 0);
    const rule = fc.record(
      {
        match,
        action: fc.constantFrom("allow", "deny", "deny", "ask"),
        conditions: fc.constant({ time_of_day: { after: "08:00", before: "16:00" } }),
      },
      { requiredKeys: ["match", "action"] },
    );
    const layer: fc.Arbitrary<Layer> = fc
      .record({ effect: fc.constantFrom("allow", "deny", undefined), only: fc.boolean() })
      .map(({ effect, only }) => ({
        name: "other",
        onlyRestricts: only,
        judge: () => (effect === undefined ? undefined : { effect, ruleId: "x", reason: "x" }),
      }));
    const call = fc.record({
      args: fc.record(
        { path: fc.constantFrom("/tmp/a", "/etc/passwd", ""), n: fc.constantFrom({ a: "1" }, 1) },
        { requiredKeys: [] },
      ),
      nowMs: fc.integer({ min: 0, max: 14 * 24 * 60 * 60 * 1_000 }),
    });
    fc.assert(
      fc.property(
        fc.array(rule, { maxLength: 4 }),
        fc.constantFrom("deny", "allow", "ask"),
        fc.array(layer, { maxLength: 1 }),
        fc.tuple(fc.constantFrom("files", "mail"), fc.constantFrom("delete_file", "read_file")),
        fc.array(call, { minLength: 8, maxLength: 8 }),
        (all, fallback, layers, [server, name], calls) => {
          const by = judges({ version: "1", default: fallback, rules: all }, layers);
          if (!deniesAll(by, toolAction(server, name, {}))) return;
          for (const { args, nowMs } of calls) {
            const heard = hear(by, toolAction(server, name, args), { agent: { id: "a" }, nowMs });
            expect(combine(heard).ruling.effect).toBe("deny");
          }
        },
      ),
      { numRuns: 400 },
    );
  });
});
