/** The channel under a real gate: what people decide in the chat is what happens. */
import { type Layer, type Ruling, actionDigest, toolAction } from "@acp/core";
import { describe, expect, it } from "vitest";
import { ALICE, BOB, type Chat, PATIENCE, openChat, openGroup } from "./chat-kit.js";
import { gated } from "./gate-kit.js";
import type { BotApiMessage } from "@acp/testing";

const people = [ALICE, BOB].map(({ id, name = "" }) => ({
  id: name.toLowerCase(),
  channel: "telegram",
  subject: String(id),
}));

/** A layer that asks, on terms. */
const asking = (
  terms: Partial<Ruling>,
  judge: (args: string) => Ruling | undefined = () => undefined,
): Layer => ({
  name: "asks",
  judge: ({ args }) =>
    judge(JSON.stringify(args)) ?? {
      effect: "ask",
      ruleId: "ask_all",
      reason: "everything is asked",
      ...terms,
    },
});

/** The newest message with buttons that is a question. */
async function question(chat: Chat, count = 1): Promise<BotApiMessage> {
  const questions = (): readonly BotApiMessage[] =>
    chat.messages().filter(({ text }) => text.includes("· cr_") && !text.startsWith("CHANGED"));
  await expect.poll(() => questions().length, PATIENCE).toBe(count);
  const found = questions().at(-1);
  if (found === undefined) throw new Error("not asked");
  return found;
}

describe("the Telegram channel under a gate", () => {
  it("releases the edited arguments, and nothing else", async () => {
    await using chat = await openChat();
    await using gate = gated({ channel: chat.channel });
    const call = gate.call({ path: "a", mode: 1 });
    const shown = await chat.replied(chat.reply(await question(chat), '{"path": "b", "mode": 2}'));
    expect(gate.released).toEqual([]);
    await chat.tap(shown, "Allow with these changes");
    expect((await call).ran).toBe(true);
    expect(gate.released).toEqual([{ path: "b", mode: 2 }]);
  });

  it("leaves a question open whose edit the policy denies, and says why", async () => {
    await using chat = await openChat();
    const layer = asking({}, (args) =>
      args.includes("/etc/passwd")
        ? { effect: "deny", ruleId: "guard", reason: "never there" }
        : undefined,
    );
    await using gate = gated({ channel: chat.channel, layers: [layer] });
    const call = gate.call({ path: "a" });
    const message = await question(chat);
    const shown = await chat.replied(chat.reply(message, '{"path": "/etc/passwd"}'));
    expect((await chat.tap(shown, "Allow")).text).toBe(
      "Not accepted: the edited action is denied: never there. The question is unchanged",
    );
    await chat.tap(message, "Approve");
    expect([(await call).ran, gate.released]).toEqual([true, [{ path: "a" }]]);
  });

  it("asks anew where an edit makes the call stricter", async () => {
    await using chat = await openChat();
    const strict: Ruling = { effect: "ask", ruleId: "strict", reason: "keys", level: "critical" };
    const layer = asking({}, (args) => (args.includes("key.pem") ? strict : undefined));
    await using gate = gated({ channel: chat.channel, layers: [layer] });
    const call = gate.call({ path: "a" });
    const first = await question(chat);
    const shown = await chat.replied(chat.reply(first, '{"path": "key.pem"}'));
    expect((await chat.tap(shown, "Allow")).text).toBe(
      "The changed call is asked as a new question",
    );
    const second = await question(chat, 2);
    expect(second.text).toMatch(/^CRITICAL/);
    expect(second.buttons.map(({ label }) => label)).toEqual(["Deny", "Details"]);
    await expect
      .poll(() => chat.messages()[0]?.text, PATIENCE)
      .toMatch(/^REPLACED by a new question by Alice/);
    expect(gate.released).toEqual([]);
    chat.reply(second, "approve");
    expect([(await call).ran, gate.released]).toEqual([true, [{ path: "key.pem" }]]);
  });

  it("counts two people of a group, each once", async () => {
    await using chat = await openGroup();
    await using gate = gated({
      channel: chat.channel,
      approvers: people,
      layers: [asking({ ask: { quorum: 2 } })],
    });
    const call = gate.call({ path: "a" });
    const message = await question(chat);
    expect((await chat.tap(message, "Approve", ALICE)).text).toBe(
      "Counted: 1 of 2; the question stays open for others",
    );
    expect((await chat.tap(message, "Approve", ALICE)).isAlert).toBe(true);
    const again = chat.reply(message, "approve", ALICE);
    expect((await chat.replied(again)).text).toContain("this person has answered already");
    expect(gate.released).toEqual([]);
    await chat.tap(message, "Approve", BOB);
    const result = await call;
    expect(result.ran && result.verdict.approvers).toEqual(["alice", "bob"]);
  });

  it("gives an approver of the chat who is none of the gate's no say", async () => {
    await using chat = await openGroup();
    await using gate = gated({ channel: chat.channel, approvers: people.slice(0, 1) });
    const call = gate.call();
    const message = await question(chat);
    expect(await chat.tap(message, "Approve", BOB)).toEqual({
      text: "Not accepted: nobody known answered. The question is unchanged",
      isAlert: true,
    });
    await chat.tap(message, "Deny", ALICE);
    expect((await call).ran).toBe(false);
  });

  it("does not ask again what a lease covers", async () => {
    await using chat = await openChat();
    const digest = actionDigest(toolAction("files", "write_file", { path: "a" }));
    const offers = [
      { id: "exact-10m", scope: { kind: "action", digest }, ttlMs: 600_000 },
    ] as const;
    await using gate = gated({ channel: chat.channel, layers: [asking({ ask: { offers } })] });
    const first = gate.call({ path: "a" });
    await chat.tap(await question(chat), "Approve + exact-10m");
    expect((await first).ran).toBe(true);
    expect((await gate.call({ path: "a" })).ran).toBe(true);
    expect(gate.released).toEqual([{ path: "a" }, { path: "a" }]);
    const other = gate.call({ path: "b" });
    await chat.tap(await question(chat, 2), "Deny");
    expect((await other).ran).toBe(false);
  });

  it("hands the reason of a denial to the agent", async () => {
    await using chat = await openChat();
    await using gate = gated({ channel: chat.channel });
    const call = gate.call();
    chat.reply(await question(chat), "deny use the staging server");
    const result = await call;
    expect(result.ran ? "" : result.verdict.reason).toContain("use the staging server");
  });
});
