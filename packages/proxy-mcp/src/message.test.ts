import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { idAtEdges, readClientLine, readServerLine, resultOf } from "./message.js";
import { VALUES_MAX } from "./limits.js";

const read = (text: string | Buffer): ReturnType<typeof readClientLine> =>
  readClientLine(Buffer.concat([Buffer.from(text), Buffer.from("\n")]));
const CALL = '{"jsonrpc":"2.0","id":8,"method":"tools/call","params":{"name":"x"}}';

describe("readClientLine()", () => {
  it.each([
    [
      "a request",
      '{"jsonrpc":"2.0","id":1,"method":"ping"}',
      { kind: "request", id: 1, method: "ping" },
    ],
    [
      "a request with a text for an id",
      '{"id":"a","method":"x/y","params":[1]}',
      { kind: "request", id: "a", method: "x/y", params: [1] },
    ],
    [
      "a notification",
      '{"method":"notifications/x","params":{}}',
      { kind: "notification", method: "notifications/x" },
    ],
    ["a result", '{"id":1,"result":null}', { kind: "response", id: 1 }],
    ["an error", '{"id":"a","error":{"code":1}}', { kind: "response", id: "a" }],
    [
      "an escaped method",
      '{"id":1,"method":"tools\\/call","params":{}}',
      { kind: "request", method: "tools/call" },
    ],
    ["blanks around it", ' \t{"id":1,"method":"ping"} ', { kind: "request" }],
    [
      "numbers that no double holds",
      '{"id":1,"method":"x","params":{"n":12345678901234567890,"m":1e999}}',
      { kind: "request" },
    ],
    ["CR LF", '{"id":1,"method":"ping"}\r', { kind: "request" }],
    [
      "deep nesting outside of a call",
      `{"id":1,"method":"x","params":${"[".repeat(100_000)}${"]".repeat(100_000)}}`,
      { kind: "request" },
    ],
  ])("takes %s", (_what, text, expected) => {
    expect(read(text)).toMatchObject(expected);
  });

  it("keeps the line's bytes", () => {
    const line = Buffer.from(' {"id" : 1,"method":"ping"}\r\n');
    expect(readClientLine(line)).toMatchObject({ line });
  });

  it.each(["", " ", "\t", "\r"])("passes over the blank line %j", (text) => {
    expect(read(text)).toBeUndefined();
  });

  it.each([
    ["half a message", '{"id":1', -32700, "not one JSON value"],
    ["two messages on a line", `${CALL}${CALL}`, -32700, "not one JSON value"],
    ["a byte order mark", `\ufeff${CALL}`, -32700, "not one JSON value"],
    ["NaN", '{"id":NaN,"method":"x"}', -32700, "not one JSON value"],
    ["bytes that are not UTF-8", Buffer.from([0x22, 0xff, 0x22]), -32700, "not UTF-8"],
    ["a batch", `[${CALL}]`, -32600, "batch"],
    ["an empty batch", "[]", -32600, "batch"],
    ["a number", "1", -32600, "not a JSON object"],
    ["null", "null", -32600, "not a JSON object"],
    [
      "a message hidden behind a CR",
      `{"jsonrpc":"2.0","id":7,"method":"ping","params":\r${CALL}\r}`,
      -32700,
      "carriage return",
    ],
    ["two CR at the end", '{"id":1,"method":"ping"}\r\r', -32700, "carriage return"],
    [
      "too many members",
      `{"id":1,"method":"ping","params":{${Array.from({ length: VALUES_MAX }, (_, n) => `"${n}":0`).join()}}}`,
      -32600,
      "more than 65536 values",
    ],
    [
      "too many items",
      `{"id":1,"method":"ping","params":{"a":[${"0,".repeat(VALUES_MAX)}0]}}`,
      -32600,
      "more than 65536 values",
    ],
    [
      "too many arrays in each other",
      `{"id":1,"method":"ping","params":{"a":${"[".repeat(5 * VALUES_MAX)}${"]".repeat(5 * VALUES_MAX)}}}`,
      -32600,
      "more than 65536 values",
    ],
    ["two methods", '{"id":1,"method":"ping","method":"tools/call"}', -32600, "same key twice"],
    [
      "two methods, one of them escaped",
      '{"id":1,"method":"ping","m\\u0065thod":"tools/call"}',
      -32600,
      "same key twice",
    ],
    [
      "two arguments",
      '{"id":1,"method":"tools/call","params":{"name":"x","arguments":{"a":1,"a":2}}}',
      -32600,
      "same key twice",
    ],
    [
      "two keys deep inside",
      '{"id":1,"method":"x","params":[{"y":[{"z":1,"z":1}]}]}',
      -32600,
      "same key twice",
    ],
    [
      "two __proto__",
      '{"id":1,"method":"x","__proto__":1,"__proto__":{}}',
      -32600,
      "same key twice",
    ],
    [
      "Method beside method",
      '{"id":1,"method":"ping","Method":"tools/call"}',
      -32600,
      '"Method" differs from "method" in case only',
    ],
    ["METHOD instead of method", '{"id":1,"METHOD":"tools/call"}', -32600, "in case only"],
    [
      "params in a letter that Go folds",
      '{"id":1,"method":"ping","param\u017f":{}}',
      -32600,
      "in case only",
    ],
    [
      "Tools/Call",
      '{"id":1,"method":"Tools/Call","params":{}}',
      -32600,
      'not spelled "tools/call"',
    ],
    [
      "tools/call with a blank",
      '{"id":1,"method":"tools/call ","params":{}}',
      -32600,
      'not spelled "tools/call"',
    ],
    [
      "a call without an id",
      '{"method":"tools/call","params":{"name":"x"}}',
      -32600,
      "without an id",
    ],
    ["an id of null", '{"id":null,"method":"ping"}', -32600, "its id"],
    ["a call with an id of null", '{"id":null,"method":"tools/call"}', -32600, "its id"],
    ["an id that is a list", '{"id":[1],"method":"ping"}', -32600, "its id"],
    ["an id beyond 2^53", '{"id":9007199254740993,"method":"ping"}', -32600, "its id"],
    ["a fraction for an id", '{"id":1.5,"method":"ping"}', -32600, "its id"],
    ["a method that is no text", '{"id":1,"method":["tools/call"]}', -32600, "its method"],
    [
      "a request that is a response",
      '{"id":1,"method":"tools/call","result":{}}',
      -32600,
      "at once",
    ],
    ["a result that is an error", '{"id":1,"result":{},"error":{}}', -32600, "neither"],
    ["a response without an id", '{"result":{}}', -32600, "neither"],
    ["nothing", "{}", -32600, "neither"],
  ])("refuses %s", (_what, text, code, reason) => {
    expect(read(text)).toMatchObject({
      kind: "refused",
      code,
      reason: expect.stringContaining(reason) as string,
    });
  });

  it("names the id of a refused request, never that of a refused response", () => {
    expect(read('{"id":5,"method":"x","y":{"a":1,"a":2}}')).toMatchObject({ id: 5 });
    expect(read('{"id":5,"result":{"a":1,"a":2}}')).toMatchObject({ id: undefined });
  });

  it("refuses every text with a repeated key, and no text without", () => {
    const member = fc.tuple(
      fc.constantFrom("a", "b", "c", "d:e"),
      fc.constantFrom("1", '":"', '"\\":"', "[]"),
    );
    const object = fc.array(member, { maxLength: 4 });
    fc.assert(
      fc.property(object, object, (outer, inner) => {
        const print = (members: readonly (readonly [string, string])[]): string =>
          members.map(([key, value]) => `"${key}":${value}`).join(",");
        const twice = [outer, inner].some(
          (members) => new Set(members.map(([key]) => key)).size < members.length,
        );
        const line = `{"id":1,"method":"x","params":[{${print(outer)}},[{${print(inner)}}]]}`;
        expect(read(line)?.kind).toBe(twice ? "refused" : "request");
      }),
      { numRuns: 500 },
    );
  });
});

describe("readServerLine()", () => {
  it.each([
    ['{"result":{"id":9,"method":"x"},"jsonrpc":"2.0","id":1}', { kind: "response", id: 1 }],
    ['{"jsonrpc":"2.0","id":"a","error":{}}', { kind: "response", id: "a" }],
    [
      '{"id":3,"method":"sampling/createMessage"}',
      { kind: "request", id: 3, method: "sampling/createMessage" },
    ],
    ['{"method":"notifications/x"}', { kind: "notification", method: "notifications/x" }],
    ['{"\\u0069d":4,"result":0}', { kind: "response", id: 4 }],
    ['{"id":null,"error":{}}', { kind: "unknown" }],
    ["Listening on stdio", { kind: "unknown" }],
    ["", { kind: "unknown" }],
    ['[{"id":1}]', { kind: "unknown" }],
    ['{"id":', { kind: "unknown" }],
  ])("looks at %j", (text, expected) => {
    expect(readServerLine(Buffer.from(`${text}\n`))).toMatchObject(expected);
  });
});

describe("idAtEdges()", () => {
  const edges = (head: string, tail: string): ReturnType<typeof idAtEdges> =>
    idAtEdges({ head: Buffer.from(head), tail: Buffer.from(tail) });

  it("finds the id at either end", () => {
    expect(edges('{"result":{"content":[', '"}]},"jsonrpc":"2.0","id":17}\n')).toBe(17);
    expect(edges('{"jsonrpc":"2.0","id":"a","result":{"x', 'xx"}}\n')).toBe("a");
    expect(edges('{"id": 4, "result":{"x', 'xx"}}\n')).toBe(4);
  });

  it("finds none where the ends do not show it", () => {
    expect(edges('{"result":{"id":4,"x":"', 'xx"}}\n')).toBeUndefined();
    expect(edges("xxx", "xxx")).toBeUndefined();
  });
});

describe("resultOf()", () => {
  it("gives the result, and nothing for what is none", () => {
    expect(resultOf(Buffer.from('{"id":1,"result":{"a":1}}\n'))).toEqual({ a: 1 });
    expect(resultOf(Buffer.from('{"id":1,"error":{}}\n'))).toBeUndefined();
    expect(resultOf(Buffer.from("x\n"))).toBeUndefined();
  });
});
