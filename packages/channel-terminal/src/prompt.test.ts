import { askDouble, sampleRequest } from "@acp/testing";
import { describe, expect, it } from "vitest";
import { GUARD_MS, type UiKit, setUpUi } from "../test/ui-kit.js";

/** The last line: what the person types after. */
const prompt = (kit: UiKit): string =>
  kit.paper.text().slice(kit.paper.text().lastIndexOf("\n") + 1);

describe("promptLine() ignores what was typed", () => {
  it("before the question came", async () => {
    const kit = setUpUi();
    kit.keyboard.press("a\napprove\n");
    await kit.clock.advance(0);
    const ask = await kit.ask();
    expect(ask.submissions).toEqual([]);
    await kit.type("a\n");
    expect(ask.ending()?.status).toBe("approved");
  });

  it("while the question was appearing", async () => {
    const kit = setUpUi();
    await kit.clock.advance(0);
    const ask = askDouble(sampleRequest({ createdAtMs: kit.clock.now() }));
    kit.board.put(ask.request, ask.session);
    await kit.clock.advance(GUARD_MS - 1);
    kit.keyboard.press("a\n");
    await kit.clock.advance(GUARD_MS - 1);
    expect(prompt(kit)).not.toBe("> ");
    kit.keyboard.press("a\n");
    await kit.clock.advance(GUARD_MS * 2);
    expect(prompt(kit)).toBe("> ");
    expect(kit.news()).toContain("ignored what was typed before this prompt");
    expect(ask.submissions).toEqual([]);
  });

  it("as the beginning of a line, however late its end comes", async () => {
    const kit = setUpUi();
    kit.keyboard.press("approv");
    const ask = await kit.ask();
    expect(kit.news()).toContain("press Enter to begin");
    await kit.type("e\n");
    expect(ask.submissions).toEqual([]);
    expect(prompt(kit)).toBe("> ");
    await kit.type("a\n");
    expect(ask.ending()?.status).toBe("approved");
    expect(kit.keyboard.modes.at(-1)).toBe(false);
  });

  it("for a question that ended, so that it cannot reach the next one", async () => {
    const kit = setUpUi();
    const first = await kit.ask();
    const second = await kit.ask();
    kit.keyboard.press("a");
    first.end({ status: "expired", reason: "nobody answered" });
    await kit.clock.advance(GUARD_MS * 2);
    await kit.type("\n");
    await kit.type("\n");
    expect(first.submissions).toEqual([]);
    expect(second.submissions).toEqual([]);
    await kit.type("a\n");
    expect(second.ending()?.status).toBe("approved");
  });

  it("after the line that answered, pasted with it", async () => {
    const kit = setUpUi();
    const first = await kit.ask();
    const second = await kit.ask();
    await kit.type("a\na\napprove\n");
    expect(first.ending()?.status).toBe("approved");
    expect(second.submissions).toEqual([]);
  });
});

describe("promptLine() takes no paste for a yes", () => {
  it.each([
    "a\n",
    "a\nnpm run deploy\n",
    "approve\r",
    "\u001b[200~a\n\u001b[201~",
    "\u001b[200~a\nmore\n\u001b[201~\n",
  ])("%j", async (text) => {
    const kit = setUpUi();
    const ask = await kit.ask();
    await kit.paste(text);
    expect(ask.submissions).toEqual([]);
    expect(kit.news()).toMatch(/several characters came at once|ignored what was pasted/);
    expect(prompt(kit)).toBe("> ");
    await kit.type("a\n");
    expect(ask.ending()?.status).toBe("approved");
  });

  it("nor a pasted word for what is critical, which can be typed", async () => {
    const kit = setUpUi();
    const ask = await kit.ask({ policy: { ruleId: "r", ruleName: "", requiredLevel: "critical" } });
    await kit.paste("approve");
    await kit.type("\n");
    expect(ask.submissions).toEqual([]);
    await kit.type("approve\n");
    expect(ask.ending()?.status).toBe("approved");
  });

  it("nor a pasted confirmation of an edit", async () => {
    const kit = setUpUi();
    const ask = await kit.ask();
    await kit.type("e\n");
    await kit.paste('{ "path": "other" }\n\n');
    await kit.paste("yes\n");
    expect(ask.submissions).toEqual([]);
    expect(kit.news()).toContain("Kept: several characters came at once");
  });
});
