import { createHash } from "node:crypto";
import { chmod, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { scratchDirectory } from "../test/support.js";
import {
  type Config,
  type LoadedConfig,
  DEFAULT_CONFIG,
  parseConfig,
  readConfig,
} from "./config.js";
import { CONFIG_TEMPLATE } from "./templates.js";

const ORIGINS = { homeDir: "/home/ada", cwd: "/home/ada/.acp" };

const parse = (text: string): Config => parseConfig(text, ORIGINS);

/** The file of the ACP specification v0.2 §8.1. */
const V02 = `version: "1"
channel: telegram

telegram:
  bot_token: "encrypted:abc"
  chat_id: "123456789"

webhook:
  url: "https://example.com/acp/callback"
  secret: "encrypted:def"

proxy:
  port: 8443
  upstream_servers:
    - name: "default"
      command: "npx @modelcontextprotocol/server-filesystem /tmp"
    - name: "github"
      url: "http://localhost:3001"

defaults:
  timeout_seconds: 120
  policy: "~/.acp/policy.yml"
`;

describe("parseConfig()", () => {
  it("reads the file of v0.2, and says what cannot be used yet", () => {
    expect(parse(V02)).toEqual({
      stages: [{ channels: ["telegram"], afterMs: 0 }],
      telegram: { botToken: "encrypted:abc", chatId: "123456789" },
      webhook: { url: "https://example.com/acp/callback", secret: "encrypted:def" },
      port: 8443,
      servers: [
        { name: "default", command: ["npx", "@modelcontextprotocol/server-filesystem", "/tmp"] },
        { name: "github", url: "http://localhost:3001" },
      ],
      askTimeoutMs: 120_000,
      policyPath: "/home/ada/.acp/policy.yml",
      groups: {},
      warnings: [],
    });
  });

  it("reads the file of v0.3, with warnings", () => {
    const config = parse(
      'channel: telegram\n\ntelegram:\n  bot_token: "<token>"\n  chat_id: "<chat_id>"\n',
    );
    expect(config).toMatchObject({
      stages: [{ channels: ["telegram"] }],
      telegram: { botToken: "<token>", chatId: "<chat_id>" },
    });
    expect(config.warnings).toEqual([
      '"version" is missing; write version: "1"',
      "telegram.bot_token is written in plain text",
    ]);
  });

  it("reads what acp init writes, without a warning", () => {
    expect(parse(CONFIG_TEMPLATE)).toEqual({ ...DEFAULT_CONFIG, askTimeoutMs: 120_000 });
  });

  it("means the terminal by prompt, by terminal, and by nothing", () => {
    for (const text of ["channel: prompt", "channel: terminal", "version: '1'"])
      expect(parse(text)).toMatchObject({
        stages: [{ channels: ["terminal"], afterMs: 0 }],
      });
  });

  const both =
    "telegram: { bot_token: 'encrypted:a', chat_id: '1' }\nwebhook: { url: 'https://h', secret: 'encrypted:b' }\n";

  it("reads several channels at once, and stages that come later", () => {
    expect(parse(`channel: [prompt, telegram]\n${both}`).stages).toEqual([
      { channels: ["terminal", "telegram"], afterMs: 0 },
    ]);
    const text = `${both}approvers: [{ id: ada, channel: terminal, subject: local }, { id: bob, channel: telegram, subject: "2" }]
groups: { oncall: [bob] }
escalation:
  - { channel: prompt, approvers: [ada] }
  - { channel: [telegram, webhook], after_seconds: 60, approvers: [oncall] }
`;
    expect(parse(text).stages).toEqual([
      { channels: ["terminal"], afterMs: 0, approvers: ["ada"] },
      { channels: ["telegram", "webhook"], afterMs: 60_000, approvers: ["oncall"] },
    ]);
  });

  it("reads how long a key stays open after acp unlock", () => {
    expect(parse("defaults: { unlock_ttl_seconds: 90 }").unlockTtlMs).toBe(90_000);
    for (const wrong of ["59", "604801", "forever", "-1"])
      expect(() => parse(`defaults: { unlock_ttl_seconds: ${wrong} }`)).toThrow(
        expect.objectContaining({ code: "config_invalid" }),
      );
  });

  it("reads how often an agent may ask", () => {
    expect(parse("defaults: { prompt_limit: 30/hour }").promptLimit).toEqual({
      max: 30,
      windowMs: 3_600_000,
    });
    expect(parse("defaults: { prompt_limit: none }").promptLimit).toBe("none");
    expect(() => parse("defaults: { prompt_limit: 30/hours }")).toThrow(
      expect.objectContaining({ suggestion: '"30/hour"' }),
    );
  });

  it.each([
    ["8787", { host: "127.0.0.1", port: 8787 }],
    ["127.0.0.1:8787", { host: "127.0.0.1", port: 8787 }],
    ["approvals.example.com:80", { host: "approvals.example.com", port: 80 }],
    ["'[::1]:8787'", { host: "::1", port: 8787 }],
  ])("reads where a webhook listens: %s", (listen, expected) => {
    const webhook = `webhook: { url: 'https://h', secret: s, listen: ${listen}, link_url: 'https://l/', allow_private_hosts: [h] }`;
    expect(parse(webhook).webhook).toEqual({
      url: "https://h",
      secret: "s",
      listen: expected,
      linkUrl: "https://l/",
      allowPrivateHosts: ["h"],
    });
  });

  it("reads a server's command, arguments, environment and directory", () => {
    const text = `proxy:
  upstream_servers:
    - name: files
      command: node 'my server.js' --flag
      args: ["a b", "$HOME", ""]
      env: { TOKEN: "s3cret", EMPTY: "" }
      cwd: ~/work
    - { name: two, command: x, cwd: sub }
`;
    expect(parse(text).servers).toEqual([
      {
        name: "files",
        command: ["node", "my server.js", "--flag", "a b", "$HOME", ""],
        env: { TOKEN: "s3cret", EMPTY: "" },
        cwd: "/home/ada/work",
      },
      { name: "two", command: ["x"], cwd: "/home/ada/.acp/sub" },
    ]);
  });

  it("reads approvers and groups, and keeps nobody apart from not said", () => {
    const text = `approvers:
  - { id: ada, channel: terminal, subject: local }
  - { id: ada, channel: telegram, subject: "17" }
  - { id: bob, channel: telegram, subject: "18" }
groups: { finance: [ada, bob], nobody: [] }
`;
    expect(parse(text)).toMatchObject({
      approvers: [
        { id: "ada", channel: "terminal", subject: "local" },
        { id: "ada", channel: "telegram", subject: "17" },
        { id: "bob", channel: "telegram", subject: "18" },
      ],
      groups: { finance: ["ada", "bob"], nobody: [] },
    });
    expect(parse("approvers: []").approvers).toEqual([]);
    expect(parse("channel: prompt").approvers).toBeUndefined();
  });
});

describe("readConfig()", () => {
  async function written(text: string, mode: number): Promise<string> {
    const path = join(await scratchDirectory(), "config.yml");
    await writeFile(path, text);
    await chmod(path, mode);
    return path;
  }

  const withEnvironment = "proxy: { upstream_servers: [{ name: a, command: x, env: { T: v } }] }";
  const plainToken = "telegram: { bot_token: plain, chat_id: '1' }";
  const plainSecret = "webhook: { url: 'http://h', secret: plain }";

  /** With the name of its text: what others make of its bytes. */
  const loaded = (text: string): LoadedConfig => ({
    ...parse(text),
    hash: `sha256:${createHash("sha256").update(text, "utf8").digest("hex")}`,
  });

  it("reads a file that others may read while it holds no secret", async () => {
    expect(await readConfig(await written(V02, 0o644), ORIGINS)).toEqual(loaded(V02));
  });

  it("reads a file that others may read while every secret is encrypted", async () => {
    const text =
      "proxy: { upstream_servers: [{ name: a, command: x, env: { T: encrypted:abc } }] }";
    expect(await readConfig(await written(text, 0o644), ORIGINS)).toEqual(loaded(text));
  });

  it.each([withEnvironment, plainToken, plainSecret])(
    "refuses a file that others may read while it holds a secret: %s",
    async (text) => {
      const path = await written(text, 0o640);
      await expect(readConfig(path, ORIGINS)).rejects.toMatchObject({
        code: "home_invalid",
        message: expect.stringContaining(`chmod 600 "${path}"`),
      });
      await chmod(path, 0o600);
      expect(await readConfig(path, ORIGINS)).toEqual(loaded(text));
    },
  );

  it("starts relative paths beside the file", async () => {
    const path = await written("defaults: { policy: my/policy.yml }", 0o600);
    expect((await readConfig(path, { homeDir: ORIGINS.homeDir })).policyPath).toBe(
      join(path, "..", "my/policy.yml"),
    );
  });

  it("refuses a file that others may write, and one that is missing", async () => {
    await expect(readConfig(await written(V02, 0o620), ORIGINS)).rejects.toMatchObject({
      code: "home_invalid",
      message: expect.stringContaining("chmod go-w"),
    });
    await expect(readConfig(join(await scratchDirectory(), "none"), ORIGINS)).rejects.toMatchObject(
      { code: "home_invalid" },
    );
  });
});
