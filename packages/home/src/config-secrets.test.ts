import { generateKeyPair } from "@acp/core/proof";
import { sealField } from "@acp/core/vault";
import { describe, expect, it } from "vitest";
import {
  isSecretField,
  openHttpAgentConfig,
  openServerConfig,
  openTelegramConfig,
  openWebhookConfig,
  secretFieldSteps,
} from "./config-secrets.js";

const keys = generateKeyPair();
const seal = (value: string, field: string): string => sealField(value, field, keys.exportSeed());

describe("secretFieldSteps()", () => {
  it.each([
    ["telegram.bot_token", ["telegram", "bot_token"]],
    ["webhook.secret", ["webhook", "secret"]],
    [
      "proxy.upstream_servers[12].env.GITHUB_TOKEN",
      ["proxy", "upstream_servers", 12, "env", "GITHUB_TOKEN"],
    ],
    ["proxy.http.agents[1].token", ["proxy", "http", "agents", 1, "token"]],
    [
      "proxy.upstream_servers[0].headers.X-Api-Key",
      ["proxy", "upstream_servers", 0, "headers", "X-Api-Key"],
    ],
  ])("leads to %s", (field, steps) => {
    expect(isSecretField(field)).toBe(true);
    expect(secretFieldSteps(field)).toEqual(steps);
  });

  it.each([
    ["telegram.bot_tokn", "telegram.bot_token"],
    ["telegram.token", "telegram.bot_token"],
    ["webhook.secrets", "webhook.secret"],
    ["proxy.upstream_server[3].env.TOKEN", "proxy.upstream_servers[3].env.TOKEN"],
    ["proxy.http.agent[2].token", "proxy.http.agents[2].token"],
    ["proxy.upstream_servers.env.TOKEN", "proxy.upstream_servers[0].env.TOKEN"],
  ])("refuses %s and means %s", (field, suggestion) => {
    expect(isSecretField(field)).toBe(false);
    expect(() => secretFieldSteps(field)).toThrow(
      expect.objectContaining({
        code: "options_invalid",
        suggestion,
        message: expect.stringContaining(`did you mean ${suggestion}?`),
      }),
    );
  });

  it.each([
    "telegram.chat_id",
    "channel",
    "",
    "proxy.upstream_servers[01].env.A",
    "proxy.upstream_servers[0].env.A-B",
    "proxy.upstream_servers[0].headers.A_B",
    "a\nb",
  ])("refuses %j, which holds no secret, in one line", (field) => {
    expect(() => secretFieldSteps(field)).toThrow(
      /^Cannot encrypt "[^\n]*": it does not hold a secret; the fields that do are telegram\.bot_token, [^\n]*$/,
    );
  });
});

describe("openTelegramConfig(), openWebhookConfig(), openServerConfig(), openHttpAgentConfig()", () => {
  it("open what is encrypted and leave the rest", () => {
    const botToken = seal("123:abc", "telegram.bot_token");
    expect(openTelegramConfig({ botToken, chatId: "1" }, keys)).toEqual({
      botToken: "123:abc",
      chatId: "1",
    });
    expect(openTelegramConfig({ botToken: "plain", chatId: "1" }, undefined)).toEqual({
      botToken: "plain",
      chatId: "1",
    });
    const secret = seal("whsec", "webhook.secret");
    expect(openWebhookConfig({ url: "https://example.com/", secret }, keys)).toEqual({
      url: "https://example.com/",
      secret: "whsec",
    });
    const env = { TOKEN: seal("t", "proxy.upstream_servers[2].env.TOKEN"), MODE: "fast" };
    const server = { name: "a", command: ["x"], env };
    expect(openServerConfig(server, 2, keys)).toEqual({
      ...server,
      env: { TOKEN: "t", MODE: "fast" },
    });
    const url = "https://example.com/mcp";
    const headers = { "X-Key": seal("k", "proxy.upstream_servers[0].headers.X-Key"), A: "b" };
    expect(openServerConfig({ name: "w", url, headers }, 0, keys)).toEqual({
      name: "w",
      url,
      headers: { "X-Key": "k", A: "b" },
    });
    expect(() => openServerConfig({ name: "w", url, headers }, 1, keys)).toThrow(
      expect.objectContaining({ code: "vault_invalid" }),
    );
    const token = seal("t", "proxy.http.agents[1].token");
    expect(openHttpAgentConfig({ id: "a", token }, 1, keys)).toEqual({ id: "a", token: "t" });
    expect(() => openHttpAgentConfig({ id: "a", token }, 0, keys)).toThrow(
      expect.objectContaining({ code: "vault_invalid" }),
    );
    expect(openServerConfig({ name: "a", command: ["x"] }, 0, undefined)).toEqual({
      name: "a",
      command: ["x"],
    });
  });

  it("refuse a value of another field or key, and any where there are no keys, and name the field", () => {
    const moved = { url: "https://example.com/", secret: seal("whsec", "telegram.bot_token") };
    const message = expect.stringContaining('the encrypted field "webhook.secret"');
    for (const each of [keys, generateKeyPair()])
      expect(() => openWebhookConfig(moved, each)).toThrow(
        expect.objectContaining({ code: "vault_invalid", message }),
      );
    expect(() => openWebhookConfig(moved, undefined)).toThrow(
      expect.objectContaining({ code: "key_locked", message }),
    );
    const server = {
      name: "a",
      command: ["x"],
      env: { TOKEN: seal("t", "proxy.upstream_servers[2].env.TOKEN") },
    };
    expect(() => openServerConfig(server, 1, keys)).toThrow(
      expect.objectContaining({ code: "vault_invalid" }),
    );
  });
});
