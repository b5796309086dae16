import { ConsentError } from "@acp/core";
import { askDouble, sampleRequest } from "@acp/testing";
import { describe, expect, it } from "vitest";
import { GUARD_MS, type UiKit, setUpUi } from "../test/ui-kit.js";

/** The last line: what the person types after. */
const prompt = (kit: UiKit): string =>
  kit.paper.text().slice(kit.paper.text().lastIndexOf("\n") + 1);

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
    expect(kit.news()).toContain("There is no other open question");
    await kit.type("d no\n");
    expect(first.ending()?.status).toBe("denied");
  });

  it.each([
    [{ status: "expired", reason: "" }, "expired: nobody answered in time, the call was denied"],
    [{ status: "approved", reason: "" }, "answered elsewhere: approved"],
    [{ status: "denied", reason: "" }, "answered elsewhere: denied"],
    [
      { status: "cancelled", reason: "the agent left\u001b[2J" },
      "withdrawn, the call was not made (the agent left\\u001b[2J)",
    ],
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
    const waiting = await kit.ask({
      action: { ...sampleRequest().action, description: "call other_tool on files" },
    });
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
    await kit.ask({
      agent: { id: "agent-1", name: "good\u202egpj.exe", command: "", parents: ["boss"] },
    });
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
    expect(kit.news()).toContain(
      "An empty line, an unknown word, the end of the input and silence never approve anything.",
    );
  });

  it("an unknown word escaped", async () => {
    const kit = setUpUi();
    await kit.ask();
    kit.news();
    await kit.type("\u009b]0;x\u0007 b\n");
    expect(kit.news()).toContain('Unknown command "\\u009b]0;x\\u0007 b"');
  });
});

describe("runApproverUi() tells what became of an answer", () => {
  it("refused: says why and asks again", async () => {
    const kit = setUpUi();
    const ask = askDouble(sampleRequest({ createdAtMs: kit.clock.now() }), {
      subjects: ["somebody-else"],
    });
    kit.board.put(ask.request, ask.session);
    await kit.clock.advance(GUARD_MS * 2);
    await kit.type("a\n");
    expect(kit.news()).toContain("Not accepted: nobody known answered (approver_unknown)");
    expect(prompt(kit)).toBe("> ");
  });

  it("counted: says how many, asks no more, and tells the end", async () => {
    const kit = setUpUi();
    const ask = askDouble(sampleRequest({ createdAtMs: kit.clock.now(), quorum: 2 }));
    kit.board.put(ask.request, {
      ...ask.session,
      submit: async () => ({ status: "counted", have: 1, need: 2 }),
    });
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
    const next = askDouble(
      sampleRequest({ createdAtMs: kit.clock.now(), text: "the changed call" }),
    );
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
    expect(news).toContain("→ the changed call is asked as a new question");
    expect(news).toContain("│ the changed call");
    expect(news).not.toContain("replaced by a new question");
    await kit.type("a\n");
    expect(next.ending()?.status).toBe("approved");
  });

  it("not known: says so and does not ask again", async () => {
    const kit = setUpUi();
    const ask = askDouble(sampleRequest({ createdAtMs: kit.clock.now() }));
    const submit = () =>
      Promise.reject(
        new ConsentError("channel_failed", "Cannot reach the gate: the connection is closed"),
      );
    kit.board.put(ask.request, { ...ask.session, submit });
    await kit.clock.advance(GUARD_MS * 2);
    await kit.type("a\n");
    expect(kit.news()).toContain(
      "It is unknown whether your answer counted; the gate's log will show it: Cannot reach the gate",
    );
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
