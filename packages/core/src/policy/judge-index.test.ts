import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { httpAction, shellAction, toolAction } from "../action/action.js";
import type { Action } from "../action/action.js";
import type { JsonObject, JsonValue } from "../json/value.js";
import { createClassifier } from "./classify.js";
import { createZoneClocks } from "./conditions.js";
import { createIndexedMatch, createPlainMatch } from "./judge.js";
import type { PathOrigins } from "./path.js";
import { createReader } from "./readings.js";
import { rule } from "./rule.js";
import type { Rule } from "./rule.js";
import { readWhole } from "./shape.js";
import { spotOf } from "./spot.js";

const facts = { agent: { id: "agent" }, nowMs: Date.UTC(2026, 0, 5, 12) };

/** Reads rules; one that does not load is left out. */
function load(sources: readonly JsonObject[], origins: PathOrigins): readonly Rule[] {
  const context = {
    origins,
    read: createReader(),
    clocks: createZoneClocks(),
    classify: createClassifier([]),
    warn: () => undefined,
    onDeniedPath: () => undefined,
  };
  return sources.flatMap((source, index) => {
    const spot = spotOf(source, ["rules", index]);
    try {
      return [readWhole(rule, spot, context)];
    } catch {
      return [];
    }
  });
}

/** Spellings that some reading takes for the ASCII character. */
const SPELLINGS: ReadonlyMap<string, readonly string[]> = new Map([
  ["a", ["A", "\u0430", "á", "a\u0301", "a\u200d", "ａ"]],
  ["k", ["K", "\u212a", "\u200dk"]],
  ["i", ["I", "İ", "ı", "і"]],
  ["s", ["S", "ſ", "ѕ"]],
  ["t", ["T", "т", "ﬅ"]],
  ["1", ["１", "¹"]],
  ["/", ["／", "//", "/./", "\\"]],
  [".", ["．", "․"]],
  ["~", ["～", "~/~"]],
]);
/** An ASCII text, and what is written in its place. */
const spelled = (base: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc.tuple(base, fc.array(fc.nat(15), { minLength: 1, maxLength: 8 })).map(([word, choices]) =>
    Array.from(word, (character, at) => {
      const others = SPELLINGS.get(character) ?? [];
      return others[(choices[at % choices.length] ?? 0) - 8] ?? character;
    }).join(""),
  );
const WORDS = [
  "kasi",
  "kasi_1",
  "kas",
  "Taki",
  "t",
  "1",
  "/srv/p1/a",
  "~/kasi",
  "../a",
  "/home/ada/a",
  "",
];
const text = spelled(
  fc
    .tuple(fc.constantFrom(...WORDS), fc.constantFrom(...WORDS, "..", "\uffff", "\0"))
    .map((two) => two.join("")),
);
const glob = spelled(
  fc
    .tuple(fc.constantFrom(...WORDS), fc.nat(9), fc.constantFrom("*", "?", "", "*i", "1*"))
    .map(([word, length, end]) => `${word.slice(0, length)}${end}`),
).filter((each) => each !== "");
const path = spelled(
  fc
    .tuple(
      fc.constantFrom("/", "~/", "", "/srv/", "/home/ada/"),
      fc.array(fc.constantFrom("p1", "kasi", "a", "**", "*", "a?"), { maxLength: 3 }),
    )
    .map(([start, segments]) => start + segments.join("/")),
);
const key = spelled(fc.constantFrom("to", "a", "a.k"));
const host = fc.constantFrom(
  "example.com",
  "*.example.com",
  "*example.com",
  "a.*",
  "*",
  "a?.example.com",
  "*.münchen.de",
  "*.xn--mnchen-3ya.de",
  "x.xn--mnchen-3ya.*",
  "127.0.0.1",
  "[::1]",
);

const pattern: fc.Arbitrary<JsonValue> = fc.oneof(
  glob,
  path.map((each): JsonValue => ({ path: each })),
  fc.constantFrom<JsonValue>(1, 1.5, true, { k: "a*" }, { path: "/srv/p1", k: "a" }),
);
const value: fc.Arbitrary<JsonValue> = fc.oneof(
  { weight: 4, arbitrary: text },
  path,
  fc.constantFrom<JsonValue>(null, 1, 1.5, true, [], {}),
  fc.array(text, { maxLength: 3 }),
  fc.dictionary(fc.oneof(key, text), fc.oneof(text, fc.array(text, { maxLength: 2 })), {
    maxKeys: 2,
  }),
);
const args = fc.dictionary(key, value, { minKeys: 1, maxKeys: 2 });
/** Names and commands have no NUL. */
const named = text.map((each) => each.replaceAll("\0", ""));
const HOSTS = [
  "example.com",
  "a.example.com",
  "xexample.com",
  "a.münchen.de",
  "x.xn--mnchen-3ya.de",
  "127.0.0.1",
  "[::1]",
];
const argumentsOf = fc.dictionary(key, pattern, { minKeys: 1, maxKeys: 2 });
const toolCall = fc
  .tuple(named, args)
  .map(([name, given]) => toolAction("s", name.trim() === "" ? "t" : name, given));
const commandLine = named.map((each) => shellAction(`a ${each}`));
const request = fc.constantFrom(...HOSTS).map((each) => httpAction("GET", `https://${each}/`));
const ofHost = fc.record(
  { host, method: fc.constantFrom("GET", "P*"), port: fc.constant(443) },
  { requiredKeys: ["host"] },
);
const ofName = fc.oneof(
  fc.record({ tool: glob }),
  fc.record({ name: glob }),
  fc.record({ server: glob }),
);
const ofCommand = fc.record({ kind: fc.constant("shell"), args: glob });
const ofTool = fc.record(
  { tool: glob, server: glob, args: argumentsOf, category: fc.constantFrom("read", "write") },
  { requiredKeys: [] },
);
const ofPath = fc.record({
  args: fc.dictionary(
    key,
    path.map((each) => ({ path: each })),
    { minKeys: 1, maxKeys: 1 },
  ),
});

describe("createIndexedMatch()", () => {
  it.each<[string, fc.Arbitrary<JsonObject>, fc.Arbitrary<Action>]>([
    ["names", ofName, fc.oneof(toolCall, commandLine)],
    ["arguments", fc.record({ args: argumentsOf }), toolCall],
    ["paths", ofPath, toolCall],
    ["commands", ofCommand, commandLine],
    ["hosts", ofHost, request],
    [
      "everything",
      fc.oneof(ofTool, ofName, ofHost, ofCommand),
      fc.oneof(toolCall, commandLine, request),
    ],
  ])("says of %s what the rules say that are tested one after the other", (_, match, action) => {
    let [rulings, pairs] = [0, 0];
    const source = fc.record({ match, action: fc.constantFrom("allow", "ask", "deny") });
    const homes = fc.constantFrom("/home/ada", "/home/adá");
    fc.assert(
      fc.property(
        fc.array(source, { minLength: 1, maxLength: 6 }),
        fc.array(action, { minLength: 10, maxLength: 30 }),
        homes,
        (sources, actions, home) => {
          const origins = { home, cwd: "/srv/p1" };
          const rules = load(sources, origins);
          const [plain, indexed] = [createPlainMatch(rules), createIndexedMatch(rules, origins)];
          for (const each of actions) {
            const wanted = plain(each, facts);
            expect(indexed(each, facts)?.ruleId).toBe(wanted?.ruleId);
            pairs += 1;
            if (wanted !== undefined) rulings += 1;
          }
        },
      ),
      { numRuns: 2_000 },
    );
    expect(rulings).toBeGreaterThan(pairs / 25);
  });

  it.each<[what: string, match: JsonObject, action: Action, home?: string]>([
    [
      "a name of several places",
      { args: { "a.k": "x*" } },
      toolAction("s", "t", { a: { k: "xy" } }),
    ],
    [
      "a map that has more than a path",
      { args: { a: { path: "/a/b/*", k: "x" } } },
      toolAction("s", "t", { a: { path: "/a/b/../c", k: "x" } }),
    ],
    [
      "a host in the letters that people read",
      { host: "*.münchen.de" },
      httpAction("GET", "https://a.xn--mnchen-3ya.de/"),
    ],
    [
      "a home with more than one reading",
      { args: { a: { path: "/home/ada/**" } } },
      toolAction("s", "t", { a: "~/kasi" }),
      "/home/adá",
    ],
  ])("knows %s", (_, match, action, home = "/home/ada") => {
    const origins = { home, cwd: "/srv" };
    const rules = load([{ match, action: "deny" }], origins);
    expect(createIndexedMatch(rules, origins)(action, facts)?.ruleId).toBe("rule_1");
  });
});
