/** Opens the Telegram channel of a home. */
import { createTelegramChannel } from "@acp/channel-telegram";
import { openTelegramConfig } from "@acp/home";
import { onFile } from "../../failure.js";
import { type ChannelParts, type OpenChannel, sectionOf, subjectsOf } from "./channel-row.js";

/** @throws ConsentError `key_locked`, `vault_invalid`, `config_invalid`, naming the file. */
export async function openTelegram({
  source: { file, config },
  keys,
  notices,
}: ChannelParts): Promise<OpenChannel> {
  const channel = await onFile(file, () => {
    const { botToken, chatId, apiRoot } = openTelegramConfig(sectionOf(config, "telegram"), keys);
    return createTelegramChannel({
      token: botToken,
      chatId,
      ...subjectsOf(config, "telegram"),
      ...(apiRoot === undefined ? {} : { apiRoot }),
      warn: (text) => notices.tell("channel_warning", text),
    });
  });
  // A gate starts without Telegram as well: what the policy allows goes on, and who asks is told
  // what is wrong.
  channel.ready.catch((error: unknown) =>
    notices.tell("channel_warning", error instanceof Error ? error.message : String(error)),
  );
  return channel;
}
