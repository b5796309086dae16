/**
 * Laws of suggestions, over arbitrary policies and histories: a rule that is suggested answers
 * questions, and changes nothing else.
 */
import fc from "fast-check";
import { expect, it } from "vitest";
import { inLane } from "../../../tools/deep.js";
import { parametersOf, toolAction } from "@acp/core";
import type { Action, Effect, JsonObject, JsonValue } from "@acp/core";
import { parsePolicy } from "@acp/core/policy";
import { readPolicy } from "@acp/core/yaml";
import { conjoin } from "../src/conjoin.js";
import { ruleText } from "../src/rule-text.js";
import { suggestRules } from "../src/index.js";
import type { RuleSuggestion } from "../src/index.js";
import { actions, matches, origins } from "../../core/test/policy-arbitraries.js";
import { eventsOf, HOUR_MS, START_MS } from "./kit.js";
import type { Past } from "./kit.js";

// Few tools, servers and values, so that many calls are alike and rules meet them.
const names = fc.constantFrom("ab", "A", "read_a", "get", "x");
const values = fc.oneof(
  fc.constantFrom(
    "a",
    "b",
    "ab",
    "Ab",
    "/srv/x/a.md",
    "/srv/x/b.md",
    "/srv/x/y/c.md",
    "/srv/x/../z",
    "~/p/q",
    "~/p/r/s",
    "sub/a",
    "sub/b",
    "",
    5,
    true,
  ),
  fc.array(fc.constantFrom("a", "/srv/x/a.md", "Fix: 1", "Fix: 2"), { maxLength: 2 }),
  fc.record(
    { a: fc.constantFrom("a", "ab", "b"), b: fc.constantFrom("x", "y") },
    { requiredKeys: [] },
  ),
);
const args = fc.dictionary(fc.constantFrom("a", "b", "path", "a.b", "text"), values, {
  maxKeys: 3,
});
const calls = fc.oneof(
  {
    weight: 4,
    arbitrary: fc
      .tuple(names, names, args)
      .map(([server, tool, given]): Action => toolAction(server, tool, given)),
  },
  { weight: 1, arbitrary: actions },
);
/**
 * Some calls several times over, and with other values of the same arguments; mostly approved, some
 * not.
 */
const histories: fc.Arbitrary<readonly Past[]> = fc
  .array(
    fc.tuple(
      calls,
      fc.array(args, { maxLength: 3 }),
      fc.constantFrom<Past["answer"]>("approved", "approved", "approved", "denied"),
      fc.nat({ max: 3 }),
    ),
    { minLength: 1, maxLength: 4 },
  )
  .chain((groups) =>
    fc.shuffledSubarray(
      groups.flatMap(([action, others, answer, more]): readonly Past[] => {
        const { tool, server } = parametersOf(action);
        const alike =
          action.meta.kind === "tool" ? others.map((other) => toolAction(server, tool, other)) : [];
        return [action, ...Array.from({ length: more + 1 }, () => action), ...alike].map(
          (each) => ({ action: each, answer }),
        );
      }),
      { minLength: 2 },
    ),
  )
  .chain((past) =>
    fc
      .array(
        fc.tuple(
          fc.nat({ max: Math.max(0, past.length - 1) }),
          fc.constantFrom<Past["answer"]>("denied", "approved_with_modifications", "expired"),
        ),
        { maxLength: 1 },
      )
      .map((changes) =>
        past.map((each, index) => ({
          ...each,
          answer: changes.find(([at]) => at === index)?.[1] ?? each.answer,
        })),
      ),
  );

const askingMatches = fc.oneof(
  matches,
  fc.record({ tool: fc.constantFrom("*", "a*", "read_*", "x") }),
  fc.record({
    args: fc.dictionary(
      fc.constantFrom("a", "path", "a.b", "text"),
      fc.constantFrom("*", "?*", "a*", "Fix: *"),
      {
        minKeys: 1,
        maxKeys: 2,
      },
    ),
  }),
  fc.record({
    args: fc.record({
      path: fc.record({ path: fc.constantFrom("/srv/**", "/srv/x/**", "~/p/**", "sub/**", "/**") }),
    }),
  }),
);
const conditions = fc.constantFrom(
  { time_of_day: { after: "08:00", before: "20:00", timezone: "UTC" } },
  { time_of_day: { after: "13:00", timezone: "UTC" } },
);
const ruleLists = fc.array(
  fc.record(
    {
      match: askingMatches,
      action: fc.constantFrom<Effect>("ask", "ask", "ask", "allow", "deny"),
      conditions,
    },
    { requiredKeys: ["match", "action"] },
  ),
  { maxLength: 4 },
);
const policies = fc.record({
  version: fc.constant("1"),
  default: fc.constantFrom<Effect>("ask", "ask", "deny", "allow"),
  rules: ruleLists,
});

/** The policy with the rule in the place that the suggestion names. */
function inserted(policy: JsonObject, { rule, place }: RuleSuggestion): JsonObject {
  const rules = policy["rules"] as readonly JsonObject[];
  const at =
    place.before === undefined ? rules.length : Number(place.before.replace("rule_", "")) - 1;
  return { ...policy, rules: [...rules.slice(0, at), rule, ...rules.slice(at)] };
}

it("a suggestion answers questions, none that was objected to, and changes nothing else", async () => {
  const found = { allow: 0, deny: 0, inFrontOfRules: 0 };
  await fc.assert(
    fc.asyncProperty(
      policies,
      histories,
      fc.array(fc.oneof(calls, actions), { maxLength: 20 }),
      async (given, past, probes) => {
        const policy = given as unknown as JsonObject;
        const before = parsePolicy(policy, origins);
        const { suggestions } = await suggestRules(
          () => past.flatMap(eventsOf),
          JSON.stringify(policy),
          { ...origins, min: 2 },
        );
        for (const suggestion of suggestions) {
          found[suggestion.effect]++;
          if (suggestion.place.before !== undefined) found.inFrontOfRules++;
          const after = parsePolicy(inserted(policy, suggestion), origins);
          const says = (which: typeof before, action: Action, nowMs: number): Effect =>
            which.judge(action, { agent: { id: "agent" }, nowMs })?.effect ?? which.defaultEffect;
          const hours = [START_MS, START_MS + 9 * HOUR_MS, START_MS + 15 * HOUR_MS];
          for (const action of [...probes, ...past.map((each) => each.action)]) {
            for (const nowMs of hours) {
              const [was, is] = [says(before, action, nowMs), says(after, action, nowMs)];
              if (is !== was) expect([was, is]).toEqual(["ask", suggestion.effect]);
            }
          }
          for (const [index, { action, answer }] of past.entries()) {
            const is = says(after, action, START_MS + index * HOUR_MS);
            const was = says(before, action, START_MS + index * HOUR_MS);
            const isAgainst =
              suggestion.effect === "allow"
                ? answer === "denied" || answer === "approved_with_modifications"
                : answer.startsWith("approved");
            if (isAgainst) expect(is).toBe(was);
          }
        }
      },
    ),
    { numRuns: Math.max(400, fc.readConfigureGlobal().numRuns ?? 0) },
  );
  // The law says something only where there are suggestions.
  expect(Math.min(found.allow, found.deny, found.inFrontOfRules)).toBeGreaterThanOrEqual(inLane(6));
});

it("a suggestion is pasted where it says, in block style", async () => {
  await fc.assert(
    fc.asyncProperty(ruleLists, histories, fc.constantFrom(0, 2, 4), async (list, past, indent) => {
      const data = { version: "1", default: "ask", rules: list } as unknown as JsonObject;
      const blocks = (list as unknown as readonly JsonObject[])
        .map((rule) => ruleText(rule, indent))
        .join("");
      const text = `version: "1"\ndefault: ask\nrules:${blocks === "" ? " []" : ""}\n${blocks}`;
      const { suggestions } = await suggestRules(() => past.flatMap(eventsOf), text, {
        ...origins,
        min: 2,
      });
      for (const suggestion of suggestions) {
        if (blocks === "") continue; // the list has no block style yet
        const lines = text.split("\n");
        const { before, line } = suggestion.place;
        const at = before === undefined ? lines.length - 1 : (line ?? 0) - 1;
        const pasted = [
          ...lines.slice(0, at),
          ...suggestion.yaml.trimEnd().split("\n"),
          ...lines.slice(at),
        ].join("\n");
        const [read, meant] = [
          readPolicy(pasted, origins),
          parsePolicy(inserted(data, suggestion), origins),
        ];
        expect(read.rules.map(({ ruleId, effect }) => [ruleId, effect])).toEqual(
          meant.rules.map(({ ruleId, effect }) => [ruleId, effect]),
        );
        for (const { action } of past) {
          const facts = { agent: { id: "agent" }, nowMs: START_MS };
          expect(read.judge(action, facts)?.ruleId).toBe(meant.judge(action, facts)?.ruleId);
        }
      }
    }),
    { numRuns: 100 },
  );
});

it("conjoin() covers nothing that the asking rule does not ask about", async () => {
  const seen = { joined: 0, covered: 0 };
  const patterns = fc.dictionary(
    fc.constantFrom("a", "b", "path", "a.b", "text"),
    fc.oneof(
      fc.constantFrom<JsonValue>(
        "a",
        "ab",
        "Ab",
        "*",
        "Fix: *",
        5,
        true,
        "x",
        "/srv/x/a.md",
        "sub/a",
        "../sub/a",
      ),
      fc
        .constantFrom("/srv/x/*", "/srv/x/y/**", "~/p/**", "~/p/r/*.md", "sub/*", "/srv/**/*.md")
        .map((path): JsonValue => ({ path })),
    ),
    { minKeys: 1, maxKeys: 2 },
  );
  const wheres = [origins, { home: "/srv", cwd: "/srv/x" }, { home: "/home/ada", cwd: "/" }];
  await fc.assert(
    fc.asyncProperty(
      names,
      names,
      patterns,
      askingMatches,
      fc.constantFrom<"allow" | "deny">("allow", "deny"),
      fc.array(args, { minLength: 10, maxLength: 20 }),
      async (server, tool, pattern, match, effect, given) => {
        const asking: JsonObject = { match: match as JsonObject, action: "ask" };
        const rule = conjoin({ match: { server, tool, args: pattern }, effect }, asking, origins);
        if (rule === undefined) return;
        seen.joined++;
        // The gate's own directories may be others than those of whoever looks at the log.
        for (const where of wheres) {
          const [ours, theirs] = [rule, asking].map((each) =>
            parsePolicy({ version: "1", default: "deny", rules: [each] }, where),
          );
          for (const each of given) {
            const action = toolAction(server, tool, each);
            const facts = { agent: { id: "agent" }, nowMs: START_MS };
            // That the asking rule is about this tool at all is where a suggestion starts from.
            const isAbout = parsePolicy(
              { version: "1", rules: [{ match: withoutArgs(match as JsonObject), action: "ask" }] },
              where,
            ).judge(action, facts);
            if (isAbout === undefined || ours?.judge(action, facts) === undefined) continue;
            seen.covered++;
            expect(theirs?.judge(action, facts)?.effect).toBe("ask");
          }
        }
      },
    ),
    { numRuns: 1_000 },
  );
  expect(Math.min(seen.joined, seen.covered)).toBeGreaterThan(inLane(100));
});

/** What a match says about names alone. */
function withoutArgs({ args: given, ...rest }: JsonObject): JsonObject {
  return {
    ...rest,
    kind:
      typeof given === "string" ? "shell" : (rest["kind"] ?? (given === undefined ? "*" : "tool")),
  };
}
