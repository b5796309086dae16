/** What a configuration must not say, and how its mistake is named. */
import { describe, expect, it } from "vitest";
import { CONFIG_MISTAKES, oneServer as server } from "../test/mistakes.js";
import { parseConfig } from "./config.js";

const ORIGINS = { homeDir: "/home/ada", cwd: "/home/ada/.acp" };

/** The error of a text, for a partial match. */
function errorOf(text: string): unknown {
  try {
    parseConfig(text, ORIGINS);
  } catch (error) {
    return error;
  }
  return undefined;
}

describe("parseConfig()", () => {
  it.each(CONFIG_MISTAKES)("refuses %s", (_name, text, why) => {
    expect(errorOf(text)).toMatchObject({
      code: "config_invalid",
      message: expect.stringContaining(why),
      position: { line: expect.any(Number) },
    });
  });

  it("names every mistake of a file at once, in the order of the file", () => {
    const text = `version: "1"
chanel: prompt
proxy:
  http_port: 0
  upstream_servers:
    - { name: a, comand: x }
    - { name: B, command: y, env: { A: 1 } }
defaults: { timeout_seconds: "60" }
`;
    expect(errorOf(text)).toMatchObject({
      code: "config_invalid",
      message: [
        'Cannot load config at line 2, column 1 (chanel): unknown key "chanel"; did you mean channel?',
        "at line 4, column 14 (proxy.http_port): expected a whole number from 1 to 65535, got 0",
        'at line 6, column 18 (proxy.upstream_servers[0].comand): unknown key "comand"; did you mean command?',
        "at line 7, column 15 (proxy.upstream_servers[1].name): a server's name consists of lowercase letters, digits, dashes and single underscores",
        "at line 7, column 40 (proxy.upstream_servers[1].env.A): expected a string; put it in quotes",
        'at line 8, column 30 (defaults.timeout_seconds): expected a number from 1 to 604800, got the string "60"; did you mean 60?',
      ].join("; and "),
      position: { line: 2, column: 1 },
      path: "chanel",
      suggestion: "channel",
    });
  });

  it("counts the mistakes after the tenth", () => {
    const keys = Array.from({ length: 13 }, (_, at) => `key${at}: 1`).join("\n");
    const message = String(errorOf(keys));
    expect(message.match(/unknown key/g)).toHaveLength(10);
    expect(message).toMatch(/; and 3 more$/);
  });

  it("names what does not fit together after what is wrong by itself", () => {
    const people = "approvers: [{ id: a, channel: t, subject: '1' }]";
    const message = String(
      errorOf(`${people}\ngroups: { a: [bob], g: [eve] }\nchannel: [telegram, webhook]\n`),
    );
    for (const why of [
      "the same name",
      '"bob"',
      '"eve"',
      'section "telegram"',
      'section "webhook"',
    ])
      expect(message).toContain(why);
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
