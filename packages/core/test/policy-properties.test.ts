import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { stringify } from "yaml";
import { httpAction, isConsentError, parsePolicy, shellAction, toolAction } from "../src/index.js";
import type { Action, ConsentError, Effect, Facts, Policy } from "../src/index.js";
import { createZoneClocks } from "../src/policy/conditions.js";
import { compileGlob, createFold } from "../src/policy/glob.js";
import { matchGlob } from "../src/policy/pattern.js";
import { readPolicy } from "../src/yaml.js";

const facts: Facts = { agent: { id: "agent" }, nowMs: Date.UTC(2026, 0, 5, 12) };
const origins = { home: "/home/ada", cwd: "/work" };
const effects: readonly Effect[] = ["allow", "ask", "deny"];

/** The definition of a glob, without any cleverness. */
function naiveGlob(pattern: readonly string[], text: readonly string[]): boolean {
  const [head, ...rest] = pattern;
  if (head === undefined) return text.length === 0;
  if (head === "*") return naiveGlob(rest, text) || (text.length > 0 && naiveGlob(pattern, text.slice(1)));
  const [first, ...more] = text;
  return first !== undefined && (head === "?" || head === first) && naiveGlob(rest, more);
}

function naivePath(pattern: readonly string[], segments: readonly string[]): boolean {
  const [head, ...rest] = pattern;
  if (head === undefined) return segments.length === 0;
  if (head === "**") return naivePath(rest, segments) || (segments.length > 0 && naivePath(pattern, segments.slice(1)));
  const [first, ...more] = segments;
  return first !== undefined && naiveGlob([...head], [...first]) && naivePath(rest, more);
}

const letters = fc.constantFrom("a", "b", "A", "\n", ".", "é", "💥", "İ");
const texts = fc.array(letters, { maxLength: 12 }).map((parts) => parts.join(""));
const patterns = fc.array(fc.oneof(letters, fc.constantFrom("*", "?", "*", "?")), { maxLength: 8 }).map((parts) => parts.join(""));
const words = fc.array(fc.constantFrom("a", "b", "A", "read_", "get", "x"), { minLength: 1, maxLength: 3 }).map((parts) => parts.join(""));
const wordPatterns = fc
  .array(fc.constantFrom("a", "b", "A", "read_", "get", "*", "?"), { minLength: 1, maxLength: 4 })
  .map((parts) => parts.join(""));
const paths = fc
  .tuple(
    fc.constantFrom("/", "~/", "", "../"),
    fc.array(fc.constantFrom("a", "b", ".x", "..", ".", "", "ab", "a\\b", "~"), { maxLength: 5 }),
  )
  .map(([start, segments]) => `${start}${segments.join("/")}`);
const pathPatterns = fc
  .tuple(fc.constantFrom("/", "~/", ""), fc.array(fc.constantFrom("a", "b", "*", "?", "a*", "**", ".x"), { minLength: 1, maxLength: 4 }))
  .filter(([, segments]) => segments.filter((segment) => segment === "**").length <= 2)
  .map(([start, segments]) => `${start}${segments.join("/")}`);

const scalars = fc.oneof(words, paths, fc.constantFrom("", null, true, false, 0, 5, -1.5));
const values = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small" },
    scalars,
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom("a", "b", "path", "a.b", "__proto__", "constructor"), tie("value"), { maxKeys: 3 }),
  ),
})).value;
const argumentMaps = fc.dictionary(fc.constantFrom("a", "b", "path", "a.b", "__proto__", "constructor"), values, { maxKeys: 3 });
const commands = fc.oneof(words, fc.constantFrom("a; b", "a\nb", "a | b", "a b", "A=1 a", "$(a)"));
const hosts = fc.constantFrom("a.example", "b.a.example", "A.Example.", "127.0.0.1", "[::1]", "bücher.example");

const actions: fc.Arbitrary<Action> = fc.oneof(
  fc.tuple(words, words, argumentMaps).map(([server, tool, args]) => toolAction(server, tool, args)),
  fc.tuple(fc.constantFrom("GET", "POST", "HEAD"), hosts).map(([method, host]) => httpAction(method, `https://${host}/`)),
  hosts.map((host) => httpAction("CONNECT", `${host}:8443`)),
  commands.map((command) => shellAction(command)),
);

const argumentPatterns = fc.dictionary(
  fc.constantFrom("a", "b", "path", "a.b", "constructor"),
  fc.oneof(
    wordPatterns,
    pathPatterns.map((path) => ({ path })),
    fc.constantFrom(5, true, "*", "?*"),
    fc.record({ a: wordPatterns, b: wordPatterns }),
  ),
  { minKeys: 1, maxKeys: 2 },
);
const optional = { requiredKeys: [] as [] };
const matches = fc
  .oneof(
    fc.constant({ kind: "*" }),
    fc.record(
      { tool: wordPatterns, server: wordPatterns, args: argumentPatterns, category: fc.constantFrom("read", "write"), name: wordPatterns },
      optional,
    ),
    fc.record(
      {
        host: fc.constantFrom("*", "*.example", "a.example", "127.*"),
        method: fc.constantFrom("GET", "*", "p*"),
        port: fc.constantFrom(443, 8443),
      },
      optional,
    ),
    fc.record({ kind: fc.constant("shell"), name: wordPatterns, args: fc.oneof(wordPatterns, fc.constantFrom("a; b", "*")) }, optional),
  )
  .filter((match) => Object.keys(match).length > 0);
const rules = fc.record({ match: matches, action: fc.constantFrom(...effects) });
const lists = fc.array(rules, { maxLength: 5 });

const load = (list: readonly unknown[]): Policy => parsePolicy({ version: "1", rules: list }, origins);
const judge = (list: readonly unknown[], action: Action): Effect | undefined => load(list).judge(action, facts)?.effect;

describe("globs", () => {
  it("compileGlob() agrees with the definition", () => {
    fc.assert(
      fc.property(patterns, texts, (pattern, text) => compileGlob(pattern)(text) === naiveGlob([...pattern], [...text])),
      { numRuns: 2_000 },
    );
  });

  it("compileGlob() agrees with the definition on texts that are almost a match", () => {
    const long = fc.tuple(
      fc.array(fc.constantFrom("ab", "a?b", "aab", "??"), { minLength: 1, maxLength: 20 }),
      fc.array(fc.constantFrom("a", "b"), { maxLength: 60 }),
    );
    fc.assert(
      fc.property(long, ([stretch, text]) => {
        const piece = stretch.join("");
        const wanted = [...piece].map((character) => (character === "?" ? "[^]" : character)).join("");
        return compileGlob(`*${piece}*`)(text.join("")) === new RegExp(wanted, "u").test(text.join(""));
      }),
      { numRuns: 1_000 },
    );
  });

  it("compileGlob() with a fold matches whatever it matches without", () => {
    const fold = createFold();
    fc.assert(
      fc.property(patterns, texts, (pattern, text) => !compileGlob(pattern)(text) || compileGlob(pattern, fold)(text)),
      { numRuns: 1_000 },
    );
  });

  it("compileGlob() with a fold ignores case", () => {
    const fold = createFold();
    fc.assert(
      fc.property(
        wordPatterns,
        words,
        (pattern, text) => compileGlob(pattern, fold)(text) === naiveGlob([...pattern.toLowerCase()], [...text.toLowerCase()]),
      ),
    );
  });

  it("matchGlob() agrees with the definition on paths", () => {
    const segments = fc.array(fc.constantFrom("a", "b", "ab", ".x"), { maxLength: 5 });
    const parts = fc
      .array(fc.constantFrom("a", "*", "a*", "?", "**"), { maxLength: 5 })
      .filter((each) => each.filter((part) => part === "**").length <= 2);
    fc.assert(
      fc.property(
        parts,
        segments,
        (pattern, path) => matchGlob({ path: `/${pattern.join("/")}` }, `/${path.join("/")}`) === naivePath(pattern, path),
      ),
      { numRuns: 2_000 },
    );
  });

  it("matchGlob() never lets .. out of the directory that is allowed", () => {
    fc.assert(
      fc.property(paths, (path) => {
        if (!matchGlob({ path: "/work/**" }, path, origins)) return;
        const url = new URL(
          `file://${path.startsWith("/") ? "" : path.startsWith("~") ? "/home/ada/" : "/work/"}${path.replace(/^~\//, "")}`,
        );
        expect(`${url.pathname}/`.replaceAll(/\/+/g, "/")).toMatch(/^\/work\//);
      }),
      { numRuns: 1_000 },
    );
  });
});

describe("judging", () => {
  it("judge() never throws, and says the same twice", () => {
    fc.assert(
      fc.property(lists, actions, (list, action) => {
        const policy = load(list);
        expect(policy.judge(action, facts)).toEqual(policy.judge(action, facts));
        expect(policy.classify(action).risk).toMatch(/low|medium|high|critical/);
      }),
    );
  });

  it("judge() gives the first rule that matches alone", () => {
    fc.assert(
      fc.property(lists, actions, (list, action) => {
        const first = list.find((rule) => judge([rule], action) !== undefined);
        expect(judge(list, action)).toBe(first?.action);
      }),
    );
  });

  it("judge() turns no deny into anything else because a deny is put in front", () => {
    fc.assert(
      fc.property(lists, matches, actions, (list, match, action) => {
        const before = judge(list, action);
        const after = judge([{ match, action: "deny" }, ...list], action);
        expect([before, "deny"]).toContain(after);
      }),
    );
  });

  it("judge() asks or denies wherever the same match would allow", () => {
    fc.assert(
      fc.property(matches, actions, (match, action) => {
        if (judge([{ match, action: "allow" }], action) === undefined) return;
        expect(judge([{ match, action: "ask" }], action)).toBe("ask");
        expect(judge([{ match, action: "deny" }], action)).toBe("deny");
      }),
      { numRuns: 500 },
    );
  });

  it("judge() says the same after many other names", () => {
    const policy = load([
      { match: { tool: "a*" }, action: "allow" },
      ...Array.from({ length: 50 }, () => ({ match: { tool: "*" }, action: "deny" })),
    ]);
    for (let count = 0; count < 5_000; count++) expect(policy.judge(toolAction("s", `b${count}`, {}), facts)?.effect).toBe("deny");
    expect(policy.judge(toolAction("s", "a1", {}), facts)?.effect).toBe("allow");
    expect(policy.judge(toolAction("s", "b1", {}), facts)?.effect).toBe("deny");
  });
});

const full = {
  version: "1",
  default: "ask",
  classify: [{ tool: "open_*", category: "physical", risk: "critical" }],
  rules: [
    {
      id: "pay",
      name: "Payments",
      reason: "money",
      match: {
        kind: "tool",
        tool: "pay_*",
        category: "financial",
        server: "bank",
        name: "*",
        args: { to: "*", nested: { deep: { path: "~/x" } } },
      },
      action: "ask",
      level: "critical",
      timeout: 60,
      rate_limit: "1/day",
      conditions: { time_of_day: { after: "09:00", before: "17:00", timezone: "UTC" } },
      approvers: ["ada"],
      quorum: 2,
      approval: "passkey",
      secrets: ["KEY"],
    },
    { match: { kind: "http", host: "*.example", method: "GET", port: 443 }, action: "allow" },
  ],
};
/** Every map of the policy whose keys are fixed. */
const places: readonly (readonly (string | number)[])[] = [
  [],
  ["classify", 0],
  ["rules", 0],
  ["rules", 1],
  ["rules", 0, "match"],
  ["rules", 1, "match"],
  ["rules", 0, "conditions"],
  ["rules", 0, "conditions", "time_of_day"],
];
const at = (root: unknown, path: readonly (string | number)[]): Record<string, unknown> =>
  path.reduce<unknown>((value, step) => (value as Record<string | number, unknown>)[step], root) as Record<string, unknown>;

describe("parsing", () => {
  it("parsePolicy() reads a policy with every key", () => {
    expect(parsePolicy(full, origins).rules).toHaveLength(2);
  });

  it("parsePolicy() refuses an unknown key anywhere", () => {
    fc.assert(
      fc.property(fc.constantFrom(...places), fc.string({ minLength: 1, maxLength: 12 }), fc.jsonValue(), (place, key, value) => {
        const policy = structuredClone(full);
        const map = at(policy, place);
        fc.pre(
          !Object.hasOwn(map, key) &&
            !["default_action", "host", "method", "port", "args", "tool", "category", "server", "name"].includes(key),
        );
        Object.defineProperty(map, key, { value, enumerable: true });
        expect(() => parsePolicy(policy, origins)).toThrow(expect.objectContaining({ code: "policy_invalid" }));
      }),
      { numRuns: 500 },
    );
  });

  it("parsePolicy() loads or refuses, and never throws anything else", () => {
    const spots = places.flatMap((place) => Object.keys(at(full, place)).map((key) => [...place, key]));
    fc.assert(
      fc.property(fc.constantFrom(...spots), fc.anything(), (path, value) => {
        const policy = structuredClone(full);
        Object.defineProperty(at(policy, path.slice(0, -1)), String(path.at(-1)), { value, enumerable: true, configurable: true });
        try {
          parsePolicy(policy, origins);
        } catch (error) {
          expect(isConsentError(error, "policy_invalid")).toBe(true);
        }
      }),
      { numRuns: 1_000 },
    );
  });
});

describe("YAML", () => {
  const outcome = (text: string): "loaded" | number => {
    try {
      readPolicy(text, origins);
      return "loaded";
    } catch (error) {
      expect(isConsentError(error, "policy_invalid")).toBe(true);
      const { position } = error as ConsentError;
      expect(position?.line).toBeGreaterThanOrEqual(1);
      expect(position?.column).toBeGreaterThanOrEqual(1);
      expect(position?.line).toBeLessThanOrEqual(text.split("\n").length);
      return position?.line ?? 0;
    }
  };
  const valid = stringify(full);

  it("readPolicy() loads or refuses any text, with a line that exists", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.string({ unit: "binary" })), (text) => void outcome(text)),
      { numRuns: 1_000 },
    );
  });

  it("readPolicy() loads or refuses a policy with a scratch, with a line that exists", () => {
    const scratches = fc.constantFrom(
      "",
      ":",
      "- ",
      "\t",
      "&a ",
      "*a",
      "!x ",
      "{",
      "[",
      "]",
      "'",
      '"',
      "|",
      "#",
      "---\n",
      "\u0000",
      "\ufeff",
      "?",
      "\r",
      "yes",
      "<<: *a",
      "%YAML 1.1\n",
    );
    fc.assert(
      fc.property(fc.nat({ max: valid.length }), fc.nat({ max: 5 }), scratches, (place, removed, scratch) => {
        outcome(valid.slice(0, place) + scratch + valid.slice(place + removed));
      }),
      { numRuns: 1_000 },
    );
  });

  it("readPolicy() reads the same policy as parsePolicy()", () => {
    fc.assert(
      fc.property(lists, actions, (list, action) => {
        const policy = { version: "1", rules: list };
        const read = readPolicy(stringify(policy, { aliasDuplicateObjects: false }), origins);
        expect(read.judge(action, facts)).toEqual(parsePolicy(policy, origins).judge(action, facts));
        expect(read.rules.every(({ line }) => (line ?? 0) > 1)).toBe(true);
      }),
    );
  });
});

describe("time zones", () => {
  const zones = [
    "UTC",
    "Europe/Berlin",
    "America/New_York",
    "Australia/Lord_Howe",
    "Asia/Kathmandu",
    "America/St_Johns",
    "Pacific/Apia",
    "Africa/Casablanca",
    "Pacific/Chatham",
    "Africa/Monrovia",
  ];
  const plain = (zone: string, nowMs: number): number => {
    const parts = new Intl.DateTimeFormat("en-GB", { timeZone: zone, hour: "numeric", minute: "numeric", hourCycle: "h23" }).formatToParts(
      nowMs,
    );
    const of = (type: string): number => Number(parts.find((part) => part.type === type)?.value);
    return of("hour") * 60 + of("minute");
  };

  it("createZoneClocks() agrees with plain Intl, also when asked in any order", () => {
    const clocks = createZoneClocks();
    const moments = fc.integer({ min: Date.UTC(1900, 0), max: Date.UTC(2100, 0) });
    const steps = fc.array(fc.constantFrom(-60_000, -1, 0, 1, 30_000, 59_999, 60_000, 900_000), { maxLength: 4 });
    fc.assert(
      fc.property(fc.constantFrom(...zones), moments, steps, (zone, start, offsets) => {
        for (const offset of [0, ...offsets]) expect(clocks(zone)(start + offset)).toBe(plain(zone, start + offset));
      }),
      { numRuns: 300 },
    );
  });

  it("createZoneClocks() is right in every minute around the changes of 2026", () => {
    const clock = createZoneClocks()("Europe/Berlin");
    for (const change of [Date.UTC(2026, 2, 29, 1), Date.UTC(2026, 9, 25, 1)]) {
      for (let minute = -90; minute <= 90; minute++) {
        const nowMs = change + minute * 60_000;
        expect(clock(nowMs)).toBe(plain("Europe/Berlin", nowMs));
      }
    }
  });
});
