/** Arbitrary policies and Actions, made of few words so that they often meet. */
import fc from "fast-check";
import { httpAction, shellAction, toolAction } from "../src/index.js";
import { parsePolicy } from "../src/policy.js";
import type { Action, Effect, Facts, Policy } from "../src/index.js";

export const facts: Facts = { agent: { id: "agent" }, nowMs: Date.UTC(2026, 0, 5, 12) };
export const origins: { readonly home: string; readonly cwd: string } = {
  home: "/home/ada",
  cwd: "/work",
};
const effects: readonly Effect[] = ["allow", "ask", "deny"];

export const words: fc.Arbitrary<string> = fc
  .array(fc.constantFrom("a", "b", "A", "read_", "get", "x"), { minLength: 1, maxLength: 3 })
  .map((parts) => parts.join(""));
export const wordPatterns: fc.Arbitrary<string> = fc
  .array(fc.constantFrom("a", "b", "A", "read_", "get", "*", "?"), { minLength: 1, maxLength: 4 })
  .map((parts) => parts.join(""));
export const paths: fc.Arbitrary<string> = fc
  .tuple(
    fc.constantFrom("/", "~/", "", "../"),
    fc.array(fc.constantFrom("a", "b", ".x", "..", ".", "", "ab", "a\\b", "~"), { maxLength: 5 }),
  )
  .map(([start, segments]) => `${start}${segments.join("/")}`);
const pathPatterns = fc
  .tuple(
    fc.constantFrom("/", "~/", ""),
    fc.array(fc.constantFrom("a", "b", "*", "?", "a*", "**", ".x"), { minLength: 1, maxLength: 4 }),
  )
  .filter(([, segments]) => segments.filter((segment) => segment === "**").length <= 2)
  .map(([start, segments]) => `${start}${segments.join("/")}`);

const scalars = fc.oneof(words, paths, fc.constantFrom("", null, true, false, 0, 5, -1.5));
const values = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small" },
    scalars,
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(
      fc.constantFrom("a", "b", "path", "a.b", "__proto__", "constructor"),
      tie("value"),
      { maxKeys: 3 },
    ),
  ),
})).value;
const argumentMaps = fc.dictionary(
  fc.constantFrom("a", "b", "path", "a.b", "__proto__", "constructor"),
  values,
  { maxKeys: 3 },
);
const commands = fc.oneof(words, fc.constantFrom("a; b", "a\nb", "a | b", "a b", "A=1 a", "$(a)"));
const hosts = fc.constantFrom(
  "a.example",
  "b.a.example",
  "A.Example.",
  "127.0.0.1",
  "[::1]",
  "bücher.example",
);

export const actions: fc.Arbitrary<Action> = fc.oneof(
  fc
    .tuple(words, words, argumentMaps)
    .map(([server, tool, args]) => toolAction(server, tool, args)),
  fc
    .tuple(fc.constantFrom("GET", "POST", "HEAD"), hosts)
    .map(([method, host]) => httpAction(method, `https://${host}/`)),
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
export const matches: fc.Arbitrary<object> = fc
  .oneof(
    fc.constant({ kind: "*" }),
    fc.record(
      {
        tool: wordPatterns,
        server: wordPatterns,
        args: argumentPatterns,
        category: fc.constantFrom("read", "write"),
        name: wordPatterns,
      },
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
    fc.record(
      {
        kind: fc.constant("shell"),
        name: wordPatterns,
        args: fc.oneof(wordPatterns, fc.constantFrom("a; b", "*")),
      },
      optional,
    ),
  )
  .filter((match) => Object.keys(match).length > 0);
const rules = fc.record({ match: matches, action: fc.constantFrom(...effects) });
export const lists: fc.Arbitrary<readonly { readonly match: object; readonly action: Effect }[]> =
  fc.array(rules, { maxLength: 5 });

export const load = (list: readonly unknown[]): Policy =>
  parsePolicy({ version: "1", rules: list }, origins);
export const judge = (list: readonly unknown[], action: Action): Effect | undefined =>
  load(list).judge(action, facts)?.effect;
