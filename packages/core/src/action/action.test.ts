import { describe, expect, it } from "vitest";
import {
  httpAction,
  isAction,
  isHttpAction,
  isShellAction,
  isToolAction,
  shellAction,
  toolAction,
} from "./action.js";
import type { ConsentErrorCode } from "../errors.js";
import { ACTION_BYTES_MAX, ACTION_DEPTH_MAX, NAME_CHARS_MAX } from "../limits.js";

// What plain JSON can show is in spec/vectors/actions.json, run by test/vectors-actions.test.ts.
const refusal = (code: ConsentErrorCode): unknown => expect.objectContaining({ code });

function isDeepFrozen(value: unknown): boolean {
  return (
    typeof value !== "object" ||
    value === null ||
    (Object.isFrozen(value) && Object.values(value).every(isDeepFrozen))
  );
}

describe("toolAction()", () => {
  it("toolAction() keeps nothing that its caller can change", () => {
    const args = { list: [{ path: "/safe" }] };
    const action = toolAction("files", "read", args);
    args.list[0] = { path: "/etc/passwd" };
    expect(action.args).toEqual({ list: [{ path: "/safe" }] });
    expect(isDeepFrozen(action)).toBe(true);
    expect(() => Object.assign(action.meta, { server: "other" })).toThrow(TypeError);
  });

  it("toolAction() reads a shifty argument once and keeps what it saw", () => {
    let reads = 0;
    const shifty = new Proxy(
      { path: "/safe" },
      {
        get: () => "/etc/passwd",
        getOwnPropertyDescriptor: (target, key) => ({
          ...Reflect.getOwnPropertyDescriptor(target, key),
          value: reads++ === 0 ? "/safe" : "/etc/passwd",
        }),
      },
    );
    expect(toolAction("files", "read", shifty).args).toEqual({ path: "/safe" });
    expect(reads).toBe(1);
  });

  it.each<[string, unknown, ConsentErrorCode]>([
    [
      "a getter",
      Object.defineProperty({}, "path", { get: () => "/safe", enumerable: true }),
      "json_not_data",
    ],
    ["a toJSON", { path: "/etc/passwd", toJSON: () => ({ path: "/safe" }) }, "json_not_data"],
    ["undefined inside", { path: undefined }, "json_not_data"],
    ["an unpaired surrogate", { path: "\ud800" }, "json_lone_surrogate"],
    ["a Map", new Map([["path", "/safe"]]), "json_not_data"],
    ["a text", "path", "action_invalid"],
    ["null", null, "action_invalid"],
    ["a list", [], "action_invalid"],
  ])("toolAction() refuses args with %s", (_, args, code) => {
    expect(() => toolAction("files", "read", args)).toThrow(refusal(code));
  });

  it.each<unknown>([undefined, null, 1, ["a"], { toString: () => "a" }])(
    "toolAction() refuses the names %j",
    (name) => {
      expect(() => toolAction(name as string, "read", {})).toThrow(refusal("action_invalid"));
      expect(() => toolAction("files", name as string, {})).toThrow(refusal("action_invalid"));
    },
  );

  it("toolAction() takes names up to the limit, and no unpaired surrogate in one", () => {
    expect(toolAction("s", "x".repeat(NAME_CHARS_MAX)).name).toHaveLength(NAME_CHARS_MAX);
    expect(() => toolAction("s", "x".repeat(NAME_CHARS_MAX + 1))).toThrow(
      refusal("action_invalid"),
    );
    expect(() => toolAction("s", "x\udfff")).toThrow(refusal("json_lone_surrogate"));
  });

  it("toolAction() takes arguments nested as deep as the messages around them can hold, and no deeper", () => {
    const nested = (levels: number): unknown =>
      JSON.parse(`${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`);
    expect(() => toolAction("s", "t", nested(ACTION_DEPTH_MAX))).not.toThrow();
    expect(() => toolAction("s", "t", nested(ACTION_DEPTH_MAX + 1))).toThrow(
      refusal("json_too_deep"),
    );
  });

  it("toolAction() counts the bytes of the canonical form exactly", () => {
    const overhead = '{"args":{"a":""},"meta":{"kind":"tool","server":"s"},"name":"t"}'.length;
    const room = ACTION_BYTES_MAX - overhead;
    expect(() => toolAction("s", "t", { a: "x".repeat(room) })).not.toThrow();
    expect(() => toolAction("s", "t", { a: "x".repeat(room + 1) })).toThrow(
      refusal("json_too_large"),
    );
    expect(() => toolAction("s", "t", { a: "é".repeat(Math.floor(room / 2)) })).not.toThrow();
    expect(() => toolAction("s", "t", { a: "é".repeat(Math.floor(room / 2) + 1) })).toThrow(
      refusal("json_too_large"),
    );
    expect(() => toolAction("s", "t", { a: "\u0001".repeat(Math.floor(room / 6) + 1) })).toThrow(
      refusal("json_too_large"),
    );
    expect(() => toolAction("s", "t", { a: Array.from({ length: room / 2 }, () => 0.1) })).toThrow(
      refusal("json_too_large"),
    );
  });

  it("toolAction() takes as many children as fit, and walks none of more", () => {
    const size = (args: object): number =>
      JSON.stringify({ args, meta: { kind: "tool", server: "s" }, name: "t" }).length;
    const items = (length: number): object => ({ a: Array.from({ length }, () => 0) });
    const most = Math.floor((ACTION_BYTES_MAX - size(items(1))) / 2) + 1;
    expect(() => toolAction("s", "t", items(most))).not.toThrow();
    expect(() => toolAction("s", "t", items(most + 1))).toThrow(refusal("json_too_large"));
    const wide = { list: Array.from({ length: ACTION_BYTES_MAX / 2 }, () => undefined) };
    // What is walked is refused for what it is.
    expect(() => toolAction("s", "t", wide)).toThrow(refusal("json_too_large"));
    const names = Array.from({ length: ACTION_BYTES_MAX / 5 + 1 }, (_, n) => [`${n}`, undefined]);
    expect(() => toolAction("s", "t", Object.fromEntries(names))).toThrow(
      refusal("json_too_large"),
    );
  });
});

describe("httpAction()", () => {
  it("httpAction() freezes deep and keeps nothing of its caller's", () => {
    const headers = { "X-Key": "{{secret:A}}" };
    const action = httpAction("GET", "http://a.example/", { headers });
    headers["X-Key"] = "changed";
    expect(action.args).toEqual({ headers: { "x-key": "{{secret:A}}" } });
    expect(isDeepFrozen(action)).toBe(true);
  });

  it("httpAction() keeps a header that is called __proto__", () => {
    const headers = Object.fromEntries([["__proto__", "{{secret:A}}"]]);
    expect(
      Object.entries(httpAction("GET", "http://a.example/", { headers }).args?.headers ?? {}),
    ).toEqual([["__proto__", "{{secret:A}}"]]);
  });

  it.each<unknown>([undefined, null, 1, ["GET"], "x".repeat(NAME_CHARS_MAX + 1)])(
    "httpAction() refuses the method %j",
    (method) => {
      expect(() => httpAction(method as string, "http://a.example/")).toThrow(
        refusal("action_invalid"),
      );
    },
  );

  it.each<[string, unknown]>([
    ["a list", { a: ["{{secret:A}}"] }],
    ["a number", { a: 1 }],
    ["undefined", { a: undefined }],
  ])("httpAction() refuses a header that is %s", (_, headers) => {
    expect(() =>
      httpAction("GET", "http://a.example/", { headers: headers as Record<string, string> }),
    ).toThrow(refusal("action_invalid"));
  });

  it("httpAction() refuses an unpaired surrogate in a header it keeps, and headers beyond the limit", () => {
    expect(() =>
      httpAction("GET", "http://a.example/", { headers: { a: "{{secret:A}}\ud800" } }),
    ).toThrow(refusal("json_lone_surrogate"));
    const long = `{{secret:A}}${"x".repeat(ACTION_BYTES_MAX)}`;
    expect(() => httpAction("GET", "http://a.example/", { headers: { a: long } })).toThrow(
      refusal("json_too_large"),
    );
  });
});

describe("shellAction()", () => {
  it.each<unknown>([undefined, null, 1, ["ls"]])(
    "shellAction() refuses the command %j",
    (value) => {
      expect(() => shellAction(value as string)).toThrow(refusal("action_invalid"));
    },
  );

  it.each<unknown>([null, 1, ["/"]])(
    "shellAction() refuses the working directory and shell %j",
    (value) => {
      expect(() => shellAction("ls", { cwd: value as string })).toThrow(refusal("action_invalid"));
      expect(() => shellAction("ls", { shell: value as string })).toThrow(
        refusal("action_invalid"),
      );
    },
  );

  it("shellAction() refuses unpaired surrogates and what is too large", () => {
    expect(() => shellAction("echo \ud800")).toThrow(refusal("json_lone_surrogate"));
    expect(() => shellAction("x".repeat(ACTION_BYTES_MAX))).toThrow(refusal("json_too_large"));
    expect(() =>
      shellAction("\n".repeat(ACTION_BYTES_MAX / 2).padEnd(ACTION_BYTES_MAX / 2 + 1, "x")),
    ).toThrow(refusal("json_too_large"));
  });

  it("shellAction() reads each option once", () => {
    let reads = 0;
    const action = shellAction("ls", {
      get cwd() {
        return reads++ === 0 ? "/safe" : "/etc";
      },
    });
    expect(action.meta).toEqual({ kind: "shell", cwd: "/safe" });
  });
});

describe("isAction()", () => {
  it("isAction() knows what a constructor made from everything that looks like it", () => {
    const action = toolAction("s", "t", {});
    expect(isAction(action)).toBe(true);
    for (const value of [
      { ...action },
      structuredClone(action),
      Object.create(action),
      new Proxy(action, {}),
      null,
      undefined,
      "t",
    ]) {
      expect(isAction(value)).toBe(false);
    }
  });

  it("isToolAction(), isHttpAction() and isShellAction() tell the kinds apart", () => {
    const kinds = [
      toolAction("s", "t", {}),
      httpAction("GET", "http://a.example/"),
      shellAction("ls"),
    ].map((action) => [isToolAction(action), isHttpAction(action), isShellAction(action)]);
    expect(kinds).toEqual([
      [true, false, false],
      [false, true, false],
      [false, false, true],
    ]);
  });
});
