import { type JsonObject, parseResponse } from "@acp/core";
import { sampleRequest } from "@acp/testing";
import { describe, expect, it } from "vitest";
import { type UiKit, setUpUi } from "../test/ui-kit.js";

const modificationsOf = (claim: unknown): JsonObject | undefined =>
  parseResponse(claim).modifications;

async function editing(kit: UiKit, entry: string): Promise<string> {
  await kit.type("e\n");
  kit.news();
  await kit.type(entry);
  return kit.news();
}

describe("editArguments()", () => {
  it("hands in the whole new arguments once they are confirmed", async () => {
    const kit = setUpUi();
    const ask = await kit.ask();
    const shown = await editing(
      kit,
      '{ "path": "notes.txt",\n  "content": "bye", "mode": [1] }\n\n',
    );
    expect(shown).toContain(
      'Your changes:\n│ - content: "hello"\n│ + content: "bye"\n│ + mode: [1]\n',
    );
    expect(ask.submissions).toEqual([]);
    await kit.type("yes\n");
    expect(ask.ending()?.status).toBe("approved_with_modifications");
    expect(modificationsOf(ask.submissions[0]?.claim)).toEqual({
      path: "notes.txt",
      content: "bye",
      mode: [1],
    });
    expect(kit.news()).toContain("→ approved with modifications");
  });

  it.each([
    ["", "Kept: nothing was entered"],
    ['{"path": "a", "path": "b"}\n', "Kept: Cannot"],
    ['{"path": 9007199254740993}\n', "Kept: Cannot"],
    ['{"path": "a"\n', "Kept: Cannot"],
    ["[]\n", "Kept: the arguments are not a JSON object"],
    ['{ "content": "hello", "path": "notes.txt" }\n', "Kept: the arguments are unchanged"],
    [`{"path": "${"x".repeat(4_100)}"}\n`, "Kept: the entry is too large, or a line is longer"],
  ])("keeps the arguments for the entry %j", async (entry, told) => {
    const kit = setUpUi();
    const ask = await kit.ask();
    expect(await editing(kit, `${entry}\n`)).toContain(told);
    await kit.type("yes\n");
    expect(ask.submissions).toEqual([]);
  });

  it.each(["\n", "y\n", "no\n", "a\n"])(
    "keeps the arguments where %j confirms them",
    async (word) => {
      const kit = setUpUi();
      const ask = await kit.ask();
      await editing(kit, "{}\n\n");
      await kit.type(word);
      expect(ask.submissions).toEqual([]);
      expect(kit.news()).toContain("Kept: the changes were not confirmed");
    },
  );

  it("takes no confirmation that was pasted with the entry", async () => {
    const kit = setUpUi();
    const ask = await kit.ask();
    await editing(kit, "{}\n\nyes\nyes\n");
    expect(ask.submissions).toEqual([]);
    await kit.type("yes\n");
    expect(ask.ending()?.status).toBe("approved_with_modifications");
  });

  it("wants the typed word at level critical", async () => {
    const kit = setUpUi();
    const ask = await kit.ask({ policy: { ruleId: "r", ruleName: "", requiredLevel: "critical" } });
    await editing(kit, "{}\n\n");
    await kit.type("yes\n");
    expect(ask.submissions).toEqual([]);
    await editing(kit, "{}\n\n");
    await kit.type("approve\n");
    expect(ask.ending()?.status).toBe("approved_with_modifications");
  });

  it("ends with the question, and what was being entered answers nothing", async () => {
    const kit = setUpUi();
    const first = await kit.ask();
    const second = await kit.ask();
    await editing(kit, '{ "path":\n');
    first.end({ status: "expired", reason: "" });
    await kit.clock.advance(1_000);
    await kit.type("\n");
    await kit.type("yes\n");
    expect([...first.submissions, ...second.submissions]).toEqual([]);
  });

  it("shows arguments and changes escaped", async () => {
    const kit = setUpUi();
    await kit.ask({
      action: {
        ...sampleRequest().action,
        parameters: { "k\u202e": "\u001b]0;owned\u0007\r\nRisk:  low" },
      },
    });
    await kit.type("e\n");
    await kit.type('{"k\u202e": "\u009b2J"}\n\n');
    const shown = kit.news().replaceAll(/\u001b7\u001b\[1A\r\u001b\[2K[^\u001b]*\u001b8/g, "");
    expect(shown).toContain('│ - ["k\\u202e"]: "\\u001b]0;owned\\u0007\\r\\nRisk:  low"');
    expect(shown).toContain('│ + ["k\\u202e"]: "\\u009b2J"');
    expect(shown.replaceAll("\n", "")).not.toMatch(/[\p{Cc}\u202e]/u);
  });
});
