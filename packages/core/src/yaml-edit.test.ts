import { describe, expect, it } from "vitest";
import { setYamlText } from "./yaml-edit.js";

const SUBJECT = { name: "config", code: "config_invalid" } as const;
const set = (text: string, path: readonly (string | number)[]): string =>
  setYamlText(text, path, { value: "new", subject: SUBJECT });
const token = ["telegram", "bot_token"];
const variable = ["servers", 1, "env", "KEY"];

describe("setYamlText()", () => {
  it.each<[string, string, readonly (string | number)[], string]>([
    [
      "a plain text",
      "# a\ntelegram:\n  bot_token: old # b\n  chat_id: x\n",
      token,
      '# a\ntelegram:\n  bot_token: "new" # b\n  chat_id: x\n',
    ],
    [
      "a quoted text",
      "telegram: { bot_token: 'it''s', chat_id: x }",
      token,
      'telegram: { bot_token: "new", chat_id: x }',
    ],
    [
      "a text over lines",
      "telegram:\n  bot_token: one\n    two # b\n",
      token,
      'telegram:\n  bot_token: "new" # b\n',
    ],
    [
      "a block text",
      "telegram:\n  bot_token: |- # b\n    old\n  chat_id: x\n",
      token,
      'telegram:\n  bot_token: "new" # b\n  chat_id: x\n',
    ],
    [
      "a value that is missing",
      "telegram:\n  bot_token:\n  chat_id: x\n",
      token,
      'telegram:\n  bot_token: "new"\n  chat_id: x\n',
    ],
    [
      "a value that is a comment",
      "telegram:\n  bot_token: # b\n",
      token,
      'telegram:\n  bot_token: "new" # b\n',
    ],
    [
      "a value that is nothing",
      "telegram: { bot_token: ~ }\n",
      token,
      'telegram: { bot_token: "new" }\n',
    ],
    [
      "a value that is empty",
      'telegram: { bot_token: "" }\n',
      token,
      'telegram: { bot_token: "new" }\n',
    ],
    [
      "lines that end as elsewhere",
      "telegram:\r\n  chat_id: x\r\n",
      token,
      'telegram:\r\n  chat_id: x\r\n  bot_token: "new"\r\n',
    ],
  ])("replaces %s", (_name, text, path, expected) => {
    expect(set(text, path)).toBe(expected);
  });

  it.each<[string, string, readonly (string | number)[], string]>([
    [
      "a map",
      "telegram:\n  chat_id: x # b\n# c\nlast: 1\n",
      token,
      'telegram:\n  chat_id: x # b\n  bot_token: "new"\n# c\nlast: 1\n',
    ],
    [
      "a map in one line",
      "telegram: {chat_id: x}",
      token,
      'telegram: { bot_token: "new",chat_id: x}',
    ],
    ["an empty map", "telegram: {}", token, 'telegram: { bot_token: "new" }'],
    [
      "a key without a map",
      "telegram:\nlast: 1\n",
      token,
      'telegram:\n  bot_token: "new"\nlast: 1\n',
    ],
    [
      "a key without a map, before a comment",
      "telegram: # b\nlast: 1\n",
      token,
      'telegram: # b\n  bot_token: "new"\nlast: 1\n',
    ],
    [
      "a key without a map in one line",
      "{ telegram: }",
      token,
      '{ telegram: { bot_token: "new" }}',
    ],
    [
      "a file without the section",
      "channel: x",
      token,
      'channel: x\ntelegram:\n  bot_token: "new"\n',
    ],
    [
      "a file that ends in a block text",
      "text: |\n  a\n\n",
      token,
      'text: |\n  a\ntelegram:\n  bot_token: "new"\n\n',
    ],
    [
      "a map that ends in a block text",
      "telegram:\n  x: |\n    a\nlast: 1\n     # c\n",
      token,
      'telegram:\n  x: |\n    a\n  bot_token: "new"\nlast: 1\n     # c\n',
    ],
    [
      "a file whose last section ends in comments",
      "defaults:\n  timeout: 1\n\n  # b\n    # c\n# d\n",
      token,
      'defaults:\n  timeout: 1\n\n  # b\n    # c\ntelegram:\n  bot_token: "new"\n# d\n',
    ],
    [
      "a file with an end mark",
      "channel: x\n...\n",
      token,
      'channel: x\ntelegram:\n  bot_token: "new"\n...\n',
    ],
    [
      "a file in one line",
      "{ channel: x }",
      token,
      '{ telegram: { bot_token: "new" }, channel: x }',
    ],
    [
      "an element of a list",
      "servers:\n  - name: a\n  - name: b # c\n    args:\n      - 1 # d\n# e\nlast: 1\n",
      variable,
      'servers:\n  - name: a\n  - name: b # c\n    args:\n      - 1 # d\n    env:\n      KEY: "new"\n# e\nlast: 1\n',
    ],
    [
      "an element in one line",
      "servers: [{ name: a }, { name: b, env: { A: '1' } }]",
      variable,
      "servers: [{ name: a }, { name: b, env: { KEY: \"new\", A: '1' } }]",
    ],
    [
      "the first key of an element",
      "servers:\n- name: a\n- env:\n",
      variable,
      'servers:\n- name: a\n- env:\n    KEY: "new"\n',
    ],
    [
      "a map whose new key reads as no text",
      "env:\n  A: b\n",
      ["env", "NO"],
      'env:\n  A: b\n  "NO": "new"\n',
    ],
  ])("adds to %s", (_name, text, path, expected) => {
    expect(set(text, path)).toBe(expected);
  });

  it.each<[string, string, readonly (string | number)[]]>([
    ["a number", "telegram: { bot_token: 17 }", token],
    ["a map in the text's place", "telegram: { bot_token: { a: 1 } }", token],
    ["a text in the map's place", "telegram: here", token],
    ["a list in the map's place", "telegram: [a]", token],
    ["an element that is not there", "servers: []", variable],
    ["a list that is not there", "channel: x", variable],
    ["a key written in a way that nobody writes", "? telegram\n", token],
    ["what would come out as another text", "{\n  telegram:\n}\n", token],
    ["a text that does not load", "telegram: &a x", token],
    ["a text that is empty", "# nothing\n", token],
  ])("refuses %s", (_name, text, path) => {
    expect(() => set(text, path)).toThrow(expect.objectContaining({ code: "config_invalid" }));
  });

  it("says what to do, and no value", () => {
    expect(() => set("telegram: { bot_token: 17 }", token)).toThrow(
      "Cannot write telegram.bot_token into the config: the place for it is not one that can be changed safely; write the key by hand, with any text, and try again",
    );
  });
});
