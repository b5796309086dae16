import {
  type AnswerKind,
  type BotApiMessage,
  type ChannelUnderTest,
  channelConformance,
} from "@acp/testing";
import { describe, expect, it } from "vitest";
import {
  ALICE,
  type Chat,
  PATIENCE,
  STRANGER,
  openChat,
  openGroup,
  openWebhookChat,
} from "./chat-kit.js";

const LABELS: Readonly<Partial<Record<AnswerKind, string>>> = {
  approve: "Approve",
  deny: "Deny",
  stranger: "Approve",
};

/** The person taps buttons; a question that is no longer shown they tap where its message was. */
async function underTest(chat: Chat): Promise<ChannelUnderTest> {
  const seen = new Map<string, BotApiMessage>();
  const look = (): readonly string[] => {
    const open = chat.messages().filter(({ buttons }) => buttons.length > 0);
    return open.map((message) => {
      const id = /· (cr_[0-9a-f-]+)/.exec(message.text)?.[1] ?? "";
      seen.set(id, message);
      return id;
    });
  };
  return {
    channel: chat.channel,
    shown: async () => look(),
    async answer(id, kind) {
      look();
      const message = seen.get(id);
      if (message === undefined) return;
      if (kind === "confirm") {
        chat.reply(message, "approve");
        return;
      }
      // A stale message has its buttons as they were; another question's button, on this message,
      // is made up.
      const data =
        message.buttons.find(({ label }) => label === LABELS[kind])?.data ?? `v1:${"A".repeat(22)}`;
      const tap = chat.bot.tap({
        message,
        from: kind === "stranger" ? STRANGER : ALICE,
        button: { data },
      });
      await tap.answer;
    },
    async breakTransport() {
      look();
      chat.bot.setDown(true);
    },
    [Symbol.asyncDispose]: () => chat[Symbol.asyncDispose](),
  };
}

const OPTIONS = {
  subject: String(ALICE.id),
  kinds: ["approve", "deny", "wrong_nonce", "stranger", "confirm"],
  patienceMs: PATIENCE.timeout,
} as const;

describe.each<[string, () => Promise<Chat>]>([
  ["private chat, polling", openChat],
  ["group, polling", openGroup],
  ["private chat, webhook", openWebhookChat],
])("telegram channel, %s: conformance", (_where, open) => {
  it.each(
    channelConformance(async () => underTest(await open()), OPTIONS).map(
      (each) => [each.name, each] as const,
    ),
  )("%s", async (_name, each) => {
    await expect(each.run()).resolves.toBeUndefined();
  });
});
