/**
 * The person in a Telegram chat, for `npm run demo -- --channel telegram`: a script taps and writes
 * in the place of a person, and a Bot API server on this machine stands in for Telegram's. The
 * gate's side is what a real chat gets.
 */
import { setTimeout as wait } from "node:timers/promises";
import { createBotApiDouble } from "@acp/testing";
import type { BotApiDouble, BotApiMessage } from "@acp/testing";
import type { Person } from "./person.js";
import type { Step } from "./steps.js";

const ADA = { id: 4711, name: "Ada" };
const LOOK_EVERY_MS = 20;

/** Makes the chat, and says what `config.yml` needs to find it. */
export async function createTelegramPerson(
  signal: AbortSignal,
): Promise<Person & { readonly config: string }> {
  const double = await createBotApiDouble({ chats: [{ id: ADA.id }] });
  return {
    isScripted: true,
    introduction:
      "A Telegram chat: a script taps for the person, and a server on this machine stands in for Telegram's (telegram-person.ts).",
    hint: () => undefined,
    config: `channel: telegram\ntelegram: { bot_token: "${double.token}", chat_id: "${ADA.id}", api_root: "${double.apiRoot}" }\n`,
    attend: async (step, call) => {
      const over = new AbortController();
      const isOver = call.finally(() => over.abort()).catch(() => undefined);
      await Promise.race([isOver, answer(double, step, AbortSignal.any([signal, over.signal]))]);
      await isOver;
    },
    [Symbol.asyncDispose]: () => double[Symbol.asyncDispose](),
  };
}

async function answer(
  double: BotApiDouble,
  { answer: wanted }: Step,
  signal: AbortSignal,
): Promise<void> {
  const question = await nextWith(double, "Deny", signal);
  if (wanted === undefined) throw new Error("asked in the chat about what nobody has to answer");
  const reply = (text: string): unknown =>
    double.write({ chatId: ADA.id, from: ADA, text, repliedId: question.id });
  switch (wanted.decision) {
    case "approved":
      await double.tap({ message: question, from: ADA, button: { label: "Approve" } }).answer;
      return;
    case "denied":
      reply(`deny ${wanted.reason ?? ""}`);
      return;
    case "approved_with_modifications": {
      reply(JSON.stringify(wanted.modifications));
      const edited = await nextWith(double, "Allow with these changes", signal);
      await double.tap({
        message: edited,
        from: ADA,
        button: { label: "Allow with these changes" },
      }).answer;
      return;
    }
    default:
      wanted.decision satisfies never;
  }
}

/** The message with such a button, as soon as there is one: only an open question has buttons. */
async function nextWith(
  double: BotApiDouble,
  label: string,
  signal: AbortSignal,
): Promise<BotApiMessage> {
  for (;;) {
    const found = double
      .messages(ADA.id)
      .find(({ buttons }) => buttons.some((button) => button.label.startsWith(label)));
    if (found !== undefined) return found;
    await wait(LOOK_EVERY_MS, undefined, { signal });
  }
}
