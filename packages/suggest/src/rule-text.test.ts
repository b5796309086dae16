import { describe, expect, it } from "vitest";
import fc from "fast-check";
import type { JsonObject } from "@acp/core";
import { readRuleText, ruleText } from "./rule-text.js";

const rule: JsonObject = {
  id: "allow-files-write_file",
  match: {
    server: "files",
    tool: "write_file",
    args: { path: { path: "~/p/**" }, content: "*", "options.mode": "no", limit: 5, on: true },
  },
  action: "allow",
  conditions: { time_of_day: { after: "09:00", timezone: "Europe/Berlin" } },
};

describe("ruleText()", () => {
  it("writes a rule as people do", () => {
    expect(ruleText(rule, 2)).toBe(`  - id: allow-files-write_file
    match:
      server: files
      tool: write_file
      args:
        path: { path: "~/p/**" }
        content: "*"
        options.mode: "no"
        limit: 5
        "on": true
    action: allow
    conditions:
      time_of_day:
        after: "09:00"
        timezone: "Europe/Berlin"
`);
  });

  it("hides nothing: what could reorder or vanish is written out", () => {
    expect(ruleText({ match: { tool: "a\u202eb\u200b\n" } }, 0)).toBe(
      '- match:\n    tool: "a\\u202eb\\u200b\\n"\n',
    );
  });

  it("reads back as the rule that was meant, whatever its texts are", () => {
    const odd = fc.constantFrom("yes", "null", "- a", "a: b", "#", "1", "0x1", "~", "|", "\u2028");
    // YAML would merge "<<", and a literal of ours would not have "__proto__" as a key.
    const texts = fc
      .oneof(fc.string({ unit: "binary", minLength: 1, maxLength: 8 }), odd)
      .filter((text) => text !== "<<" && text !== "__proto__");
    const leaf = fc.oneof(texts, fc.integer(), fc.boolean());
    const maps = fc.dictionary(
      texts,
      fc.oneof(leaf, fc.dictionary(texts, leaf, { minKeys: 1, maxKeys: 2 })),
      { minKeys: 1, maxKeys: 3 },
    );
    fc.assert(
      fc.property(maps, maps, fc.integer({ min: 0, max: 6 }), (match, args, indent) => {
        const meant: JsonObject = { id: "a", match: { ...match, args }, action: "allow" };
        expect(readRuleText(ruleText(meant, indent), meant)).toEqual(meant);
      }),
    );
  });
});

describe("readRuleText()", () => {
  it.each([
    ["another rule", ruleText(rule, 2).replace("files", "others")],
    ["two rules", ruleText(rule, 2) + ruleText(rule, 2)],
    ["no YAML", "  - {"],
    ["no map", "  - text\n"],
  ])("refuses %s", (_what, text) => {
    expect(readRuleText(text, rule)).toBeUndefined();
  });
});
