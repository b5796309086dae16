/** Tools that are denied in any case are left out of lists, where the operator wants that. */
import { memoryAuditSink } from "@acp/audit";
import { createConsentGate } from "@acp/core";
import type { ConsentGate } from "@acp/core";
import { parsePolicy } from "@acp/core/policy";
import { describe, expect, it } from "vitest";
import { createHiddenTools } from "../src/hidden-tools.js";
import { createMcpProxy } from "../src/index.js";
import { pipes } from "./support/line-client.js";
import type { LineClient } from "./support/line-client.js";
import { heldChannel, scripted } from "./support/proxied.js";

const policy = (...denied: readonly string[]): ReturnType<typeof parsePolicy> =>
  parsePolicy({
    version: "1",
    default: "allow",
    rules: denied.map((tool) => ({ match: { tool }, action: "deny" })),
  });

interface World extends AsyncDisposable {
  readonly client: LineClient;
  readonly audit: ReturnType<typeof memoryAuditSink>;
  /** Puts another policy in force. */
  change(...denied: readonly string[]): void;
}

function world(names: readonly string[], hiding: readonly string[]): World {
  let current = policy("fail*");
  const listeners = new Set<() => void>();
  const audit = memoryAuditSink();
  const gate = createConsentGate({
    policy: () => current,
    channel: heldChannel(() => Date.now()),
    audit,
  });
  const { input, output, client } = pipes();
  const proxy = createMcpProxy({
    gate,
    agent: { id: "agent" },
    upstreams: names.map((name) => ({ name, command: scripted() })),
    hideDenied: {
      servers: new Set(hiding),
      onChange(listener) {
        listeners.add(listener);
        return () => void listeners.delete(listener);
      },
    },
    input,
    output,
    log: () => {},
  });
  return {
    client,
    audit,
    change(...denied) {
      current = policy(...denied);
      for (const listener of listeners) listener();
    },
    async [Symbol.asyncDispose]() {
      client.end();
      await proxy.close();
      await gate.close();
      expect(listeners.size).toBe(0);
    },
  };
}

const namesOf = async (client: LineClient, id: number): Promise<readonly string[]> => {
  const { result } = await client.request(id, "tools/list");
  const tools = (result?.["tools"] ?? []) as readonly { name: string }[];
  return tools.map(({ name }) => name);
};
const changes = (client: LineClient): number =>
  client.lines.filter((line) => line.includes("notifications/tools/list_changed")).length;

describe("a proxy that hides denied tools", () => {
  it.each([
    ["one server", ["s"], ""],
    ["several", ["s", "t"], "s__"],
  ])("leaves them out, and follows the policy (%s)", async (_, names, prefix) => {
    await using at = world(names, ["s"]);
    const { client } = at;
    const { result } = await client.handshake();
    expect(result).toMatchObject({ capabilities: { tools: { listChanged: true } } });
    const before = await namesOf(client, 1);
    expect(before).toContain(`${prefix}echo`);
    expect(before).not.toContain(`${prefix}fail`);
    // Of the other server nothing is hidden.
    if (names.length > 1) expect(before).toContain("t__fail");
    // Who calls it by name is judged, and the log has it.
    const called = await client.call(2, `${prefix}fail`);
    expect(called.result).toMatchObject({ _meta: { "acp/denied": { code: "policy_denied" } } });
    expect(at.audit.lines.join()).toContain("policy_denied");
    at.change("fail*", "nothing");
    at.change("echo");
    await client.find(({ method }) => method === "notifications/tools/list_changed");
    const after = await namesOf(client, 3);
    expect(after).toContain(`${prefix}fail`);
    expect(after).not.toContain(`${prefix}echo`);
    // The first change hid and showed nothing.
    expect(changes(client)).toBe(1);
  });

  it("says that its list changes, where its server did not", () => {
    const gate = { deniesAll: () => false } as unknown as ConsentGate;
    const hideDenied = { servers: new Set(["s"]) };
    const hidden = createHiddenTools("s", { gate, hideDenied }, () => {});
    const answer = (capabilities: object): Buffer =>
      Buffer.from(JSON.stringify({ id: 1, result: { capabilities } }));
    const declared = hidden?.declare(answer({ tools: {}, logging: {} })) ?? Buffer.from("{}");
    expect(JSON.parse(declared.toString())).toMatchObject({
      result: { capabilities: { tools: { listChanged: true }, logging: {} } },
    });
    for (const same of [answer({}), answer({ tools: { listChanged: true } })])
      expect(hidden?.declare(same)).toBe(same);
    expect(createHiddenTools("t", { gate, hideDenied }, () => {})).toBeUndefined();
  });

  it("hides nothing unless it is told to", async () => {
    await using at = world(["s"], []);
    await at.client.handshake();
    expect(await namesOf(at.client, 1)).toContain("fail");
    at.change("echo");
    expect(await namesOf(at.client, 2)).toContain("echo");
    expect(changes(at.client)).toBe(0);
  });
});
