import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { agent, first, makeKit } from "../../test/gate-kit.js";
import { type Action, type Agent, httpAction, type Layer, shellAction, toolAction } from "../index.js";
import { requestHash } from "./request-codec.js";

async function textOf(action: Action, who: Agent = agent, layer?: Layer): Promise<string> {
  const kit = makeKit(layer === undefined ? {} : { layers: [layer] });
  await kit.gate.open(action, { agent: who });
  await kit.settle();
  return first(kit.shown).request.text;
}

describe("renderText()", () => {
  it("shows agent, action, risk, rule, every argument, expiry and digest", async () => {
    const text = await textOf(toolAction("files", "write_file", { path: "a.txt", content: "hello\nworld" }));
    expect(text.split("\n")).toEqual([
      "Agent: demo",
      "Wants: call write_file on files",
      "Risk:  medium (write)",
      "Rule:  default: no rule matches; the policy's default applies",
      "With:",
      "  {",
      '    "path": "a.txt",',
      '    "content": "hello\\nworld"',
      "  }",
      "Open until: 2026-01-15T10:32:00.000Z",
      expect.stringMatching(/^Digest: sha256:[0-9a-f]{64}$/),
    ]);
  });

  it("shows http and shell actions whole", async () => {
    expect(await textOf(httpAction("post", "https://EXAMPLE.com/pay?to=eve"))).toContain("Wants: POST https://example.com/pay?to=eve");
    expect(await textOf(shellAction("rm -rf a\nb", { cwd: "/srv" }))).toContain('Wants: run "rm -rf a\\nb"');
  });

  it("shows who started the agent, what it calls itself, and its parents", async () => {
    const text = await textOf(toolAction("files", "x", {}), { id: "sub", name: "Admin\u202e", command: "node a.js", parents: ["main"] });
    expect(text).toContain('Agent: sub (calls itself "Admin\\u202e"), started by main');
    expect(text).toContain('Started as: "node a.js"');
  });

  it("names the secrets and the offers that a yes covers", async () => {
    const offers = [
      { id: "exact", scope: { kind: "action", digest: "sha256:x" } as const, ttlMs: 60_000, uses: 3 },
      { id: "host", scope: { kind: "host", host: "example.com", port: 443 } as const, ttlMs: 180_000 },
    ];
    const layer: Layer = { name: "l", judge: () => ({ effect: "ask", ruleId: "r", reason: "", secrets: ["TOKEN"], ask: { offers } }) };
    const text = await textOf(toolAction("files", "x", {}), agent, layer);
    expect(text).toContain("A yes releases the secrets: TOKEN");
    expect(text).toContain("  [exact] this exact call for 1 min, at most 3 times");
    expect(text).toContain("  [host] every request to example.com port 443 for 3 min");
  });

  it("lets no value pose as a line of its own, whatever the names and values are", async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: "binary", minLength: 1, maxLength: 60 }), async (value) => {
        const forged = `${value}\nRisk:  low (read)`.replaceAll(/[\ud800-\udfff]/g, "");
        const text = await textOf(toolAction("files", "x", { [forged]: forged }), { id: forged, name: forged, command: forged });
        expect(text.split("\n").filter((line) => line.startsWith("Risk:"))).toEqual(["Risk:  medium (write)"]);
      }),
      { numRuns: 60 },
    );
  });

  it("is part of what is hashed", async () => {
    const kit = makeKit();
    await kit.gate.open(toolAction("files", "x", {}), { agent });
    await kit.settle();
    const { request } = first(kit.shown);
    expect(requestHash({ ...request, text: `${request.text} ` })).not.toBe(requestHash(request));
  });
});
