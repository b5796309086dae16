import { describe, expect, it } from "vitest";
import { httpAction, shellAction, toolAction } from "@acp/core";
import type { Action } from "@acp/core";
import { allowDraft, denyDraft } from "./match-of.js";
import type { DraftContext } from "./match-of.js";
import { shapeOf } from "./shape.js";

const context = (action: Action, isReading = false): DraftContext => ({
  shape: shapeOf(action),
  isReading,
  origins: { home: "/home/ada", cwd: "/work" },
});
const tools = (...list: readonly object[]): readonly Action[] =>
  list.map((args) => toolAction("s", "t", args));
const allow = (actions: readonly Action[]): unknown => {
  const [first] = actions;
  return first === undefined ? undefined : allowDraft(actions, context(first));
};
const deny = (actions: readonly Action[], isWhole = false): unknown => {
  const [first] = actions;
  return first === undefined ? undefined : denyDraft(actions, context(first), isWhole);
};

describe("allowDraft()", () => {
  it("names every argument that was always given, and says what is open", () => {
    expect(
      allow(tools({ path: "src/a.ts", o: { m: 1 }, x: "a" }, { path: "src/b.ts", o: { m: 1 } })),
    ).toEqual({
      match: { server: "s", tool: "t", args: { path: { path: "src/*.ts" }, "o.m": 1 } },
      covers: [
        { argument: "path", what: "every path directly in src whose name ends in .ts", seen: 2 },
        { argument: "o.m", what: "only 1", seen: 1 },
        { argument: "x", what: "anything, or nothing", seen: 1 },
        { argument: "…", what: "every other argument, whatever its value" },
      ],
      relative: [["path"]],
    });
  });

  it("names the tool alone where there were no arguments", () => {
    expect(allow(tools({}, {}))).toMatchObject({
      match: { server: "s", tool: "t" },
      covers: [{ argument: "…" }],
    });
  });

  it.each([
    ["an argument that says what is done", tools({ mode: "a" }, { mode: "b" }), { at: ["mode"] }],
    ["a dotted name", tools({ "a.b": 1 }), { at: ["a.b"] }],
    ["a name that is no key", tools({ ["__proto__"]: 1, a: { __proto__: null } }), undefined],
    [
      "many arguments",
      tools(Object.fromEntries(Array.from({ length: 70 }, (_, index) => [`a${index}`, 1]))),
      {},
    ],
    ["a name that is a pattern", [toolAction("s", "t*")], {}],
    ["a server that is a pattern", [toolAction("s?", "t")], {}],
    ["a method that is a pattern", [httpAction("G*T", "https://a.example/")], {}],
  ])("gives nothing for %s", (_what, actions, expected = {}) => {
    expect(allow(actions)).toMatchObject({ problem: expect.any(String), ...expected });
  });

  it("says that a tunnel carries anything", () => {
    expect(allow([httpAction("CONNECT", "a.example:443")])).toMatchObject({
      match: { kind: "http", host: "a.example", port: 443, method: "CONNECT" },
      covers: [{ argument: "tunnel" }],
    });
  });
});

describe("denyDraft()", () => {
  it("is about all of a shape, where it may be", () => {
    expect(deny(tools({ a: 1 }), true)).toMatchObject({ match: { server: "s", tool: "t" } });
  });

  it("names what tells most, and texts only where nothing else does", () => {
    expect(
      deny(tools({ path: "/etc/a", content: "Hi: a" }, { path: "/etc/b", content: "Hi: b" })),
    ).toMatchObject({
      match: { args: { path: { path: "/etc/*" } } },
    });
    expect(deny(tools({ content: "Hi: a" }, { content: "Hi: b" }))).toMatchObject({
      match: { args: { content: "Hi: *" } },
    });
    expect(deny(tools({ content: "a" }, { content: "b" }))).toEqual({
      problem: expect.any(String),
    });
    expect(deny(tools({ "a.b": 1 }))).toEqual({ problem: expect.any(String) });
  });

  it.each([
    [["rm a", "rm b"], "rm *"],
    [["a; b", "a; b"], "a; b"],
  ])("of %j is %s", (commands, args) => {
    expect(deny(commands.map((command) => shellAction(command)))).toMatchObject({
      match: { kind: "shell", args },
    });
  });

  it.each([[["rm", "rm b"]], [["a; b", "a; c"]], [["ls *"]]])("of %j is none", (commands) => {
    expect(deny(commands.map((command) => shellAction(command)))).toEqual({
      problem: expect.any(String),
    });
  });
});
