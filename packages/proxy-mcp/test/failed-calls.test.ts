/**
 * A call whose server says that it failed is told as failed, to the log and to who approved it; the
 * client gets the server's own bytes.
 */
import { describe, expect, it } from "vitest";
import { ALLOW_ALL, ASK_ALL, proxied } from "./support/proxied.js";

const ID = "$ID";
const CONTENT = '"content":[{"type":"text","text":"no such file: /home/ann/plan"}]';

const ANSWERS: readonly (readonly [
  string,
  string,
  { readonly outcome: string; readonly error?: string },
])[] = [
  ["a result", `{"jsonrpc":"2.0","id":${ID},"result":{${CONTENT}}}`, { outcome: "performed" }],
  [
    "a result that is no error",
    `{"jsonrpc":"2.0","id":${ID},"result":{${CONTENT},"isError":false}}`,
    { outcome: "performed" },
  ],
  [
    "a result that only mentions isError",
    `{"jsonrpc":"2.0","id":${ID},"result":{"content":[{"type":"text","text":"\\"isError\\":true"}],"structuredContent":{"isError":true,"error":{"code":1}}}}`,
    { outcome: "performed" },
  ],
  [
    "a result with isError",
    `{ "id":${ID}, "result" :{"isError" : true,${CONTENT}},"jsonrpc":"2.0"}`,
    failed("ToolError"),
  ],
  [
    "a result with isError in escapes",
    `{"jsonrpc":"2.0","id":${ID},"result":{${CONTENT},"is\\u0045rror":true}}`,
    failed("ToolError"),
  ],
  [
    "a JSON-RPC error",
    `{"jsonrpc":"2.0","id":${ID},"error":{"code":-32602,"message":"no such file: /home/ann/plan"}}`,
    failed("RpcError -32602"),
  ],
  [
    "a JSON-RPC error without a code",
    `{"jsonrpc":"2.0","id":${ID},"error":{"code":"/home/ann/plan"}}`,
    failed("RpcError"),
  ],
];

function failed(error: string): { readonly outcome: string; readonly error: string } {
  return { outcome: "failed", error };
}

describe("a call that its server answers with", () => {
  it.each(ANSWERS)("%s", async (_what, line, told) => {
    const p = proxied({ policy: ASK_ALL });
    await p.client.handshake();
    p.client.send({
      id: 7,
      method: "tools/call",
      params: { name: "leak", arguments: { lines: [`${line}\n`] } },
    });
    const question = await p.channel.question(0);
    await question.approve();
    const answer = await p.client.find(({ id, method }) => id === 7 && method === undefined);
    expect(answer.line).toBe(line.replace(ID, "7"));
    const { error = "" } = told;
    expect(await question.session.outcome).toEqual({
      status: told.outcome === "performed" ? "ran" : "failed",
      detail: error,
    });
    const completed = p.audit
      .events()
      .filter(({ eventType }) => eventType === "tool_call_completed");
    expect(completed).toMatchObject([{ metadata: told }]);
    // The log has the kind of the error, never what the server said.
    expect(JSON.stringify(completed)).not.toContain("plan");
    expect(p.logs).toEqual([]);
    await p.proxy.close();
  });
});

it("a call that failed is a use of its limit", async () => {
  const policy = {
    ...ALLOW_ALL,
    rules: [{ id: "twice", match: { tool: "leak" }, action: "allow", rate_limit: "2/hour" }],
  };
  const p = proxied({ policy });
  await p.client.handshake();
  const line = `{"jsonrpc":"2.0","id":${ID},"result":{${CONTENT},"isError":true}}\n`;
  const denied: unknown[] = [];
  for (const id of [1, 2, 3]) {
    const { result } = await p.client.call(id, "leak", { lines: [line] });
    denied.push(
      (result?._meta as Record<string, unknown> | undefined)?.["acp/denied"] !== undefined,
    );
  }
  expect(denied).toEqual([false, false, true]);
  await p.proxy.close();
});
