import { describe, expect, it } from "vitest";
import { type Config, parseConfig } from "./config.js";
import { DEFAULT_AUDIT_CONFIG } from "./config-audit.js";

const parse = (text: string): Config =>
  parseConfig(text, { homeDir: "/home/ada", cwd: "/home/ada/.acp" });

describe("parseConfig() of the section audit", () => {
  it("reads the settings of the logs", () => {
    const text = `audit:
  format: v0.3
  rotate_megabytes: 16
  rotate_days: 7
  keep_files: 12
  keep_days: 180
  keep_megabytes: 512
  checkpoint_events: 100
  checkpoint_seconds: 5
  witnesses:
    - directory: /mnt/usb/acp
    - directory: beside
    - url: https://witness.example/checkpoints
`;
    expect(parse(text).audit).toEqual({
      format: "v0.3",
      rotateBytes: 16 * 1024 * 1024,
      rotateMs: 7 * 86_400_000,
      keepFiles: 12,
      keepMs: 180 * 86_400_000,
      keepBytes: 512 * 1024 * 1024,
      checkpointEvents: 100,
      checkpointMs: 5_000,
      witnesses: [
        { directory: "/mnt/usb/acp" },
        { directory: "/home/ada/.acp/beside" },
        { url: "https://witness.example/checkpoints" },
      ],
    });
    expect(parse("audit: {}").audit).toEqual(DEFAULT_AUDIT_CONFIG);
    expect(parse("channel: prompt").audit).toBeUndefined();
  });

  it.each([
    ["another format", "audit: { format: v3 }", "expected v0.2 or v0.3"],
    ["no room for a log", "audit: { rotate_megabytes: 0 }", "from 1 to"],
    ["no file to keep", "audit: { keep_files: 0 }", "from 1 to"],
    ["half a day", "audit: { rotate_days: 0.5 }", "whole number"],
    ["a misspelt setting of the logs", "audit: { keep_file: 3 }", "did you mean keep_files?"],
    ["a witness that is nothing", "audit: { witnesses: [{}] }", 'either "directory" or "url"'],
    [
      "a witness that is two",
      "audit: { witnesses: [{ directory: /a, url: 'http://h' }] }",
      'either "directory" or "url"',
    ],
    [
      "a witness twice",
      "audit: { witnesses: [{ directory: /a/b }, { directory: /a//b }] }",
      "another witness is the same",
    ],
    [
      "a crowd of witnesses",
      `audit: { witnesses: [${"{ directory: /a }, ".repeat(17)}] }`,
      "more than 16 witnesses",
    ],
    [
      "a witness with a password",
      "audit: { witnesses: [{ url: 'https://a:b@c' }] }",
      "must not contain a username or password",
    ],
  ])("refuses %s", (_name, text, why) => {
    expect(() => parse(text)).toThrow(
      expect.objectContaining({ code: "config_invalid", message: expect.stringContaining(why) }),
    );
  });
});
