/** The published schema of policies and the parser: the schema refuses nothing that loads. */
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { JsonValue } from "@acp/core";
import { parsePolicy, policySchema } from "@acp/core/policy";
import { readYaml } from "@acp/core/yaml";
import { Ajv2020 } from "ajv/dist/2020.js";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isDeep } from "../../../tools/deep.js";
import { blocksOf } from "../../../tools/markdown.js";
import { POLICY_TEMPLATE } from "../src/templates.js";
import { ways, withAt } from "./changes.js";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
const ORIGINS = { home: "/home/ada", cwd: "/work" };
const fits = new Ajv2020({ strict: true, strictRequired: false }).compile(policySchema());

const read = (file: string): string => readFileSync(`${ROOT}${file}`, "utf8");
const under = (folder: string, ending: string): readonly string[] =>
  readdirSync(`${ROOT}${folder}`, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(ending) && !/(?:^|\/)(?:node_modules|dist)\//.test(name))
    .map((name) => `${folder}/${name}`);

const valueOf = (text: string): JsonValue =>
  readYaml(text, { name: "policy", code: "policy_invalid" }).value;

function loads(value: JsonValue, origins: object = ORIGINS): boolean {
  try {
    parsePolicy(value, origins);
    return true;
  } catch {
    return false;
  }
}

/** True if it loads; then the schema must take it. */
function agrees(value: JsonValue, origins?: object): boolean {
  const isLoaded = loads(value, origins);
  if (isLoaded && !fits(value))
    throw new Error(`${JSON.stringify(value)}: ${JSON.stringify(fits.errors)}`);
  return isLoaded;
}

interface Vector {
  readonly name: string;
  readonly policy: JsonValue;
  readonly home?: string;
  readonly cwd?: string;
  readonly want: unknown;
}

const VECTORS = (JSON.parse(read("spec/vectors/rules.json")) as { cases: readonly Vector[] }).cases;
const isRefused = ({ want }: Vector): boolean =>
  typeof want === "object" && want !== null && "error" in want;

/** Every key of the language, with a value that loads. */
const FULL: readonly JsonValue[] = [
  {
    version: "1",
    default: "ask",
    rules: [
      {
        id: "payments",
        name: "Payments",
        reason: "money leaves the account",
        match: {
          kind: "tool",
          server: "shop",
          tool: "pay_*",
          name: "*",
          category: "financial",
          args: { amount: "?*", n: 5, b: true, file: { path: "~/x/**" }, nested: { deep: "x" } },
        },
        action: "ask",
        level: "high",
        timeout: 1800,
        approvers: ["ada", "finance"],
        quorum: 1,
        approval: "passkey",
        offers: [
          { covers: "call", ttl: 60 },
          { covers: "arguments", ttl: 60, uses: 5, args: { to: "a*" }, same: ["path"] },
        ],
        escalate: [
          { after: 60, to: "cto" },
          { after: 900, to: ["ceo"], channel: "telegram" },
        ],
        rate_limit: "20/minute",
        conditions: { time_of_day: { after: "09:00", before: "17:00", timezone: "UTC" } },
        secrets: ["GITHUB_TOKEN"],
      },
      {
        match: { kind: "http", host: "*.example.com", method: "get", port: 443, name: "GET" },
        action: "allow",
        secrets: ["A"],
      },
      { match: { kind: "shell", name: "git", args: "git status" }, action: "deny" },
    ],
    classify: [{ tool: "open_*", category: "physical", risk: "critical" }],
  },
  {
    default_action: "deny",
    rules: [
      { match: { kind: "*" }, action: "deny", rate_limit: "1/day", timeout: 5 },
      { match: { host: "a.example" }, action: "ask", offers: [{ covers: "site", ttl: 1 }] },
      { match: { category: "read" }, action: "ask", offers: [], approvers: [] },
    ],
  },
];

/** What somebody may write in any place. */
const VALUES: readonly JsonValue[] = (
  [
    ["", "a", "A b", "*", "?*", "a.b", "-x", "x_1", "1", "1.5", "443", "{a,b}", "!a", "a|b"],
    ["a^", "GET|POST", "ſtrange", "ß", "straße", "get", "ask", "allow", "deny", "Allow", "tool"],
    ["http", "shell", "call", "arguments", "site", "critical", "read", "physical", "any"],
    ["20/minute", "1000000/day", "1000001/day", "0/day", "5/week", "09:00", "24:00", "9:00"],
    ["UTC", "Europe/Vienna", "Mars", "~/x", "/a/../b", "../x", "/a/**/b/**/c/**", "a/b", "~"],
    ["https://h", "h:80", "[::1]", "10.0.0.1", "a..b", "bücher.example", "\u0007", "a\nb"],
    ["a\tb", "\u{1f600}", "x".repeat(300), "\u{1f600}".repeat(200), "x".repeat(5_000)],
    ["path", "__proto__", `*${"a".repeat(129)}*`],
    [0, 0.001, 0.5, 1, 1.5, 2, -1, 60, 443, 1_000, 1_001, 65_535, 65_536, 86_400, 86_401],
    [604_800, 604_801, 1_000_000, 1_000_001, 2 ** 53, 1e21, true, false, null],
    [[], [""], ["a"], ["a", "a"], [{}], [null], {}, { a: "b" }, { a: {} }, { a: null }],
    [{ path: "~/x" }, { path: "a|b" }, { path: { path: "/x" } }, { path: "/x", mode: "r" }],
    [{ kind: "*" }, { tool: "a", host: "b" }, { kind: "http", args: "x" }, { after: "09:00" }],
    [{ time_of_day: { after: "09:00" } }, { time_of_day: {} }, [{ after: 1, to: "a" }]],
    [[{ after: 1 }], [{ covers: "tool", ttl: 1 }], [{ covers: "arguments", ttl: 1 }]],
    [[{ covers: "host", ttl: 1, args: { a: "b" } }]],
    [[{ match: { tool: "a" }, action: "allow" }], [{ tool: "a", category: "read", risk: "low" }]],
  ] satisfies readonly (readonly JsonValue[])[]
).flat();

const PLACES = FULL.flatMap((full) => ways(full));
const KEYS = [...new Set(PLACES.map((path) => String(path.at(-1))))];

describe("policySchema()", () => {
  it("is what is published in spec/schemas", () => {
    // To publish another one: acp policy schema > spec/schemas/policy.schema.json
    expect(JSON.parse(read("spec/schemas/policy.schema.json"))).toEqual(policySchema());
  });

  it("takes what acp init writes, every example, and policies with every key", () => {
    const examples = readdirSync(`${ROOT}examples`)
      .map((name) => `examples/${name}/policy.yml`)
      .filter((file) => existsSync(`${ROOT}${file}`))
      .map((file) => valueOf(read(file)));
    expect(examples.length).toBeGreaterThan(2);
    expect(
      [valueOf(POLICY_TEMPLATE), ...examples, ...FULL].filter((each) => !agrees(each)),
    ).toEqual([]);
  });

  it("takes every policy of the docs", () => {
    const pages = ["README.md", ...under("docs", ".md"), ...under("spec", ".md")];
    const policies = pages
      .flatMap((page) => blocksOf(read(page)))
      .filter(({ language, info }) => language === "yaml" && info === "")
      .flatMap(({ text }) => [text, `version: "1"\nrules:\n${text}`, `default: ask\n${text}`])
      .filter((text) => {
        try {
          return agrees(valueOf(text));
        } catch (error) {
          if ((error as { readonly code?: string }).code === "policy_invalid") return false;
          throw error;
        }
      });
    expect(policies.length).toBeGreaterThan(15);
  });

  it("takes every policy of the vectors that loads", () => {
    const loaded = VECTORS.filter((each) => !isRefused(each));
    expect(loaded.filter(({ policy, ...origins }) => !agrees(policy, origins))).toEqual([]);
  });

  /** What no schema says: what a text means, what is not known here, and what names something else. */
  const PARSER_ONLY: readonly string[] = [
    "a tool with a control character",
    'an argument that is {"path":"~/x"}',
    "129 characters between two stars",
    'the host "*."',
    'the host "*bücher.example"',
    'the host "[::*]"',
    "an offer of a host for tools",
    "an offer of a tool for commands",
    "the same id twice",
    "an id that another rule has by default",
    "an empty window",
    'the time zone "Mars/Olympus"',
  ];
  it("refuses the vectors that do not load, but for those that no schema can see", () => {
    const unseen = VECTORS.filter((each) => isRefused(each) && fits(each.policy));
    expect(unseen.map(({ name }) => name.replace("does not load: ", ""))).toEqual(PARSER_ONLY);
  });

  it("takes whatever loads of a policy with one value changed, added or left out", () => {
    const changed = FULL.flatMap((full) =>
      ways(full).flatMap((path) => [
        ...[...VALUES, undefined].map((value) => withAt(full, path, value)),
        ...KEYS.map((key) => withAt(full, [...path, key], "a")),
      ]),
    );
    const tried = isDeep ? changed : changed.filter((_, at) => at % 19 === 0);
    const loaded = tried.filter((each) => agrees(each)).length;
    // Neither everything nor nothing loads, or this would show nothing.
    expect(loaded).toBeGreaterThan(100);
    expect(tried.length - loaded).toBeGreaterThan(100);
  });

  it("takes whatever loads of a policy with several changes", () => {
    const change = fc.record({
      path: fc.constantFrom(...PLACES),
      key: fc.option(fc.constantFrom(...KEYS)),
      value: fc.option(fc.oneof(fc.constantFrom(...VALUES), fc.string({ unit: "binary" })), {
        nil: undefined,
      }),
    });
    fc.assert(
      fc.property(fc.constantFrom(...FULL), fc.array(change, { maxLength: 4 }), (full, changes) => {
        agrees(
          changes.reduce<JsonValue>(
            (value, { path, key, value: put }) =>
              withAt(value, key === null ? path : [...path, key], put),
            full,
          ),
        );
      }),
      { numRuns: 1_000 },
    );
  });
});
