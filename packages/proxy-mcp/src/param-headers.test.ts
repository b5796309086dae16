import { describe, expect, it } from "vitest";
import { differingParamHeader, paramHeadersOf, writeParamHeaders } from "./param-headers.js";

const object = (properties: object): object => ({ type: "object", properties });
const header = (name: unknown, type: unknown = "string"): object => ({
  type,
  "x-mcp-header": name,
});

describe("paramHeadersOf()", () => {
  it("finds what is reached by properties alone", () => {
    const schema = object({
      region: header("Region"),
      options: object({
        dry: header("Dry-Run", "boolean"),
        deep: object({ n: header("N", "integer") }),
      }),
      query: { type: "string" },
      items: { type: "array", items: object({ a: header("No") }) },
    });
    expect(paramHeadersOf(schema)).toEqual([
      { header: "mcp-param-region", path: ["region"] },
      { header: "mcp-param-dry-run", path: ["options", "dry"] },
      { header: "mcp-param-n", path: ["options", "deep", "n"] },
    ]);
  });

  it.each<readonly [string, object]>([
    ["an empty name", { a: header("") }],
    ["a line break in a name", { a: header("A\r\nHost: evil") }],
    ["a blank in a name", { a: header("A B") }],
    ["a name that is no text", { a: header(1) }],
    ["one name twice, but for case", { a: header("A"), b: header("a") }],
    ["a number", { a: header("A", "number") }],
    ["an object", { a: header("A", "object") }],
    ["several types", { a: header("A", ["string", "null"]) }],
  ])("takes nothing of a schema with %s", (_, properties) => {
    expect(paramHeadersOf(object({ ...properties, fine: header("Fine") }))).toEqual([]);
  });

  it("takes nothing of what is no schema", () => {
    for (const schema of [undefined, null, [], "x", { properties: [] }])
      expect(paramHeadersOf(schema)).toEqual([]);
  });
});

describe("writeParamHeaders(), differingParamHeader()", () => {
  const declared = paramHeadersOf(
    object({ s: header("S"), n: header("N", "integer"), b: header("B", "boolean") }),
  );

  it("say what the arguments say, and nothing of what is not there", () => {
    const args = { s: "ü", n: -7, b: false };
    const headers = writeParamHeaders(declared, args);
    expect(headers).toEqual({
      "mcp-param-s": "=?base64?w7w=?=",
      "mcp-param-n": "-7",
      "mcp-param-b": "false",
    });
    expect(differingParamHeader(declared, args, headers)).toBeUndefined();
    expect(writeParamHeaders(declared, { s: null, n: 1.5 })).toEqual({});
    expect(differingParamHeader(declared, {}, {})).toBeUndefined();
  });

  it.each([
    [{ s: "a" }, {}, "mcp-param-s"],
    [{ s: "a" }, { "mcp-param-s": "A" }, "mcp-param-s"],
    [{}, { "mcp-param-s": "a" }, "mcp-param-s"],
    [{ n: 42 }, { "mcp-param-n": "42.0" }, undefined],
    [{ n: 42 }, { "mcp-param-n": "43" }, "mcp-param-n"],
    [{ n: 0 }, { "mcp-param-n": "" }, "mcp-param-n"],
    [{ b: true }, { "mcp-param-b": "True" }, "mcp-param-b"],
  ])("of %j with %j, %s differs", (args, headers, differing) => {
    expect(differingParamHeader(declared, args, headers)).toBe(differing);
  });
});
