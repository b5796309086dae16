import { describe, expect, it } from "vitest";
import { leaveOutMeta } from "./call-members.js";
import { readCall, rewriteCall } from "./call-params.js";
import { ARGUMENT_BYTES_MAX, ARGUMENT_VALUES_MAX } from "./limits.js";
import type { ClientRequest } from "./message.js";

function request(params: string): ClientRequest {
  const line = Buffer.from(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${params}}\n`);
  return {
    kind: "request",
    id: 1,
    method: "tools/call",
    params: (JSON.parse(line.toString()) as { params: unknown }).params,
    line,
  };
}

describe("readCall()", () => {
  it("reads a call", () => {
    const read = readCall(
      request(
        '{"name":"x","arguments":{"a":[1,"b"]},"_meta":{"progressToken":"t","io.modelcontextprotocol/protocolVersion":"2026-07-28"},"task":{}}',
      ),
    );
    expect(read).toEqual({
      call: {
        tool: "x",
        args: { a: [1, "b"] },
        argumentChars: 13,
        progressToken: "t",
        typedResults: true,
        isTask: true,
      },
    });
  });

  it("takes missing arguments for none", () => {
    expect(readCall(request('{"name":"x"}'))).toEqual({
      call: {
        tool: "x",
        args: {},
        argumentChars: 0,
        progressToken: undefined,
        typedResults: false,
        isTask: false,
      },
    });
  });

  it.each([
    ["[]", "its params are not an object"],
    ["null", "its params are not an object"],
    ["{}", "it names no tool"],
    ['{"name":7}', "it names no tool"],
    ['{"name":"x","arguments":null}', "its arguments are not an object"],
    ['{"name":"x","arguments":[]}', "its arguments are not an object"],
    ['{"name":"x","arguments":"{}"}', "its arguments are not an object"],
    ['{"name":"x","Name":"y"}', '"Name" differs from "name" in case only'],
    ['{"name":"x","argument\u017f":{}}', "in case only"],
    ['{"name":"x","_META":{}}', "in case only"],
    ['{"name":"x","capability":"c"}', 'its member "capability" is not defined by MCP'],
    ['{"name":"x","_meta":[]}', "its _meta is not an object"],
    ['{"name":"x","task":true}', "its task is not an object with a ttl only"],
    ['{"name":"x","task":{"ttl":1,"then":"y"}}', "its task is not an object with a ttl only"],
    ['{"name":"x","task":{"ttl":"1h"}}', "its task is not an object with a ttl only"],
    ['{"name":"x","inputResponses":"y"}', "its inputResponses are not an object"],
    ['{"name":"x","requestState":{}}', "its requestState is not a string"],
  ])("refuses the params %s", (params, reason) => {
    expect(readCall(request(params))).toMatchObject({
      error: { code: -32602, message: expect.stringContaining(reason) as string },
    });
  });

  it.each([
    ["9007199254740992", "beyond"],
    ["-9007199254740993", "beyond"],
    ["1e999", "too large"],
    ['"\\udc00"', "surrogate"],
  ])("finds arguments with %s invalid", (value, reason) => {
    expect(readCall(request(`{"name":"x","arguments":{"a":${value}}}`))).toEqual({
      invalid: expect.stringContaining(reason) as string,
    });
  });

  it("finds arguments with too many values or bytes invalid, before it reads them", () => {
    const withList = (text: string): ClientRequest =>
      request(`{"name":"x","arguments":{"a":${text}}}`);
    const list = (count: number): string => JSON.stringify(Array.from({ length: count }, () => 0));
    expect(readCall(withList(list(ARGUMENT_VALUES_MAX - 1)))).toHaveProperty("call");
    // Its number alone would be refused too.
    expect(readCall(withList(`[1e999,${list(ARGUMENT_VALUES_MAX)}]`))).toEqual({
      invalid: `the arguments have more than ${ARGUMENT_VALUES_MAX} values`,
    });
    expect(readCall(withList(`["\\udc00${"x".repeat(ARGUMENT_BYTES_MAX)}"]`))).toEqual({
      invalid: `the arguments have more than ${ARGUMENT_BYTES_MAX} bytes`,
    });
  });
});

describe("leaveOutMeta()", () => {
  const cleaned = (params: string): readonly [string, readonly string[]] => {
    const { line, params: read } = request(params);
    const { line: clean, leftOut } = leaveOutMeta(line, read);
    return [clean.toString().slice(clean.indexOf('"params":') + 9, -2), leftOut];
  };

  it("keeps the bytes where there is nothing but the protocol's", () => {
    const params =
      '{"name":"x", "_meta" : {"progressToken":1.0,"traceparent":"00-1","io.modelcontextprotocol/clientInfo":{"name":"c"}},"task":{"ttl":5}}';
    expect(cleaned(params)).toEqual([params, []]);
    expect(cleaned('{"name":"x"}')).toEqual(['{"name":"x"}', []]);
  });

  it("leaves out what is none of the protocol's, or has not its form", () => {
    expect(
      cleaned(
        '{"name":"x","_meta":{"capability":"c","progressToken":7,"traceparent":{"a":1},"vendor/x":1.0},"arguments":{"a":1.0}}',
      ),
    ).toEqual([
      '{"name":"x","_meta":{"progressToken":7},"arguments":{"a":1.0}}',
      ["capability", "traceparent", "vendor/x"],
    ]);
    expect(cleaned('{"name":"x","_meta":{"progressToken":{"say":"delete all"}}}')).toEqual([
      '{"name":"x","_meta":{}}',
      ["progressToken"],
    ]);
    expect(cleaned('{"name":"x","_meta":{"__proto__":1}}')).toEqual([
      '{"name":"x","_meta":{}}',
      ["__proto__"],
    ]);
  });
});

describe("rewriteCall()", () => {
  const { line } = request(' { "name" : "x","arguments": {"a":1.0} , "_meta":{}}');

  it("gives the bytes as received when nothing changes", () => {
    expect(rewriteCall(line, undefined)).toEqual(line);
  });

  it("replaces what is asked for and keeps the rest", () => {
    expect(
      rewriteCall(line, { b: 2 }, [
        { path: ["id"], value: 9 },
        { path: ["params", "name"], value: "y" },
        { path: ["params", "_meta", "progressToken"], value: 9 },
      ]).toString(),
    ).toBe(
      '{"jsonrpc":"2.0","id":9,"method":"tools/call","params": { "name" : "y","arguments": {"b":2} , "_meta":{}}}\n',
    );
  });

  it("adds arguments where there are none", () => {
    expect(
      rewriteCall(request('{"name":"x"}').line, { b: 2 }, [
        { path: ["id"], value: 100 },
      ]).toString(),
    ).toContain('"id":100,"method":"tools/call","params":{"arguments":{"b":2},"name":"x"}');
  });
});
