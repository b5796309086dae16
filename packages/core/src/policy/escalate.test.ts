import { describe, expect, it } from "vitest";
import type { JsonValue } from "../json/value.js";
import { escalate } from "./escalate.js";
import { parsePolicy } from "./parse.js";
import { readWhole } from "./shape.js";
import { spotOf } from "./spot.js";

const parse = (value: JsonValue) => readWhole(escalate, spotOf(value, ["escalate"]), undefined);

describe("escalate", () => {
  it("reads people, groups and channels, with seconds as milliseconds", () => {
    expect(
      parse([
        { after: 0.5, to: "ada" },
        { after: 300, to: ["oncall", "bob"], channel: "telegram" },
        { after: 300, channel: "web" },
      ]),
    ).toEqual([
      { afterMs: 500, approvers: ["ada"] },
      { afterMs: 300_000, approvers: ["oncall", "bob"], channel: "telegram" },
      { afterMs: 300_000, channel: "web" },
    ]);
  });

  it.each<[string, JsonValue, string]>([
    ["no list", {}, "expected a list"],
    ["no step", [], "the list is empty"],
    ["a step to nobody", [{ after: 5 }], 'a step has "after", and "to" or "channel" or both'],
    ["a step to an empty list", [{ after: 5, to: [] }], "escalated to nobody"],
    ["a step without a time", [{ to: "ada" }], 'a step has "after"'],
    ["a step at once", [{ after: 0, to: "ada" }], "expected a number from 0.001"],
    ["a step after a week", [{ after: 604_801, to: "ada" }], "to 604800"],
    [
      "steps out of order",
      [
        { after: 5, to: "ada" },
        { after: 4, to: "bob" },
      ],
      "not in ascending order",
    ],
    ["a channel that is none", [{ after: 5, channel: "My Phone" }], "is not a channel's name"],
    ["an unknown key", [{ after: 5, to: "ada", via: "web" }], "unknown key"],
    [
      "more steps than anybody waits for",
      Array.from({ length: 17 }, () => ({ after: 5, to: "ada" })),
      "more than 16 steps",
    ],
  ])("refuses %s", (_, value, why) => {
    expect(() => parse(value)).toThrow(why);
  });
});

describe("a rule that escalates", () => {
  const load = (rule: object) =>
    parsePolicy({ version: "1", rules: [{ match: { tool: "*" }, action: "ask", ...rule }] });

  it("does not load where a step comes after the question's end, nor where nobody is asked", () => {
    expect(() => load({ timeout: 60, escalate: [{ after: 60, to: "ada" }] })).toThrow(
      "the question ends after 60 s",
    );
    expect(() => load({ action: "allow", escalate: [{ after: 60, to: "ada" }] })).toThrow(
      '"escalate" means nothing',
    );
  });

  it("warns where it cannot know when the question ends", () => {
    expect(load({ escalate: [{ after: 60, to: "ada" }] }).warnings).toEqual([
      expect.stringContaining("rules[0].escalate may come too late"),
    ]);
    expect(load({ timeout: 61, escalate: [{ after: 60, to: "ada" }] }).warnings).toEqual([]);
  });
});
