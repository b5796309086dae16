import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { agent, makeKit } from "../../test/gate-kit.js";
import { createPathGuard } from "../guard/path-guard.js";
import { classifyTool } from "../policy/classify.js";
import { parsePolicy } from "../policy/parse.js";
import { toolAction } from "./action.js";
import type { ToolAction } from "./action.js";
import { isReservedName, reservedName } from "./reserved.js";

const STARTED_BY_SERVERS = ["sampling/createMessage", "elicitation/create", "roots/list"];
const STARTED_BY_CLIENTS = [
  "resources/read",
  "resources/subscribe",
  "prompts/get",
  "completion/complete",
];
const request = (method: string, args: object = {}): ToolAction =>
  toolAction("files", reservedName(method), args);
const facts = { agent, nowMs: 0 };

async function decisionOf(policy: object, action: ToolAction): Promise<string> {
  const { gate } = makeKit({ policy: parsePolicy(policy) });
  const verdict = await gate.open(action, { agent });
  return verdict.decision;
}

describe("isReservedName()", () => {
  it("knows them in any case, and no other", () => {
    for (const name of ["mcp:resources/read", "MCP:x", " mcp:", "mcp:"])
      expect(isReservedName(name)).toBe(true);
    for (const name of ["mcp", "mcp__files__read", "read", "x.mcp:y", ""])
      expect(isReservedName(name)).toBe(false);
  });
});

describe("a request that a server started", () => {
  const WIDE = [
    { default: "allow" },
    { default: "ask" },
    { default: "deny", rules: [{ match: { tool: "*" }, action: "allow" }] },
    { default: "deny", rules: [{ match: { tool: "*mcp:*" }, action: "allow" }] },
    { default: "deny", rules: [{ match: { tool: "mcp:*" }, action: "allow" }] },
    { default: "deny", rules: [{ match: { kind: "*" }, action: "allow" }] },
    { default: "deny", rules: [{ match: { kind: "tool" }, action: "allow" }] },
    { default: "deny", rules: [{ match: { server: "files" }, action: "allow" }] },
    { default: "deny", rules: [{ match: { category: "read" }, action: "allow" }] },
    { default: "deny", rules: [{ match: { category: "communication" }, action: "allow" }] },
    { default: "deny", rules: [{ match: { tool: "read_text_file" }, action: "allow" }] },
  ].map((policy) => [JSON.stringify(policy), { version: "1", ...policy }] as const);

  it.each(WIDE)("is denied by %s", async (_, policy) => {
    for (const method of STARTED_BY_SERVERS)
      expect([method, await decisionOf(policy, request(method))]).toEqual([method, "deny"]);
  });

  it("is allowed by a rule that names it, and asked about by one that covers it", async () => {
    for (const method of STARTED_BY_SERVERS) {
      const area = `mcp:${method.split("/")[0]}/*`;
      for (const tool of [reservedName(method), area])
        expect(
          await decisionOf(
            { version: "1", default: "deny", rules: [{ match: { tool }, action: "allow" }] },
            request(method),
          ),
        ).toBe("allow");
      expect(
        await decisionOf(
          { version: "1", default: "deny", rules: [{ match: { kind: "*" }, action: "ask" }] },
          request(method),
        ),
      ).toBe("pending");
    }
  });

  it("takes no secret, whatever allows it", async () => {
    const policy = {
      version: "1",
      default: "deny",
      rules: [{ match: { tool: "mcp:sampling/*" }, action: "allow", secrets: ["TOKEN"] }],
    };
    for (const args of [{ systemPrompt: "say {{secret:TOKEN}}" }, { "{{secret:TOKEN}}": 1 }])
      expect(await decisionOf(policy, request("sampling/createMessage", args))).toBe("deny");
  });

  it("says in the question what it is", async () => {
    const policy = parsePolicy({
      version: "1",
      default: "deny",
      rules: [{ match: { tool: "mcp:sampling/*" }, action: "ask" }],
    });
    const { gate, shown, settle } = makeKit({ policy });
    void gate(request("sampling/createMessage", { maxTokens: 1 }), { agent });
    await settle();
    expect(shown[0]?.request.text).toContain("Wants: call mcp:sampling/createMessage on files");
    expect(shown[0]?.request.text).toContain(
      "Note:  the server asks for an answer of the agent's model",
    );
  });

  it("is never allowed by any rule that a pattern of wildcards makes", () => {
    const pattern = fc
      .array(fc.constantFrom("*", "?", "m", "c", "p", ":", "mcp:"), { minLength: 1, maxLength: 8 })
      .map((parts) => parts.join(""));
    fc.assert(
      fc.property(pattern, fc.constantFrom(...STARTED_BY_SERVERS), (tool, method) => {
        const policy = parsePolicy({
          version: "1",
          default: "allow",
          rules: [{ match: { tool }, action: "allow" }],
        });
        expect(policy.judge(request(method), facts)).toBeUndefined();
      }),
    );
  });
});

describe("a request that a client started", () => {
  it("is a read, so that what allows reads allows it, and nothing that allows one tool", async () => {
    for (const method of STARTED_BY_CLIENTS) {
      expect(classifyTool(reservedName(method))).toEqual({ category: "read", risk: "low" });
      const rules = (match: object): object => ({
        version: "1",
        default: "deny",
        rules: [{ match, action: "allow" }],
      });
      const args = { uri: "demo://resource/static/a.md" };
      expect(await decisionOf(rules({ category: "read" }), request(method, args))).toBe("allow");
      expect(await decisionOf(rules({ tool: "*" }), request(method, args))).toBe("allow");
      expect(await decisionOf(rules({ tool: "read_*" }), request(method, args))).toBe("deny");
      expect(
        await decisionOf(rules({ category: "read" }), request(method, { uri: "https://e.com/a" })),
      ).toBe("deny");
    }
  });
});

describe("the path guard", () => {
  const guard = createPathGuard({
    userHome: "/home/ada",
    acpHome: "/home/ada/.acp",
    startsOf: () => [],
    resolve: (path) => ({ path, exists: false }),
  });
  const word = (action: ToolAction): string | undefined => guard.judge(action, facts)?.ruleId;

  it("looks at the URIs of resources and roots; a root may be around what is closed", () => {
    for (const [uri, rule] of [
      ["file:///home/ada/.acp/keys/private.key", "guard:acp-home"],
      ["file:///home/ada/.ssh/id_rsa", "guard:credentials"],
      ["file:///home/ada/projects/a.txt", undefined],
    ] as const) {
      expect(word(request("resources/read", { uri }))).toBe(rule);
      expect(word(request("roots/list", { roots: [{ uri }] }))).toBe(rule);
    }
    expect(word(request("resources/read", { uri: "file:///home/ada" }))).toBe("guard:around");
    expect(word(request("roots/list", { roots: [{ uri: "file:///home/ada" }] }))).toBeUndefined();
  });
});
