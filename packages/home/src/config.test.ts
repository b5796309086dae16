import { chmod, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { scratchDirectory } from "../test/support.js";
import { type Config, DEFAULT_CONFIG, parseConfig, readConfig } from "./config.js";
import { CONFIG_TEMPLATE } from "./templates.js";

const ORIGINS = { homeDir: "/home/ada", cwd: "/home/ada/.acp" };

const parse = (text: string): Config => parseConfig(text, ORIGINS);

/** The error of a text, for a partial match. */
function errorOf(text: string): unknown {
  try {
    parse(text);
  } catch (error) {
    return error;
  }
  return undefined;
}

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
      unsupported: ["proxy.port", "proxy.upstream_servers[1].url"],
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
      'there is no version; write version: "1"',
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
        unsupported: [],
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

  const server = (rest: string): string => `proxy: { upstream_servers: [{ ${rest} }] }`;
  it.each([
    ["an empty file", "", "the file is empty"],
    ["a list", "- a", "expected a map"],
    ["a misspelt key", "chanel: prompt", 'unknown key "chanel"; did you mean channel?'],
    [
      "a misspelt key further down",
      "proxy: { upstream_server: [] }",
      "did you mean upstream_servers?",
    ],
    ["another version", 'version: "2"', 'did you mean "1"?'],
    ["a version that is a number", "version: 1", 'did you mean "1"?'],
    ["another channel", "channel: telegraf", "did you mean telegram?"],
    ["a channel without its settings", "channel: webhook", 'no "webhook"'],
    ["no channel at all", "channel: []", "no channel in it"],
    ["a channel twice", "channel: [prompt, terminal]", "twice"],
    [
      "a channel beside an escalation",
      "channel: prompt\nescalation: [{ channel: prompt }]",
      'there is a "channel" too',
    ],
    ["an escalation without stages", "escalation: []", "has not 1 to 16 stages"],
    ["a stage without a channel", "escalation: [{ after_seconds: 5 }]", '"channel" is missing'],
    [
      "a first stage that waits",
      "escalation: [{ channel: prompt, after_seconds: 5 }]",
      "starts at once",
    ],
    [
      "stages out of order",
      "escalation: [{ channel: prompt }, { channel: prompt }]",
      "not in the order",
    ],
    [
      "approvers in some stages",
      "approvers: [{ id: a, channel: terminal, subject: s }]\nescalation: [{ channel: prompt }, { channel: prompt, after_seconds: 5, approvers: [a] }]",
      "some stages name approvers",
    ],
    [
      "a stage for nobody known",
      "escalation: [{ channel: prompt, approvers: [bob] }]",
      "no approver and no group",
    ],
    [
      "a stage's channel without its settings",
      "escalation: [{ channel: telegram }]",
      'no "telegram"',
    ],
    ["a port that is none", "webhook: { url: 'https://h', secret: s, listen: 70000 }", "no port"],
    [
      "an address without a port",
      "webhook: { url: 'https://h', secret: s, listen: localhost }",
      "no port",
    ],
    [
      "links without a listener",
      "webhook: { url: 'https://h', secret: s, link_url: 'https://l' }",
      "leads nowhere",
    ],
    ["half the settings of a channel", "telegram: { chat_id: '1' }", '"bot_token" is missing'],
    ["a chat that is a number", "telegram: { bot_token: a, chat_id: 17 }", 'did you mean "17"?'],
    ["a webhook that is no URL", "webhook: { url: example, secret: a }", "not a URL"],
    [
      "a webhook of another scheme",
      "webhook: { url: 'file:///x', secret: a }",
      "not an http or https URL",
    ],
    [
      "a webhook with a password",
      "webhook: { url: 'https://a:b@c', secret: a }",
      "must not hold a name or password",
    ],
    ["a port beyond all", "proxy: { port: 65536 }", "from 1 to 65535"],
    ["half a port", "proxy: { http_port: 80.5 }", "whole number"],
    ["a timeout of nothing", "defaults: { timeout_seconds: 0 }", "from 1 to 604800"],
    ["a timeout beyond a week", "defaults: { timeout_seconds: 604801 }", "from 1 to 604800"],
    ["a timeout in quotes", "defaults: { timeout_seconds: '60' }", "did you mean 60?"],
    ["an empty path", "defaults: { policy: '' }", "the text is empty"],
    ["another user's path", "defaults: { policy: ~bob/p.yml }", 'only "~/" is understood'],
    ["a server without a name", server("command: x"), '"name" is missing'],
    [
      "a server of both kinds",
      server("name: a, command: x, url: 'http://h'"),
      'either "command" or "url"',
    ],
    ["a server of no kind", server("name: a"), 'either "command" or "url"'],
    [
      "arguments of a URL",
      server("name: a, url: 'http://h', args: []"),
      '"args" goes with "command" only',
    ],
    ["a shell's command", server("name: a, command: 'x | y'"), "there is no shell"],
    ["a name in capitals", server("name: Files, command: x"), "small letters"],
    ["a name with two underscores", server("name: a__b, command: x"), "single underscores"],
    [
      "two servers of one name",
      "proxy: { upstream_servers: [{ name: a, command: x }, { name: a, command: y }] }",
      'another server is called "a"',
    ],
    [
      "a variable that is a number",
      server("name: a, command: x, env: { A: 1 }"),
      "put it in quotes",
    ],
    ["a variable with a NUL", server('name: a, command: x, env: { A: "b\\0c" }'), "NUL character"],
    [
      "a variable of a strange name",
      server("name: a, command: x, env: { 'A=B': '1' }"),
      "a variable's name",
    ],
    [
      "an approver without a subject",
      "approvers: [{ id: a, channel: telegram }]",
      '"subject" is missing',
    ],
    [
      "one subject twice",
      "approvers: [{ id: a, channel: t, subject: '1' }, { id: b, channel: t, subject: '1' }]",
      "same channel and subject",
    ],
    [
      "two spellings of one subject",
      "approvers: [{ id: a, channel: t, subject: bo }, { id: b, channel: t, subject: 'Bo ' }]",
      "same channel and subject",
    ],
    [
      "a channel's name in capitals",
      "approvers: [{ id: a, channel: T, subject: '1' }]",
      "small letters",
    ],
    [
      "two spellings of one name",
      "approvers: [{ id: ann, channel: t, subject: '1' }, { id: 'Ann ', channel: t, subject: '2' }]",
      "are one name",
    ],
    [
      "a name that nobody sees",
      'approvers: [{ id: "\u200b", channel: t, subject: x }]',
      "nothing in it that can be seen",
    ],
    [
      "two groups of one name",
      "approvers: [{ id: a, channel: t, subject: '1' }]\ngroups: { ops: [a], OPS: [a] }",
      "another group has the same name",
    ],
    ["a group of strangers", "groups: { g: [ada] }", 'no approver with the id "ada"'],
    [
      "a group named like an approver",
      "approvers: [{ id: a, channel: t, subject: '1' }]\ngroups: { a: [a] }",
      "the same name",
    ],
    [
      "an encrypted text where none is opened",
      server("name: a, command: x, args: ['encrypted:abc']"),
      "only telegram.bot_token, webhook.secret",
    ],
    ["an encrypted chat", "telegram: { bot_token: a, chat_id: encrypted:abc }", "can be encrypted"],
    ["a key twice", "channel: prompt\nchannel: prompt", "stands twice"],
    ["an alias", "channel: &a prompt\ngroups: *a", "anchor"],
  ])("refuses %s", (_name, text, why) => {
    expect(errorOf(text)).toMatchObject({
      code: "config_invalid",
      message: expect.stringContaining(why),
      position: { line: expect.any(Number) },
    });
  });

  it("names line, column and path", () => {
    expect(
      errorOf('version: "1"\nproxy:\n  upstream_servers:\n    - name: a\n      comand: x\n'),
    ).toMatchObject({
      message:
        'Cannot load config at line 5, column 7 (proxy.upstream_servers[0].comand): unknown key "comand"; did you mean command?',
      position: { line: 5, column: 7 },
      path: "proxy.upstream_servers[0].comand",
      suggestion: "command",
    });
  });

  it.each([
    ["telegram: { bot_token: 99887766, chat_id: '1' }", "99887766"],
    ["telegram: { bot_token: 99887766554433221100, chat_id: '1' }", "99887766"],
    ["webhook: { url: 'http://h', secret: [hunter2] }", "hunter2"],
    [server("name: a, command: x, env: { TOKEN: [hunter2] }"), "hunter2"],
    [server('name: a, command: "x \'hunter2"'), "hunter2"],
  ])("never shows a value that may be secret: %j", (text, secret) => {
    const error = errorOf(text);
    expect(error).toMatchObject({ code: "config_invalid" });
    expect(String(error)).not.toContain(secret);
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

  it("reads a file that others may read while it holds no secret", async () => {
    expect(await readConfig(await written(V02, 0o644), ORIGINS)).toEqual(parse(V02));
  });

  it("reads a file that others may read while every secret is encrypted", async () => {
    const text =
      "proxy: { upstream_servers: [{ name: a, command: x, env: { T: encrypted:abc } }] }";
    expect(await readConfig(await written(text, 0o644), ORIGINS)).toEqual(parse(text));
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
      expect(await readConfig(path, ORIGINS)).toEqual(parse(text));
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
