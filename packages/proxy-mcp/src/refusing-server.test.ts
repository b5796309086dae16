import { getEventListeners } from "node:events";
import { PassThrough } from "node:stream";
import { DENY_CODES } from "@acp/core";
import { describe, expect, it } from "vitest";
import { refuseMcp } from "./refusing-server.js";
import type { RefuseMcpOptions } from "./refusing-server.js";

const MESSAGE = "The private key is locked: set ACP_PASSPHRASE_FILE";

/** All that a client is told that sends these lines and closes. */
async function told(
  lines: readonly string[],
  more: Partial<RefuseMcpOptions> = {},
): Promise<readonly unknown[]> {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const done = refuseMcp({
    input,
    output,
    code: "key_locked",
    message: MESSAGE,
    signal: new AbortController().signal,
    ...more,
  });
  input.end(lines.map((line) => `${line}\n`).join(""));
  await done;
  return String(output.read() ?? "")
    .split("\n")
    .filter((line) => line !== "")
    .map((line): unknown => JSON.parse(line));
}

const request = (id: number, method: string, params: object = {}): string =>
  JSON.stringify({ jsonrpc: "2.0", id, method, params });
const REFUSAL = { code: -32_000, message: MESSAGE, data: { code: "key_locked" } };

describe("refuseMcp()", () => {
  it("leaves nothing at its signal once its client is gone", async () => {
    const { signal } = new AbortController();
    await told([request(1, "ping")], { signal });
    expect(getEventListeners(signal, "abort")).toEqual([]);
  });

  it("says that a request may succeed later, and denies what its judge denies", async () => {
    const asked: unknown[] = [];
    const answers = await told(
      [
        request(1, "initialize"),
        request(2, "tools/call", { name: "drop", arguments: { n: 1 } }),
        request(3, "tools/call", { name: "keep" }),
        request(4, "tools/list"),
      ],
      {
        isRetryable: true,
        judge: (name, args) => {
          asked.push([name, args]);
          if (name !== "drop") return undefined;
          const code = "policy_denied";
          return { decision: "deny", code, reason: "a rule", ...DENY_CODES[code] };
        },
      },
    );
    const later = { error: { data: { code: "key_locked", retryable: true } } };
    expect(answers).toMatchObject([
      { id: 1, result: { capabilities: { tools: { listChanged: true } } } },
      { id: 2, result: { isError: true, _meta: { "acp/denied": { code: "policy_denied" } } } },
      { id: 3, ...later },
      { id: 4, ...later },
    ]);
    expect(asked).toEqual([
      ["drop", { n: 1 }],
      ["keep", {}],
    ]);
  });

  it("completes the handshake in the client's version, and says why in the instructions", async () => {
    const [answer] = await told([request(1, "initialize", { protocolVersion: "2025-03-26" })]);
    expect(answer).toMatchObject({
      id: 1,
      result: { protocolVersion: "2025-03-26", instructions: MESSAGE },
    });
  });

  it.each([
    "tools/list",
    "tools/call",
    "resources/read",
    "prompts/get",
    "server/discover",
    "acp/anything",
  ])("answers %s with the reason", async (method) => {
    expect(await told([request(7, method)])).toEqual([{ jsonrpc: "2.0", id: 7, error: REFUSAL }]);
  });

  it("answers pings, no notification, and what is no message as the proxy does", async () => {
    const notification = JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" });
    expect(await told([request(1, "ping"), notification, "[]", "{"])).toEqual([
      { jsonrpc: "2.0", id: 1, result: {} },
      expect.objectContaining({ error: expect.objectContaining({ code: -32_600 }) }),
      expect.objectContaining({ error: expect.objectContaining({ code: -32_700 }) }),
    ]);
  });

  it("ends with its signal", async () => {
    const stop = new AbortController();
    const done = refuseMcp({
      input: new PassThrough(),
      output: new PassThrough(),
      code: "x",
      message: "y",
      signal: stop.signal,
    });
    stop.abort();
    await expect(done).resolves.toBeUndefined();
  });
});
