import { describe, expect, it } from "vitest";
import { type Action, httpAction, shellAction, toolAction } from "../action/action.js";
import type { ActionKind } from "../action/action.js";
import type { OfferTerms } from "../types/scope.js";
import type { JsonValue } from "../json/value.js";
import { idleOffers, offers as offersShape, provesArguments } from "./offers.js";
import type { PathOrigins } from "./path.js";
import { parsePolicy } from "./parse.js";
import { readWhole } from "./shape.js";
import { spotOf } from "./spot.js";

const origins = { home: "/home/ada", cwd: "/work" };
const KINDS: readonly ActionKind[] = ["tool", "http", "shell"];
const read = (offers: JsonValue, from: PathOrigins = origins) =>
  readWhole(offersShape, spotOf(offers, ["offers"]), from);
const offersOf = (offers: JsonValue, action: Action): readonly OfferTerms[] =>
  read(offers).flatMap(({ make }) => make(action) ?? []);
const scopesOf = (offers: JsonValue, action: Action): readonly unknown[] =>
  offersOf(offers, action).map(({ scope }) => scope);
const write = (args: object) => toolAction("files", "write_file", args);
const scope = (args: object): object => ({
  kind: "arguments",
  server: "files",
  name: "write_file",
  args,
});

describe("offers", () => {
  it("makes the offers that fit the kind of the action, with seconds as milliseconds", () => {
    const all = [
      { covers: "call", ttl: 60, uses: 3 },
      { covers: "tool", ttl: 0.5 + 0.5 },
      { covers: "host", ttl: 180 },
      { covers: "site", ttl: 180 },
    ];
    expect(offersOf(all, write({ path: "a" }))).toEqual([
      { id: "call", scope: { kind: "call" }, ttlMs: 60_000, uses: 3 },
      { id: "tool", scope: { kind: "tool", server: "files", name: "write_file" }, ttlMs: 1_000 },
    ]);
    expect(scopesOf(all, httpAction("GET", "https://example.com/"))).toEqual([
      { kind: "call" },
      { kind: "host", host: "example.com", port: 443, methods: ["GET", "HEAD"] },
      { kind: "host", host: "example.com", port: 443, methods: ["*"], twin: "www.example.com" },
    ]);
    expect(scopesOf(all, shellAction("ls; rm x"))).toEqual([{ kind: "call" }]);
  });

  it("offers argument patterns where they cover the call, with paths from the root", () => {
    const offers = [
      {
        covers: "arguments",
        ttl: 60,
        args: { path: { path: "~/projects/**" }, "options.mode": "w*" },
      },
    ];
    const call = write({ path: "/home/ada/projects/x", options: { mode: "write" } });
    expect(scopesOf(offers, call)).toEqual([
      scope({ path: { path: "/home/ada/projects/**" }, "options.mode": "w*" }),
    ]);
    expect(scopesOf(offers, write({ path: "~/projects/x", options: { mode: "w" } }))).toHaveLength(
      1,
    );
    expect(scopesOf(offers, write({ path: "/etc/passwd", options: { mode: "w" } }))).toEqual([]);
    expect(
      scopesOf(offers, write({ path: "~/projects/../.ssh/id", options: { mode: "w" } })),
    ).toEqual([]);
    expect(scopesOf(offers, write({ path: "~/projects/x" }))).toEqual([]);
    expect(
      scopesOf(
        [{ covers: "arguments", ttl: 60, args: { file: { path: { path: "src/*" }, mode: 1 } } }],
        write({ file: { path: "src/a", mode: 1 } }),
      ),
    ).toEqual([scope({ file: { path: { path: "/work/src/*" }, mode: 1 } })]);
  });

  it("offers the call's own values as patterns, and nothing where they could mean more", () => {
    const offers = [{ covers: "arguments", ttl: 60, same: ["path", "mode"] }];
    expect(scopesOf(offers, write({ path: "a.txt", mode: 5, content: "x" }))).toEqual([
      scope({ path: "a.txt", mode: 5 }),
    ]);
    for (const path of ["*", "a?", "", null, ["a"], { path: "a" }, "a\u0000", "x".repeat(5_000)])
      expect(scopesOf(offers, write({ path, mode: 5 }))).toEqual([]);
    expect(scopesOf(offers, write({ path: "a.txt" }))).toEqual([]);
    expect(scopesOf(offers, httpAction("GET", "https://example.com/"))).toEqual([]);
  });

  it.each<[string, JsonValue, string]>([
    ["no list", {}, "expected a list"],
    ["no ttl", [{ covers: "call" }], '"covers" and "ttl"'],
    ["an unknown key", [{ covers: "call", ttl: 1, time: 1 }], "unknown key"],
    [
      "a scope that is none",
      [{ covers: "everything", ttl: 1 }],
      "expected call, arguments, tool, host or site",
    ],
    ["for ever", [{ covers: "call", ttl: 86_401 }], "number from 1 to 86400"],
    ["no use", [{ covers: "call", ttl: 1, uses: 0 }], "whole number from 1"],
    [
      "patterns of a call",
      [{ covers: "call", ttl: 1, args: { a: "b" } }],
      '"args" is for an offer that covers arguments',
    ],
    ["arguments without any", [{ covers: "arguments", ttl: 1 }], "covers: tool"],
    ["no arguments", [{ covers: "arguments", ttl: 1, args: {} }], "the map is empty"],
    [
      "an empty list of arguments",
      [{ covers: "arguments", ttl: 1, same: [] }],
      "the list is empty",
    ],
    [
      "a nested argument as the same",
      [{ covers: "arguments", ttl: 1, same: ["a.b"] }],
      "has a dot",
    ],
    [
      "an argument twice",
      [{ covers: "arguments", ttl: 1, args: { a: "b" }, same: ["a"] }],
      'is in "args" already',
    ],
    [
      "a pattern that is none",
      [{ covers: "arguments", ttl: 1, args: { a: null } }],
      "expected a glob",
    ],
    [
      "a path that is none",
      [{ covers: "arguments", ttl: 1, args: { a: { path: "/a/../b" } } }],
      'has ".."',
    ],
    [
      "more than can be read",
      Array.from({ length: 17 }, () => ({ covers: "call", ttl: 1 })),
      "more than 16 offers",
    ],
  ])("refuses %s", (_, offers, why) => {
    expect(() => read(offers)).toThrow(why);
  });

  it("refuses an offer that the rule's match excludes", () => {
    const problemsOf = (offers: JsonValue, kinds: readonly ActionKind[]): readonly string[] =>
      idleOffers(spotOf(offers, ["offers"]), read(offers), kinds).map(({ message }) => message);
    const both = [
      { covers: "host", ttl: 1 },
      { covers: "tool", ttl: 1 },
    ];
    expect(problemsOf(both, KINDS)).toEqual([]);
    expect(problemsOf(both, ["tool"])).toEqual([
      expect.stringContaining('offers[0].covers: "host" is for http actions'),
    ]);
    expect(problemsOf(both, ["http", "shell"])).toEqual([
      expect.stringContaining('offers[1].covers: "tool" is for tool actions'),
    ]);
  });

  it("refuses a path from a home that no pattern can name, or that is not known", () => {
    const offers = [{ covers: "arguments", ttl: 1, args: { a: { path: "~/x" } } }];
    expect(() => read(offers, { home: "/home/a*" })).toThrow("which no pattern can name");
    expect(() => read(offers, {})).toThrow("home directory, which was not given");
    const whole = [{ covers: "arguments", ttl: 1, args: { a: { path: "~" } } }];
    expect(read(whole, { home: "/home/ada/" })).toHaveLength(1);
  });
});

describe("a rule with offers", () => {
  const load = (rule: object) =>
    parsePolicy(
      { version: "1", rules: [{ match: { tool: "*" }, action: "ask", ...rule }] },
      origins,
    );

  it("offers, and asks on its own terms beside", () => {
    const policy = load({
      offers: [{ covers: "tool", ttl: 60 }],
      quorum: 1,
      timeout: 5,
      rate_limit: "1/day",
    });
    expect(policy.judge(write({}), { agent: { id: "a" }, nowMs: 0 })).toMatchObject({
      ask: { timeoutMs: 5_000, quorum: 1, offers: [{ id: "tool" }] },
      limits: [{ max: 1 }],
    });
  });

  it.each(["allow", "deny"])("that says %s does not load", (action) => {
    expect(() => load({ action, offers: [] })).toThrow(
      `"offers" means nothing on a rule whose action is ${action}`,
    );
  });

  it("warns where its questions offer nothing", () => {
    const offers = [{ covers: "tool", ttl: 60 }];
    expect(load({ offers }).warnings).toEqual([]);
    expect(load({ offers, level: "critical" }).warnings).toEqual([
      expect.stringContaining("rules[0].offers does nothing"),
    ]);
    expect(load({ offers, quorum: 2 }).warnings).toEqual([
      expect.stringContaining("rules[0].offers does nothing"),
    ]);
  });
});

describe("provesArguments()", () => {
  it("reads patterns as an allow does", () => {
    const of = (args: object) =>
      ({ ...scope(args), kind: "arguments", server: "files", name: "write_file" }) as never;
    expect(
      provesArguments(of({ path: { path: "/srv/**" } }), write({ path: "/srv/a" }), origins),
    ).toBe(true);
    expect(
      provesArguments(of({ path: { path: "/srv/**" } }), write({ path: "/SRV/a" }), origins),
    ).toBe(false);
    expect(provesArguments(of({ path: "*" }), write({}), origins)).toBe(false);
    expect(provesArguments(of({ path: "*" }), write({ path: ["a", ""] }), origins)).toBe(false);
    expect(provesArguments(of({}), write({}), origins)).toBe(false);
    expect(provesArguments(of({ path: null }), write({}), origins)).toBe(false);
    expect(
      provesArguments(of({ path: "a" }), toolAction("other", "write_file", { path: "a" }), origins),
    ).toBe(false);
  });
});
