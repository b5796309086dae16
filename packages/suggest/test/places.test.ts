/** Suggestions in the policies where they are to stand, and suggestions that deny. */
import { describe, expect, it } from "vitest";
import { shellAction, toolAction } from "@acp/core";
import type { JsonObject } from "@acp/core";
import { calls, matchesOf, reasonsOf, suggest, writes } from "./kit.js";
import type { Step } from "./kit.js";

const FIVE = ["~/p/app/a.md", "~/p/app/b.md", "~/p/app/c.md", "~/p/app/d.md", "~/p/app/e.md"];

describe("suggestRules() in a policy", () => {
  const rulesOf = (...rules: readonly JsonObject[]): string =>
    JSON.stringify({ version: "1", default: "deny", rules });
  const steps = writes("approve", FIVE);

  it("puts a rule before the one that asks, and makes it part of it", async () => {
    const policy = rulesOf(
      { id: "reads", match: { category: "read" }, action: "allow" },
      {
        id: "writes",
        match: { tool: "write_*", args: { path: { path: "~/p/**" }, mode: "*" } },
        action: "ask",
        rate_limit: "9/hour",
      },
    );
    const { suggestions } = await suggest(
      steps.map((step) => ({
        ...step,
        action: toolAction("files", "write_file", { path: "~/p/x/a", mode: "w" }),
      })),
      { policy },
    );
    expect(suggestions.map(({ rule, place }) => ({ rule, place }))).toEqual([
      {
        place: { before: "writes", line: 1 },
        rule: {
          id: "allow-files-write_file",
          match: { server: "files", tool: "write_file", args: { path: "~/p/x/a", mode: "w" } },
          action: "allow",
          rate_limit: "9/hour",
        },
      },
    ]);
  });

  it("does not go beyond the asking rule, where everything else is denied", async () => {
    // Without `mode` the asking rule does not match, and the default denies.
    const policy = rulesOf({
      id: "appends",
      match: { tool: "write_file", args: { mode: "append" } },
      action: "ask",
    });
    const modes = FIVE.map((path, index) => ({
      path,
      content: `text ${index}`,
      ...(index === 0 ? { mode: "append" } : { mode: "append" }),
    }));
    const { suggestions } = await suggest(calls("approve", "write_file", modes), { policy });
    expect(suggestions.map(({ rule }) => Object(rule["match"]).args.mode)).toEqual(["append"]);
  });

  it("holds back where one argument would need two patterns", async () => {
    const policy = rulesOf({
      id: "notes",
      match: { tool: "write_file", args: { content: "text*" } },
      action: "ask",
    });
    expect(await reasonsOf(steps, { policy })).toEqual([
      "allow write_file on files 5: the rule that asks looks at the same argument in another way",
    ]);
  });

  it("keeps two rules apart that ask about the same tool", async () => {
    const policy = rulesOf(
      { id: "first", match: { tool: "write_file", args: { path: "*a.md" } }, action: "ask" },
      { id: "second", match: { tool: "write_file" }, action: "ask" },
    );
    const { suggestions } = await suggest([...steps, ...steps.slice(1)], { policy });
    expect(suggestions.map(({ place }) => place.before)).toEqual(["second"]);
  });
});

describe("suggestRules() for what was denied", () => {
  it("suggests to deny the whole tool where none of it was ever approved", async () => {
    const { suggestions } = await suggest(writes("deny", ["/etc/passwd", "~/x", "y"]));
    expect(suggestions.map(({ rule, answered }) => [rule, answered.denied])).toEqual([
      [
        {
          id: "deny-files-write_file",
          match: { server: "files", tool: "write_file" },
          action: "deny",
        },
        3,
      ],
    ]);
    expect(await reasonsOf(writes("deny", ["a", "b"]))).toEqual([]);
  });

  it("suggests to deny the part that was denied, beside what was approved", async () => {
    const { suggestions } = await suggest([
      ...writes("approve", FIVE),
      ...writes("deny", ["/etc/a", "/etc/b", "/etc/c"]),
    ]);
    expect(
      suggestions.map(({ effect, rule }) => [effect, Object(rule["match"]).args.path]),
    ).toEqual([
      ["deny", { path: "/etc/*" }],
      ["allow", { path: "~/p/app/*.md" }],
    ]);
  });

  it("never denies what a person approved, or an earlier consent did", async () => {
    const both = [
      ...writes("deny", ["/etc/a", "/etc/a", "/etc/a"]),
      ...writes("approve", ["/etc/a"]),
    ];
    expect(await reasonsOf(both)).toEqual([
      "deny write_file on files 3: you approved a call that it would cover",
    ]);
  });

  it("denies commands by their beginning, or one very command", async () => {
    const denied = (...commands: readonly string[]): readonly Step[] =>
      commands.map((command) => ({ action: shellAction(command), answer: "deny" }));
    const matches = async (...commands: readonly string[]): Promise<unknown> =>
      matchesOf(await suggest(denied(...commands)));
    expect(await matches("curl a", "curl b", "curl c")).toEqual([
      { kind: "shell", args: "curl *" },
    ]);
    expect(await matches("a | b", "a | b", "a | b")).toEqual([{ kind: "shell", args: "a | b" }]);
    expect(await matches("a | b", "a | c", "a | d")).toEqual([]);
  });

  it("denies destructive calls as well as any", async () => {
    expect(matchesOf(await suggest(calls("deny", "delete_all", [{}, {}, {}])))).toEqual([
      { server: "files", tool: "delete_all" },
    ]);
  });
});
