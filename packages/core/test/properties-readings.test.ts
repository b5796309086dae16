/**
 * What a pattern allows, the same pattern denies; and what reads like something that it allows, it
 * denies too. `ACP_RUNS` sets how many pairs of pattern and text are tried in each of 16 tests:
 * 62,500 make a million.
 */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { runsInLane } from "../../../tools/fast-check.js";
import { httpAction, shellAction, toolAction } from "../src/index.js";
import type { Action, Effect } from "../src/index.js";
import { parsePolicy } from "../src/policy.js";
import { FOLDS } from "../src/policy/readings.js";
import { facts, origins } from "./policy-arbitraries.js";

const RUNS = { numRuns: Number(process.env["ACP_RUNS"] ?? 100) };
/** This only ends what hangs, also on a machine that stalls. */
const TEST_MS = 3_600_000;

const ODD = [
  "é",
  "e\u0301",
  "\u0301",
  "\u0323",
  "\u200b",
  "\u00ad",
  "ﬁ",
  "İ",
  "ı",
  "ß",
  "ς",
  "Σ",
  "ｄ",
  "е",
  "Ν",
  "𝓁",
  "½",
  "\u202e",
  "／",
  "．",
  "＊",
  "각",
  "か\u3099",
  "💥",
  "\u0345",
  "ﷺ",
  "\u{e0041}",
];
const letters = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom("d", "e", "l", "t", "E", "_", "1", "/", ".", " ") },
  fc.constantFrom(...ODD),
  fc
    .string({ unit: "grapheme", minLength: 1, maxLength: 1 })
    .filter((each) => !/[[\]{}()|\\^!*?\u0000-\u001f\u007f-\u009f]/.test(each)),
);
const join = (parts: readonly string[]): string => parts.join("");
const texts = fc.array(letters, { minLength: 1, maxLength: 10 }).map(join);

/**
 * A text and a pattern made of it, so that they often match: stretches become "*", characters "?".
 */
const pairs: fc.Arbitrary<readonly [pattern: string, text: string]> = texts.chain((text) =>
  fc
    .array(fc.constantFrom("=", "=", "=", "=", "*", "?"), {
      minLength: [...text].length,
      maxLength: [...text].length,
    })
    .map(
      (marks) =>
        [
          [...text]
            .map((character, index) => (marks[index] === "=" ? character : (marks[index] ?? "")))
            .join(""),
          text,
        ] as const,
    ),
);
const anyPairs = fc.oneof(
  { weight: 4, arbitrary: pairs },
  fc.tuple(
    pairs.map(([pattern]) => pattern),
    texts,
  ),
);

const VARIANTS: Readonly<Record<string, readonly string[]>> = {
  d: ["D", "ｄ", "ԁ", "𝐝", "ḍ"],
  e: ["E", "е", "é", "Ε", "ｅ"],
  l: ["L", "𝓁", "Ꮮ"],
  t: ["T", "Τ", "ț"],
  _: ["＿"],
  "1": ["１"],
  ".": ["．"],
  "/": ["／"],
  " ": ["\u00a0"],
};
/**
 * A text that reads like another one: characters are replaced by what looks like them, and what
 * cannot be seen stands between them.
 */
const disguised = (text: string): fc.Arbitrary<string> =>
  fc
    .tuple(
      ...[...text].map((character) =>
        fc.tuple(
          fc.constantFrom(character, ...(VARIANTS[character] ?? [])),
          fc.constantFrom("", "", "", "\u200b", "\u0301", "\u00ad", "\ufe0f", "\u{e0061}"),
        ),
      ),
    )
    .map((parts) => parts.map(join).join(""));

interface Place {
  readonly name: string;
  readonly match: (pattern: string) => object;
  readonly action: (text: string) => Action;
}

const PLACES: readonly Place[] = [
  { name: "tool", match: (tool) => ({ tool }), action: (text) => toolAction("s", text, {}) },
  { name: "server", match: (server) => ({ server }), action: (text) => toolAction(text, "t", {}) },
  {
    name: "argument",
    match: (a) => ({ tool: "*", args: { a } }),
    action: (text) => toolAction("s", "t", { a: text }),
  },
  {
    name: "list of arguments",
    match: (a) => ({ tool: "*", args: { a } }),
    action: (text) => toolAction("s", "t", { a: [text, text] }),
  },
  {
    name: "path",
    match: (path) => ({ tool: "*", args: { a: { path: `/w/${path}` } } }),
    action: (text) => toolAction("s", "t", { a: `/w/${text}` }),
  },
  {
    name: "path in the working directory",
    match: (path) => ({ tool: "*", args: { a: { path } } }),
    action: (text) => toolAction("s", "t", { a: text }),
  },
  {
    name: "key",
    match: (key) => ({ tool: "*", args: { [key]: "x*" } }),
    action: (text) => toolAction("s", "t", { [text]: "xy" }),
  },
  { name: "command", match: (args) => ({ args }), action: (text) => shellAction(text) },
];

/** What the rules say; `undefined` where they do not load or the text makes no action. */
function judged(list: readonly object[], make: () => Action): Effect | "none" | undefined {
  let action: Action;
  let policy: ReturnType<typeof parsePolicy>;
  try {
    policy = parsePolicy({ version: "1", rules: list }, origins);
    action = make();
  } catch {
    return undefined;
  }
  return policy.judge(action, facts)?.effect ?? "none";
}

describe("a deny in front of an allow", () => {
  it.each(PLACES)(
    "leaves nothing to it: $name",
    ({ match, action }) => {
      let allowed = 0;
      fc.assert(
        fc.property(anyPairs, ([pattern, text]) => {
          const make = (): Action => action(text);
          const alone = judged([{ match: match(pattern), action: "allow" }], make);
          if (alone === "allow") allowed++;
          const both = judged(
            [
              { match: match(pattern), action: "deny" },
              { match: match(pattern), action: "allow" },
            ],
            make,
          );
          expect(both).not.toBe("allow");
          if (alone === "allow")
            expect([both, judged([{ match: match(pattern), action: "ask" }], make)]).toEqual([
              "deny",
              "ask",
            ]);
        }),
        RUNS,
      );
      expect(allowed).toBeGreaterThan(runsInLane(RUNS.numRuns) / 20);
    },
    TEST_MS,
  );

  const plain = fc
    .array(fc.constantFrom("d", "e", "l", "t", "_", "1"), { minLength: 1, maxLength: 8 })
    .map(join);
  const cases = plain.chain((text) =>
    fc.tuple(
      fc
        .array(fc.constantFrom("=", "=", "=", "*", "?"), {
          minLength: text.length,
          maxLength: text.length,
        })
        .map((marks) =>
          [...text]
            .map((character, index) => (marks[index] === "=" ? character : (marks[index] ?? "")))
            .join(""),
        ),
      disguised(text),
    ),
  );

  it.each(PLACES)(
    "denies what reads like a text that matches: $name",
    ({ name, match, action }) => {
      fc.assert(
        fc.property(cases, ([pattern, text]) => {
          if (name === "key" && /[*?]/.test(pattern)) return;
          const found = judged(
            [
              { match: match(pattern), action: "deny" },
              { match: { kind: "*" }, action: "allow" },
            ],
            () => action(text),
          );
          if (found !== undefined) expect([pattern, text, found]).toEqual([pattern, text, "deny"]);
        }),
        RUNS,
      );
    },
    TEST_MS,
  );

  it(
    "holds for hosts in both of their spellings",
    () => {
      const labels = fc.constantFrom(
        "bücher",
        "xn--bcher-kva",
        "BÜCHER",
        "b\u00adücher",
        "ｂücher",
        "bucher",
        "b?cher",
        "*cher",
        "x*",
        "xn--*",
        "b*",
        "*",
      );
      fc.assert(
        fc.property(labels, labels, (pattern, label) => {
          const make = (): Action => httpAction("GET", `https://${label}.example/`);
          const match = { host: `${pattern}.example` };
          const alone = judged([{ match, action: "allow" }], make);
          const deny = judged([{ match, action: "deny" }], make);
          if (alone === "allow") expect([pattern, label, deny]).toEqual([pattern, label, "deny"]);
        }),
        RUNS,
      );
      const on = (pattern: string): readonly (string | undefined)[] =>
        (["allow", "deny"] as const).map((effect) =>
          judged([{ match: { host: pattern }, action: effect }], () =>
            httpAction("GET", "https://bücher.example/"),
          ),
        );
      expect(on("b?cher.example")).toEqual(["none", "deny"]);
      expect(on("x*.example")).toEqual(["none", "deny"]);
      expect(on("xn--*.example")).toEqual(["allow", "deny"]);
      expect(on("*.example")).toEqual(["allow", "deny"]);
      expect(on("bücher.example")).toEqual(["allow", "deny"]);
    },
    TEST_MS,
  );
});

it(
  "the last two folds hold for every part of a text what they hold for the whole",
  () => {
    fc.assert(
      fc.property(texts, texts, (a, b) => {
        for (const fold of FOLDS.slice(2)) expect(fold(a + b)).toBe(fold(a) + fold(b));
      }),
      RUNS,
    );
  },
  TEST_MS,
);

it.each([
  ["delete*", "delete\u0301_all"],
  ["delete*", "DELETE\u0301_all"],
  ["delete*", "del\u200bete_all"],
  ["delete*", "dеlete_all"],
])("a deny of %j reaches %j, and no allow does", (tool, name) => {
  const rules = (effect: Effect): Effect | "none" | undefined =>
    judged([{ match: { tool }, action: effect }], () => toolAction("s", name, {}));
  expect([rules("deny"), rules("ask"), rules("allow")]).toEqual(["deny", "ask", "none"]);
});
