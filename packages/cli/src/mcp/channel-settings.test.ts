import { generateKeyPair, type KeyPair } from "@acp/core/proof";
import { sealField } from "@acp/core/vault";
import { parseConfig } from "@acp/home";
import { describe, expect, it } from "vitest";
import { openChannelSettings } from "./channel-settings.js";

const keys = generateKeyPair();
const seal = (value: string, field: string): string => sealField(value, field, keys.exportSeed());
const open = (text: string | undefined, pair: KeyPair | undefined): ReturnType<typeof openChannelSettings> =>
  openChannelSettings(
    { file: "/home/ada/.acp/config.yml", config: text === undefined ? undefined : parseConfig(text, { homeDir: "/home/ada", cwd: "/" }) },
    pair,
  );
const telegram = `telegram: { bot_token: "${seal("123:abc", "telegram.bot_token")}", chat_id: "1" }\n`;
const webhook = `webhook: { url: "https://example.com/", secret: "${seal("whsec", "webhook.secret")}" }\n`;

describe("openChannelSettings()", () => {
  it("opens the settings of the channel that is named, and no other one's", async () => {
    expect(await open(undefined, undefined)).toEqual({ channel: "terminal" });
    expect(await open(telegram + webhook, undefined)).toEqual({ channel: "terminal" });
    expect(await open(`channel: telegram\n${telegram}`, keys)).toEqual({
      channel: "telegram",
      telegram: { botToken: "123:abc", chatId: "1" },
    });
    expect(await open(`channel: webhook\n${webhook}`, keys)).toEqual({
      channel: "webhook",
      webhook: { url: "https://example.com/", secret: "whsec" },
    });
    expect(await open('channel: webhook\nwebhook: { url: "https://example.com/", secret: plain }', undefined)).toMatchObject({
      webhook: { secret: "plain" },
    });
  });

  it("names file and field where it does not open", async () => {
    const message = expect.stringMatching(/^\/home\/ada\/\.acp\/config\.yml: .*"telegram\.bot_token"/);
    await expect(open(`channel: telegram\n${telegram}`, generateKeyPair())).rejects.toMatchObject({ code: "vault_invalid", message });
    await expect(open(`channel: telegram\n${telegram}`, undefined)).rejects.toMatchObject({ code: "key_locked", message });
  });
});
