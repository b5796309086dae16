import type { JsonObject } from "@acp/core";
import { sampleRequest } from "@acp/testing";
import { describe, expect, it } from "vitest";
import { type UiKit, setUpUi } from "../test/ui-kit.js";

/** The last line: what the person types after. */
const prompt = (kit: UiKit): string =>
  kit.paper.text().slice(kit.paper.text().lastIndexOf("\n") + 1);

const decisionOf = ({ claim }: { readonly claim: unknown }): JsonObject => claim as JsonObject;

describe("askQuestion() takes", () => {
  it.each(["a", "approve", " A ", "Approve"])(
    "%j for a yes to the question on the screen",
    async (word) => {
      const kit = setUpUi();
      const ask = await kit.ask();
      await kit.type(`${word}\n`);
      expect(ask.ending()).toEqual({ status: "approved", reason: "" });
      expect(decisionOf(ask.submissions[0] ?? { claim: {} })).toMatchObject({
        request_id: ask.request.id,
        nonce: ask.request.nonce,
        decision: "approved",
        approver: { id: "local", channel: "terminal" },
        modifications: null,
        conditions: { single_use: true },
      });
      expect(kit.news()).toContain("→ approved");
    },
  );

  it.each([
    "d not in working hours\n",
    "deny\nnot in working hours\n",
    "d\nnot in working hours\n",
  ])("%j for a no with its reason", async (keys) => {
    const kit = setUpUi();
    const ask = await kit.ask();
    await kit.type(keys);
    expect(ask.ending()).toEqual({ status: "denied", reason: "not in working hours" });
  });

  it("a no without a reason", async () => {
    const kit = setUpUi();
    const ask = await kit.ask();
    await kit.type("d\n");
    expect(ask.ending()).toBeUndefined();
    await kit.type("\n");
    expect(ask.ending()).toEqual({ status: "denied", reason: "" });
  });

  it("a no whose reason is short enough only", async () => {
    const kit = setUpUi();
    const ask = await kit.ask();
    await kit.type(`d ${"x".repeat(1_001)}\n`);
    expect(ask.ending()).toBeUndefined();
    expect(kit.news()).toContain("longer than 1000 characters");
    await kit.type(`d ${"x".repeat(1_000)}\n`);
    expect(ask.ending()?.status).toBe("denied");
  });

  it("an offer by its name, and no other name", async () => {
    const kit = setUpUi();
    const offers = [
      {
        id: "tool-10m",
        scope: { kind: "tool", server: "files", name: "write_file" },
        ttlMs: 600_000,
      },
    ] as const;
    const ask = await kit.ask({ offers });
    await kit.type("a tool-10min\n");
    expect(ask.submissions).toEqual([]);
    expect(kit.news()).toContain('there is no offer "tool-10min"');
    await kit.type("a tool-10m\n");
    expect(decisionOf(ask.submissions[0] ?? { claim: {} })).toMatchObject({
      grant: "tool-10m",
      conditions: { single_use: false },
    });
  });
});

describe("askQuestion() never takes for a yes", () => {
  it.each([
    "\n",
    "  \n",
    "y\n",
    "yes\n",
    "ok\n",
    "aa\n",
    "approved\n",
    "v\n",
    "?\n",
    "e\n\n",
    "n\n",
    "\u0001a\n",
    "a\u0000\n",
  ])("%j", async (keys) => {
    const kit = setUpUi();
    const ask = await kit.ask();
    await kit.type(keys);
    expect(ask.submissions).toEqual([]);
    expect(prompt(kit)).toBe("> ");
  });

  it("the end of the input", async () => {
    const kit = setUpUi();
    const ask = await kit.ask();
    kit.keyboard.end();
    expect(await kit.ended).toBe("input_over");
    expect(ask.submissions).toEqual([]);
  });

  it("a line that the end of the input cuts", async () => {
    const kit = setUpUi({ tty: false });
    const ask = await kit.ask();
    kit.keyboard.press("a");
    kit.keyboard.end();
    expect(await kit.ended).toBe("input_over");
    expect(ask.submissions).toEqual([]);
  });

  it("a lost terminal", async () => {
    const kit = setUpUi();
    const ask = await kit.ask();
    kit.keyboard.destroy(new Error("EIO"));
    expect(await kit.ended).toBe("input_over");
    expect(ask.submissions).toEqual([]);
  });

  it("its abort", async () => {
    const kit = setUpUi();
    const ask = await kit.ask();
    kit.stop.abort();
    expect(await kit.ended).toBe("aborted");
    expect(ask.submissions).toEqual([]);
  });

  it("a at level critical, which takes the typed word", async () => {
    for (const overrides of [
      { policy: { ruleId: "r", ruleName: "", requiredLevel: "critical" as const } },
      { action: { ...sampleRequest().action, riskLevel: "critical" as const } },
    ]) {
      const kit = setUpUi();
      const ask = await kit.ask(overrides);
      await kit.type("a\n");
      expect(ask.submissions).toEqual([]);
      expect(kit.news()).toContain("type the whole word approve");
      await kit.type("approve\n");
      expect(ask.ending()?.status).toBe("approved");
    }
  });

  it("anything where the question takes a passkey", async () => {
    const kit = setUpUi();
    const ask = await kit.ask({ evidence: "passkey" });
    await kit.type("approve\n");
    await kit.type("e\n{}\n\nyes\n");
    expect(ask.submissions).toEqual([]);
    await kit.type("d no\n");
    expect(ask.ending()?.status).toBe("denied");
  });

  it("anything before the whole of a long call was shown", async () => {
    const kit = setUpUi();
    const hidden = "the line in the middle";
    const text = [
      ...Array.from({ length: 300 }, (_, row) => `row ${row}`),
      hidden,
      ...Array.from({ length: 300 }, (_, row) => `row ${row}`),
    ].join("\n");
    const ask = await kit.ask({ text });
    const first = kit.news();
    expect(first).not.toContain(hidden);
    expect(first).toMatch(/401 rows \(\d+ bytes\) are not shown here: v shows everything/);
    await kit.type("a\n");
    expect(ask.submissions).toEqual([]);
    expect(kit.news()).toContain("read it with v first");
    await kit.type("v\n");
    expect(kit.news()).toContain(hidden);
    await kit.type("a\n");
    expect(ask.ending()?.status).toBe("approved");
  });
});
