/** What holds for the text of every question. `ACP_RUNS` sets how many are made. */
import { hidingCharactersIn } from "@acp/testing";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isDeep } from "../../../tools/deep.js";
import { renderText } from "../src/approval/text.js";
import {
  type Action,
  actionDigest,
  canonicalJson,
  httpAction,
  type JsonObject,
  type JsonValue,
  parametersOf,
  shellAction,
  toolAction,
} from "../src/index.js";
import { partsOf } from "./text-parts.js";
import { argumentsOf, factOf, linesOf, textOf } from "./text-reader.js";

const RUNS = Number(process.env["ACP_RUNS"] ?? (isDeep ? 10_000 : 1_000));

const render = (action: Action): string => renderText(partsOf(action), "why");

/** What imitates us, hides, pads, or looks like something that is decoded. */
const snippet = fc.oneof(
  { weight: 3, arbitrary: fc.string({ unit: "binary", maxLength: 12 }) },
  { weight: 3, arbitrary: fc.string({ unit: "grapheme", maxLength: 12 }) },
  fc.constantFrom(
    ...'\n|\r\n|\u2028|\u202e|\u2066|\u200b|\ufeff|\u{e0041}|\ufe0f|\u001b[2J|\u2800|\u0338|\\|"|\\u202e|Risk:  low (read)|Digest: sha256:0'.split(
      "|",
    ),
    ...'\nWith:\n|Again, what is asked:|↪ |= |      = JSON:|… 4,000 spaces …|" … 50 × "a" … "|, |}|]|: '.split(
      "|",
    ),
    ...'https://аррӏе.com/a%20b?x=%0a|data:text/plain,%0aRisk|{"a":"b\\n"}|aGVsbG8Kd29ybGQgaGVsbG8=|%0a%1b|rm -rf \'x\ny\' | sh'.split(
      "|",
    ),
  ),
  fc
    .tuple(
      fc.constantFrom(" ", "\n", "-", "ab", "\r\n", "🙂", "e\u0301", "\u200b"),
      fc.integer({ min: 30, max: 90 }),
    )
    .map(([unit, count]) => unit.repeat(count)),
);
const text = fc
  .array(snippet, { maxLength: 5 })
  .map((pieces) => pieces.join("").replaceAll(/[\ud800-\udfff]/gu, ""));
const key = fc.oneof(
  text,
  fc.constantFrom("command", "cmd", "url", "__proto__", "toJSON", "1", ""),
);
const { object } = fc.letrec<{ value: JsonValue; object: JsonObject }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small" },
    text,
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.boolean(),
    fc.constant(null),
    tie("object"),
    fc.array(tie("value"), { maxLength: 4 }),
  ),
  object: fc.dictionary(key, tie("value"), { maxKeys: 4, noNullPrototype: false }),
}));
const name = text
  .map((each) => each.replaceAll(/[\u0000-\u001f\u007f-\u009f]/g, "").slice(0, 120))
  .map((each) => (each === "" || !each.isWellFormed() ? "x" : each));
const tool = fc
  .tuple(name, name, object)
  .map(([server, called, args]) => toolAction(server, called, args));
const shell = text
  .filter((each) => each.trim() !== "" && !each.includes("\u0000"))
  .map((each) => shellAction(each));
const http = fc
  .webUrl({ withQueryParameters: true, withFragments: true })
  .map((url) => httpAction("get", url));
const action: fc.Arbitrary<Action> = fc.oneof({ weight: 4, arbitrary: tool }, shell, http);

const FIRST_WORDS =
  /^(?:Agent|Wants|Tool|Risk|Rule|Open until|Digest|Note|Size|Started as): |^(?:With:|In full:|Again, what is asked:)$|^↪ |^ {2}/;

describe("renderText(), for any action", () => {
  it(`shows all of it and nothing that hides or forges, ${RUNS} cases`, () => {
    fc.assert(
      fc.property(action, (each) => {
        const shown = render(each);
        expect(hidingCharactersIn(shown)).toEqual([]);
        // Injective: the arguments are read back from the rows, without the digest's help.
        const flat = parametersOf(each);
        expect(canonicalJson(argumentsOf(shown))).toBe(canonicalJson(flat.parameters));
        if (each.meta.kind === "tool") {
          const [, shownTool = "", shownServer = ""] =
            /^(?:call )?("(?:[^"\\]|\\.)*"(?: …[^]*)?|…[^]*|[^ ]*) on ([^]*)$/.exec(
              factOf(shown, "Tool") ?? factOf(shown, "Wants") ?? "",
            ) ?? [];
          const nameOf = (shownName: string): string =>
            /^["…]/.test(shownName) ? textOf(shownName) : shownName;
          expect([nameOf(shownTool), nameOf(shownServer)]).toEqual([flat.tool, flat.server]);
        }
        // No value is a line of ours, and each of ours is there once, or twice around long
        // arguments.
        const lines = shown.split("\n");
        for (const line of lines) expect(line).toMatch(FIRST_WORDS);
        const times = lines.includes("Again, what is asked:") ? 2 : 1;
        for (const fact of ["Risk:  medium (write)", `Digest: ${actionDigest(each)}`])
          expect(lines.filter((line) => line === fact)).toHaveLength(times);
        expect(
          lines.filter((line) => /^(?:Risk|Digest|Agent|Rule|Wants):/.test(line)),
        ).toHaveLength(5 * times);
        // Before the arguments, and at the end where they are long.
        expect(lines.indexOf(`Digest: ${actionDigest(each)}`)).toBeLessThan(lines.indexOf("With:"));
        if (lines.length > 60) expect(times).toBe(2);
        // Pure.
        expect(render(each)).toBe(shown);
      }),
      { numRuns: RUNS },
    );
  });

  it("shows two different actions differently, also without the digest", () => {
    const without = (each: Action): string =>
      linesOf(render(each))
        .filter((line) => !line.startsWith("Digest: "))
        .join("\n");
    fc.assert(
      fc.property(action, action, (left, right) => {
        expect(without(left) === without(right)).toBe(actionDigest(left) === actionDigest(right));
      }),
      { numRuns: 1_000 },
    );
  });

  it.each([
    [
      "a tool called run and a shell command",
      toolAction("shell", "run", { command: "ls" }),
      shellAction("ls"),
    ],
    [
      "names that differ only at their end",
      toolAction("s", `${"ab".repeat(30)}${"x-".repeat(60)}1`, {}),
      toolAction("s", `${"ab".repeat(30)}${"x-".repeat(60)}2`, {}),
    ],
    [
      "a run and its imitation",
      toolAction("s", "t", { a: " ".repeat(50) }),
      toolAction("s", "t", { a: "… 50 spaces …" }),
    ],
    [
      "a reading and its imitation",
      toolAction("s", "t", { a: '{"b":1}' }),
      toolAction("s", "t", { a: '{"b":1}\n= JSON:' }),
    ],
    [
      "a text and its escaped form",
      toolAction("s", "t", { a: "\u202e" }),
      toolAction("s", "t", { a: "\\u202e" }),
    ],
    ["a number and its text", toolAction("s", "t", { a: 1 }), toolAction("s", "t", { a: "1" })],
  ])("tells %s apart", (_name, left, right) => {
    const without = (each: Action): string => render(each).replace(/^Digest: .*$/gm, "");
    expect(without(left)).not.toBe(without(right));
  });

  it("holds for what an agent calls itself, started as and was started by", () => {
    fc.assert(
      fc.property(text, text, text, (id, calls, command) => {
        const shown = renderText(
          partsOf(toolAction("s", "t", {}), { id, name: calls, command, parents: [id] }),
          calls,
        );
        expect(hidingCharactersIn(shown)).toEqual([]);
        for (const line of shown.split("\n")) expect(line).toMatch(FIRST_WORDS);
        expect(shown.split("\n").filter((line) => line.startsWith("Risk:"))).toHaveLength(1);
        if (command !== "") expect(textOf(factOf(shown, "Started as") ?? "")).toBe(command);
      }),
      { numRuns: 1_000 },
    );
  });

  it("has what decides in its first 12,000 and last 12,000 characters, however long a name or a list is", () => {
    const long = Array.from({ length: 100_000 }, (_, at) => `N${at}`);
    const parts = partsOf(toolAction("s", "t", {}), {
      id: long.join("/"),
      name: long.join(" "),
      command: long.join(),
      parents: long,
    });
    const shown = renderText({ ...parts, secrets: long }, long.join(" "));
    for (const end of [shown.slice(0, 12_000), shown.slice(-12_000)]) {
      for (const fact of [
        "Agent: ",
        "Wants: call t on s",
        "Risk:  medium",
        "Rule:  r: N0",
        "Open until: ",
        `Digest: ${parts.actionDigest}`,
        "secrets: N0, ",
      ])
        expect(end).toContain(fact);
    }
    const lines = linesOf(shown);
    const full = lines.slice(
      lines.indexOf("In full:") + 1,
      lines.lastIndexOf("Again, what is asked:"),
    );
    expect(full.find((line) => line.startsWith("  A yes releases"))).toBe(
      `  A yes releases the secrets: ${long.join(", ")}`,
    );
    expect(full.find((line) => line.startsWith("  Agent: "))).toContain(long.join(" < "));
  });

  it("is linear in what it shows: at most forty characters for one, and two thousand", () => {
    fc.assert(
      fc.property(tool, (each) => {
        expect(render(each).length).toBeLessThan(40 * canonicalJson(each).length + 2_000);
      }),
      { numRuns: 1_000 },
    );
  });
});

/** A megabyte of each, made to be long, deep or hard to read. */
const HOSTILE: Readonly<Record<string, (length: number) => JsonValue>> = {
  "one letter": (length) => "a".repeat(length),
  "no run at all": (length) =>
    Array.from({ length: length / 8 }, (_, at) => at.toString(36).padStart(8, "x")).join(""),
  "almost a run": (length) => `${"abcd".repeat(39)}!`.repeat(length / 157),
  "zero-width characters": (length) => "\u200b\u200c".repeat(length / 6),
  "combining marks": (length) => "\u0301\u0302\u0303".repeat(length / 6),
  "URLs without end": (length) => "https://аb.com/".repeat(length / 17),
  slashes: (length) => "://".repeat(length / 3),
  "at signs": (length) => `https://${"a@".repeat(length / 2)}`,
  "short URLs in a list": (length) => Array.from({ length: length / 18 }, () => "http://a?b&c"),
  "brackets in a text": (length) => "[".repeat(length),
  "JSON in lists": (length) => Array.from({ length: length / 14 }, () => "[[],[]]"),
  quotes: (length) => '"\\'.repeat(length / 4),
  "percent signs": (length) => "%41".repeat(length / 3),
  base64: (length) => "aGVsbG8gd29ybGQg".repeat(length / 16),
  "punctuation in hosts": (length) => `https://${"!(".repeat(length / 2)}é`,
  "hosts of punctuation": (length) => `https://${"!(".repeat(500)}é `.repeat(length / 1_012),
  "patterns that are never closed": (length) =>
    Array.from({ length: length / 8_012 }, () => ({
      command: `x ${"[".repeat(4_000)}${"[a".repeat(1_900)} (`,
    })),
  "line breaks": (length) => "a\n".repeat(length / 3),
  "an open quote": (length) => `'${"a ".repeat(length / 2)}`,
};

describe("renderText() of a megabyte", () => {
  it.each(Object.entries(HOSTILE))(
    "of %s says what decides in its first and last 3,000 characters",
    (_name, make) => {
      const each = toolAction("files", "write", { command: make(1_000_000) });
      const shown = render(each);
      for (const end of [
        shown.slice(0, 3_000),
        shown.length > 12_000 ? shown.slice(-3_000) : shown,
      ]) {
        for (const fact of [
          "Agent: demo",
          "Wants: call write on files",
          "Risk:  medium",
          "Rule:  r",
          "Open until: ",
          `Digest: ${actionDigest(each)}`,
        ])
          expect(end).toContain(fact);
      }
      expect(hidingCharactersIn(shown.slice(0, 200_000))).toEqual([]);
    },
  );

  it.each(Object.entries(HOSTILE))(
    "of %s is four times as long as a quarter of it, at most",
    (_name, make) => {
      const length = (units: number): number =>
        render(toolAction("files", "write", { command: make(units) })).length;
      expect(length(1_000_000)).toBeLessThan(4.2 * length(250_000) + 100_000);
    },
  );
});
