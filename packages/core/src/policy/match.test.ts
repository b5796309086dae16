import { describe, expect, it } from "vitest";
import { httpAction, shellAction, toolAction } from "../action/action.js";
import type { JsonValue } from "../json/value.js";
import { match } from "./match.js";
import type { Match } from "./match.js";
import { readingsOf } from "./readings.js";
import { readWhole } from "./shape.js";
import { spotOf } from "./spot.js";

const parse = (value: JsonValue, warnings: string[] = []): Match =>
  readWhole(match, spotOf(value, ["match"]), {
    stance: { grants: true, read: readingsOf, origins: {} },
    classify: ({ name }) => [{ category: name === "pay" ? "financial" : "read", risk: "low" }],
    warn: (warning) => warnings.push(warning),
  });

describe("match", () => {
  it.each([
    [{ kind: "*" }, ["tool", "http", "shell"]],
    [{ category: "read" }, ["tool", "http", "shell"]],
    [{ name: "x" }, ["tool", "http", "shell"]],
    [{ tool: "x" }, ["tool"]],
    [{ server: "x", kind: "*" }, ["tool"]],
    [{ args: { a: "x" } }, ["tool"]],
    [{ args: "x" }, ["shell"]],
    [{ name: "x", args: "x" }, ["shell"]],
    [{ host: "x.example" }, ["http"]],
    [{ port: 1 }, ["http"]],
  ])("of %j is for %j", (value, kinds) => {
    expect(parse(value).kinds).toEqual(kinds);
  });

  it("tests tool, name and category by name, the rest by content", () => {
    const { byName, byContent } = parse({
      tool: "p*",
      name: "*y",
      category: "financial",
      server: "bank",
      args: { a: "1" },
    });
    expect(byName(toolAction("x", "pay", {}))).toBe(true);
    expect(byName(toolAction("x", "play", {}))).toBe(false);
    expect(byContent(toolAction("bank", "anything", { a: "1" }))).toBe(true);
    expect(byContent(toolAction("shop", "anything", { a: "1" }))).toBe(false);
    expect(byContent(toolAction("bank", "anything", { a: "2" }))).toBe(false);
  });

  it("tests host, method and port by content", () => {
    const { byContent } = parse({ host: "*.example", method: "p*", port: 443 });
    expect(byContent(httpAction("PUT", "https://a.example/"))).toBe(true);
    expect(byContent(httpAction("GET", "https://a.example/"))).toBe(false);
    expect(byContent(httpAction("PUT", "https://a.test/"))).toBe(false);
    expect(byContent(httpAction("PUT", "https://a.example:8443/"))).toBe(false);
    expect(byContent(shellAction("x"))).toBe(false);
  });

  it("says which key contradicts the rest", () => {
    expect(() => parse({ tool: "a", args: "x" })).toThrow(
      '"args" as one glob is for shell actions, which the rest of the match excludes',
    );
    expect(() => parse({ kind: "shell", args: { a: "x" } })).toThrow(
      '"args" as a map is for tool actions, which the rest of the match excludes',
    );
    expect(() => parse({ kind: "http", server: "a" })).toThrow(
      '"server" is for tool actions, which the rest of the match excludes',
    );
  });

  it("warns of a host that lets in more than it looks like", () => {
    const warnings: string[] = [];
    parse({ host: "*example.com" }, warnings);
    expect(warnings).toEqual([
      'match.host: "*example.com" also allows "attacker-example.com"; "*.example.com" is its subdomains only',
    ]);
  });

  it("warns of a name pattern whose characters are not what they look like", () => {
    const warnings: string[] = [];
    for (const tool of [
      "delete\u200b*",
      "dеlete*",
      "ｄelete*",
      "удалить*",
      "slet_bøger",
      "café*",
      "日本*",
      "plain_*",
    ])
      parse({ tool, server: "s" }, warnings);
    expect(warnings).toEqual([
      'match.tool: the pattern "delete\\u200b*" has a character that cannot be seen, U+200B',
      'match.tool: the pattern "dеlete*" has a character that looks like "e" and is U+0435',
      'match.tool: the pattern "ｄelete*" has a character that looks like "d" and is U+FF44',
    ]);
  });
});
