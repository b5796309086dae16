import { ConsentError, type JsonObject } from "@acp/core";
import { askDouble, sampleRequest } from "@acp/testing";
import { describe, expect, it } from "vitest";
import { GUARD_MS, type UiKit, setUpUi } from "../test/ui-kit.js";

const decisionOf = ({ claim }: { readonly claim: unknown }): JsonObject => claim as JsonObject;

/** The last line: what the person types after. */
const prompt = (kit: UiKit): string => kit.paper.text().slice(kit.paper.text().lastIndexOf("\n") + 1);

describe("runApproverUi() takes", () => {
  it.each(["a", "approve", " A ", "Approve"])("%j for a yes to the question on the screen", async (word) => {
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
  });

  it.each(["d not in working hours\n", "deny\nnot in working hours\n", "d\nnot in working hours\n"])(
    "%j for a no with its reason",
    async (keys) => {
      const kit = setUpUi();
      const ask = await kit.ask();
      await kit.type(keys);
      expect(ask.ending()).toEqual({ status: "denied", reason: "not in working hours" });
    },
  );

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
    const offers = [{ id: "tool-10m", scope: { kind: "tool", server: "files", name: "write_file" }, ttlMs: 600_000 }] as const;
    const ask = await kit.ask({ offers });
    await kit.type("a tool-10min\n");
    expect(ask.submissions).toEqual([]);
    expect(kit.news()).toContain('there is no offer "tool-10min"');
    await kit.type("a tool-10m\n");
    expect(decisionOf(ask.submissions[0] ?? { claim: {} })).toMatchObject({ grant: "tool-10m", conditions: { single_use: false } });
  });
});

describe("runApproverUi() never takes for a yes", () => {
  it.each(["\n", "  \n", "y\n", "yes\n", "ok\n", "aa\n", "approved\n", "v\n", "?\n", "e\n\n", "n\n", "\u0001a\n", "a\u0000\n"])(
    "%j",
    async (keys) => {
      const kit = setUpUi();
      const ask = await kit.ask();
      await kit.type(keys);
      expect(ask.submissions).toEqual([]);
      expect(prompt(kit)).toBe("> ");
    },
  );

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

describe("runApproverUi() ignores what was typed", () => {
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

describe("runApproverUi() shows", () => {
  it("risk, the whole call and the time left, which counts down in place", async () => {
    const kit = setUpUi();
    await kit.ask();
    const text = kit.news();
    expect(text).toContain("── MEDIUM ── an agent asks for consent ──");
    expect(text).toContain('│     "path": "notes.txt",');
    expect(text).toContain("left\n> ");
    await kit.clock.advance(3_000);
    const ticks = kit.news().split("\u001b8").filter(Boolean);
    expect(ticks).toHaveLength(3);
    expect(ticks[2]).toMatch(/^\u001b7\u001b\[1A\r\u001b\[2K1:5\d left$/);
  });

  it("no countdown where the screen is no terminal", async () => {
    const kit = setUpUi({ tty: false });
    await kit.ask();
    kit.news();
    await kit.clock.advance(10_000);
    expect(kit.news()).toBe("");
  });

  it("how many others wait, and the next one on demand", async () => {
    const kit = setUpUi();
    const first = await kit.ask({ text: "the first" });
    const second = await kit.ask({ text: "the second" });
    await kit.clock.advance(1_000);
    expect(kit.news()).toContain("· 1 more waiting");
    await kit.type("n\n");
    expect(kit.news()).toContain("the second");
    await kit.type("a\n");
    expect(second.ending()?.status).toBe("approved");
    expect(kit.news()).toContain("the first");
    await kit.type("n\n");
    expect(kit.news()).toContain("No other question waits");
    await kit.type("d no\n");
    expect(first.ending()?.status).toBe("denied");
  });

  it.each([
    [{ status: "expired", reason: "" }, "expired: nobody answered in time, the call was denied"],
    [{ status: "approved", reason: "" }, "answered elsewhere: approved"],
    [{ status: "denied", reason: "" }, "answered elsewhere: denied"],
    [{ status: "cancelled", reason: "the agent left\u001b[2J" }, "taken back, the call was not made (the agent left\\u001b[2J)"],
  ] as const)("one line where the question ended with %j", async (ending, line) => {
    const kit = setUpUi();
    const ask = await kit.ask();
    kit.news();
    ask.end(ending);
    await kit.clock.advance(GUARD_MS);
    expect(kit.news()).toContain(`\n· call write_file on files: ${line}\n`);
    expect(ask.submissions).toEqual([]);
  });

  it("one line where a waiting question ended, before the next is asked", async () => {
    const kit = setUpUi();
    await kit.ask();
    const waiting = await kit.ask({ action: { ...sampleRequest().action, description: "call other_tool on files" } });
    waiting.end({ status: "expired", reason: "" });
    await kit.type("d no\n");
    expect(kit.news()).toContain("· call other_tool on files: expired");
  });

  it("that a question is asked again after a restart", async () => {
    const kit = setUpUi();
    const ask = askDouble(sampleRequest({ createdAtMs: kit.clock.now() }), { redelivery: true });
    kit.board.put(ask.request, ask.session);
    await kit.clock.advance(GUARD_MS * 2);
    expect(kit.news()).toContain("again after a restart");
  });

  it("everything about a question as JSON, escaped", async () => {
    const kit = setUpUi();
    await kit.ask({ agent: { id: "agent-1", name: "good\u202egpj.exe", command: "", parents: ["boss"] } });
    kit.news();
    await kit.type("v\n");
    const details = kit.news();
    expect(details).toContain('"action_digest": "sha256:');
    expect(details).toContain('"parents": [');
    expect(details).toContain("good\\u202egpj.exe");
    expect(details).not.toContain("\u202e");
  });

  it("what the keys do", async () => {
    const kit = setUpUi();
    await kit.ask();
    await kit.type("?\n");
    expect(kit.news()).toContain("An empty line, an unknown word, the end of the input and silence are never a yes.");
  });

  it("an unknown word escaped", async () => {
    const kit = setUpUi();
    await kit.ask();
    kit.news();
    await kit.type("\u001b]0;x\u0007 b\n");
    expect(kit.news()).toContain('Unknown command "\\u001b]0;x\\u0007 b"');
  });
});

describe("runApproverUi() tells what became of an answer", () => {
  it("refused: says why and asks again", async () => {
    const kit = setUpUi();
    const ask = askDouble(sampleRequest({ createdAtMs: kit.clock.now() }), { subjects: ["somebody-else"] });
    kit.board.put(ask.request, ask.session);
    await kit.clock.advance(GUARD_MS * 2);
    await kit.type("a\n");
    expect(kit.news()).toContain("Not taken: nobody known answered (approver_unknown)");
    expect(prompt(kit)).toBe("> ");
  });

  it("counted: says how many, asks no more, and tells the end", async () => {
    const kit = setUpUi();
    const ask = askDouble(sampleRequest({ createdAtMs: kit.clock.now(), quorum: 2 }));
    kit.board.put(ask.request, { ...ask.session, submit: async () => ({ status: "counted", have: 1, need: 2 }) });
    await kit.clock.advance(GUARD_MS * 2);
    await kit.type("a\n");
    const news = kit.news();
    expect(news).toContain("→ counted: 1 of 2");
    expect(prompt(kit)).not.toBe("> ");
    ask.end({ status: "approved", reason: "" });
    await kit.clock.advance(GUARD_MS * 2);
    expect(kit.news()).toContain("answered elsewhere: approved");
  });

  it("reshow: says that a new question comes, and asks it", async () => {
    const kit = setUpUi();
    const ask = askDouble(sampleRequest({ createdAtMs: kit.clock.now() }));
    const next = askDouble(sampleRequest({ createdAtMs: kit.clock.now(), text: "the changed call" }));
    kit.board.put(ask.request, {
      ...ask.session,
      submit: async () => {
        ask.end({ status: "superseded", reason: "", successorId: next.request.id });
        kit.board.put(next.request, next.session);
        return { status: "reshow", request: next.request };
      },
    });
    await kit.clock.advance(GUARD_MS * 2);
    await kit.type("a\n");
    const news = kit.news();
    expect(news).toContain("→ the changed call needs a new look");
    expect(news).toContain("│ the changed call");
    expect(news).not.toContain("replaced by a new question");
    await kit.type("a\n");
    expect(next.ending()?.status).toBe("approved");
  });

  it("not known: says so and does not ask again", async () => {
    const kit = setUpUi();
    const ask = askDouble(sampleRequest({ createdAtMs: kit.clock.now() }));
    const submit = () => Promise.reject(new ConsentError("channel_failed", "Cannot reach the gate: the connection is closed"));
    kit.board.put(ask.request, { ...ask.session, submit });
    await kit.clock.advance(GUARD_MS * 2);
    await kit.type("a\n");
    expect(kit.news()).toContain("Not known whether it was taken: Cannot reach the gate");
    expect(prompt(kit)).not.toBe("> ");
  });
});

describe("runApproverUi() ends", () => {
  it("with idle where it was told to and nothing is open", async () => {
    const kit = setUpUi({ untilIdle: true });
    expect(await kit.ended).toBe("idle");
  });

  it("with gate_gone where its client ends", async () => {
    const kit = setUpUi({ client: { ...emptyClient(), changes: noChanges() } });
    expect(await kit.ended).toBe("gate_gone");
  });

  it("and leaves the stream paused", async () => {
    const kit = setUpUi();
    kit.stop.abort();
    await kit.ended;
    expect(kit.keyboard.isPaused()).toBe(true);
  });
});

async function* noChanges(): AsyncGenerator<never> {}

function emptyClient() {
  return {
    pending: () => [],
    answer: () => Promise.reject(new Error("no")),
    close: async () => undefined,
    [Symbol.asyncDispose]: async () => undefined,
  };
}
