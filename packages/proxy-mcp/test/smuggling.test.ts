/**
 * Whatever a client sends while every call is denied: no line that reaches the server is a tool
 * call to any reader that we know of.
 */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { elementsOf, membersOf, type Span, textOf, wholeValue } from "../src/json-walk.js";
import { fold } from "../src/fold.js";
import { FOR_TESTS, proxied } from "./support/proxied.js";

const DENY_ALL = { version: "1", default: "deny", rules: FOR_TESTS };
const RUNS = 4_000;

const CALL =
  '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{}}}';
const key = fc.constantFrom(
  "method",
  "Method",
  "METHOD",
  "m\\u0065thod",
  "id",
  "ID",
  "params",
  "Param\u017f",
  "result",
  "error",
  "jsonrpc",
  "x",
  "__proto__",
);
const scalar = fc.constantFrom(
  '"tools/call"',
  '"tools\\/call"',
  '"Tools/Call"',
  '"TOOLS/CALL "',
  '"tool\u017f/call"',
  '"ping"',
  '"notifications/x"',
  "1",
  "null",
  '"a"',
  "1.5",
  "[]",
  "{}",
  "12345678901234567890",
);
const blank = fc.oneof(
  { weight: 40, arbitrary: fc.constant("") },
  { weight: 8, arbitrary: fc.constantFrom(" ", "\t", "\r") },
  { weight: 1, arbitrary: fc.constantFrom("\n", "\u0085", "\u2028", "\f") },
);

const message: fc.Arbitrary<string> = fc.letrec<{ object: string; value: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 2, depthSize: "small" },
    scalar,
    fc.constant(CALL),
    tie("object"),
    fc.tuple(tie("value"), blank).map(([item, gap]) => `[${gap}${item}${gap}]`),
  ),
  object: fc
    .tuple(fc.array(fc.tuple(key, tie("value"), blank), { maxLength: 4 }), blank)
    .map(
      ([members, gap]) =>
        `{${gap}${members.map(([name, value, space]) => `"${name}"${space}:${space}${value}${space}`).join(",")}${gap}}`,
    ),
})).object;
const line: fc.Arbitrary<string> = fc.oneof(
  message,
  fc.tuple(message, blank, message).map(([one, gap, other]) => `${one}${gap}${other}`),
  fc
    .tuple(message, fc.nat(), fc.constantFrom("\r", "\u0000", "\\", '"', "{", "}", ","))
    .map(
      ([text, at, junk]) =>
        `${text.slice(0, at % text.length)}${junk}${text.slice(at % text.length)}`,
    ),
  // Each of these is one message that passes, with a place for something else.
  fc
    .tuple(message, blank)
    .map(
      ([text, gap]) =>
        `{"jsonrpc":"2.0","id":"p","method":"vendor/x","params":${gap}${text}${gap}}`,
    ),
);

/**
 * Whether any lenient reader finds a tool call: one that ends lines at CR, ignores case, or takes
 * another of two equal keys.
 */
function isCallToSomebody(received: string): boolean {
  return received.split(/[\r\n]/).some((part) => {
    const bytes = Buffer.from(part.trim());
    const whole = wholeValue(bytes);
    return (
      isCall(bytes, whole) ||
      (elementsOf(bytes, whole) ?? []).some((element) => isCall(bytes, element))
    );
  });
}

function isCall(bytes: Buffer, span: Span): boolean {
  return (membersOf(bytes, span) ?? []).some(
    ({ key: name, value }) =>
      fold(name) === "method" &&
      /^"tools(?:\\)?\/call\s*"$/.test(fold(textOf(bytes, value)).replaceAll("\\u002f", "/")),
  );
}

describe("with every call denied", () => {
  it(`none of ${RUNS} odd lines reaches the server as a tool call`, async () => {
    const p = proxied({ policy: DENY_ALL });
    await p.client.handshake();
    const lines = fc
      .sample(line, { numRuns: RUNS, seed: 7 })
      .map((text, index) => text.replace('"id":"p"', `"id":"p${index}"`));
    expect(lines.filter(isCallToSomebody).length).toBeGreaterThan(RUNS / 20);
    for (const each of lines) p.client.raw(`${each}\n`);
    const { result } = await p.client.request("the end", "ping", { received: true });
    const received = result?.received as readonly string[];
    expect(received.length).toBeGreaterThan(RUNS / 20);
    expect(received.filter(isCallToSomebody)).toEqual([]);
    const forwarded = p.audit
      .events()
      .filter(({ eventType }) => eventType === "tool_call_forwarded")
      .map(({ tool }) => tool);
    expect(new Set(forwarded)).toEqual(new Set(["mcp:vendor/x"]));
    await p.proxy.close();
  });

  it.each([
    [
      "a CR before and after a hidden call",
      `{"jsonrpc":"2.0","id":7,"method":"ping","params":\r${CALL}\r}`,
    ],
    ["a batch", `[${CALL}]`],
    [
      "two methods",
      '{"jsonrpc":"2.0","id":7,"method":"ping","method":"tools/call","params":{"name":"echo"}}',
    ],
    [
      "another case",
      '{"jsonrpc":"2.0","id":7,"method":"ping","Method":"tools/call","params":{"name":"echo"}}',
    ],
    ["no id", '{"jsonrpc":"2.0","method":"tools/call","params":{"name":"echo"}}'],
    ["two on a line", `{"jsonrpc":"2.0","id":7,"method":"ping"}${CALL}`],
    ["11 MB of blanks before", `${" ".repeat(11 * 1024 * 1024)}${CALL}`],
  ])("%s is refused and never forwarded", async (_what, text) => {
    const p = proxied({ policy: DENY_ALL });
    await p.client.handshake();
    p.client.raw(`${text}\n`);
    expect(
      (await p.client.find(({ error }) => error !== undefined)).message.error?.message,
    ).toMatch(/^Cannot accept the message: /);
    const { result } = await p.client.request("end", "ping", { received: true });
    expect(
      ((result ?? {}).received as string[]).some((received) => received.includes("tools")),
    ).toBe(false);
    await p.proxy.close();
  });

  it("a line that is too long gets its error under its own id", async () => {
    const p = proxied({ policy: DENY_ALL });
    p.client.raw(
      `{"jsonrpc":"2.0","method":"tools/call","params":{"name":"echo","arguments":{"text":"${"x".repeat(11 * 1024 * 1024)}"}},"id":77}\n`,
    );
    expect((await p.client.find(({ id }) => id === 77)).message.error).toEqual({
      code: -32600,
      message: "Cannot accept the message: it has more than 10485760 bytes",
    });
    await p.proxy.close();
  });
});
