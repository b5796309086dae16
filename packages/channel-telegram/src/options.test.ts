import { isConsentError } from "@acp/core";
import { describe, expect, it } from "vitest";
import { type TelegramChannelOptions, readOptions } from "./options.js";

const given: TelegramChannelOptions = { token: "123456:AAE-secret_part", chatId: "4711" };
const webhook = { url: "https://example.com/hook", secretToken: "s".repeat(32) };

describe("readOptions()", () => {
  it("lets the user of a private chat answer, and nobody else", () => {
    expect([...readOptions(given).approvers]).toEqual(["4711"]);
  });

  it("takes the approvers that are named, also where that is nobody", () => {
    expect([
      ...readOptions({ ...given, chatId: "-100500", approvers: ["1", "2"] }).approvers,
    ]).toEqual(["1", "2"]);
    expect([...readOptions({ ...given, approvers: [] }).approvers]).toEqual([]);
  });

  it.each([
    "https://api.telegram.org",
    "https://bots.example.com/",
    "http://127.0.0.1:8081",
    "http://localhost:8081",
    "http://[::1]:80",
  ])("takes the server %s", (apiRoot) => {
    expect(readOptions({ ...given, apiRoot, webhook }).apiRoot).toBe(apiRoot.replace(/\/$/, ""));
  });

  it.each<[string, Partial<Record<keyof TelegramChannelOptions, unknown>>, string]>([
    ["an empty token", { token: "" }, `"token"`],
    ["a token that leaves its place in the URL", { token: "123456:../../secret_part" }, `"token"`],
    ["a chat's name", { chatId: "@my_channel" }, `"chatId"`],
    ["a chat as a number", { chatId: 4711 }, `"chatId"`],
    ["an empty chat", { chatId: "" }, `"chatId"`],
    [
      "a group that names nobody",
      { chatId: "-100500" },
      `name in "approvers" who of it may answer`,
    ],
    ["an approver's name", { approvers: ["@alice"] }, `"approvers" is not`],
    ["a group as an approver", { approvers: ["-100500"] }, `"approvers" is not`],
    ["an approver as a number", { approvers: [4711] }, `"approvers" is not`],
    ["approvers that are no list", { approvers: "4711" }, `"approvers" is not`],
    ["a server elsewhere without TLS", { apiRoot: "http://bots.example.com" }, `"apiRoot"`],
    [
      "a server whose name begins like this machine's",
      { apiRoot: "http://127.0.0.1.example.com" },
      `"apiRoot"`,
    ],
    [
      "a server with a password in its address",
      { apiRoot: "https://user:secret@example.com" },
      `"apiRoot"`,
    ],
    ["no address", { apiRoot: "example.com" }, `"apiRoot"`],
    [
      "a webhook without TLS",
      { webhook: { ...webhook, url: "http://example.com/hook" } },
      `"webhook.url"`,
    ],
    [
      "a webhook's secret that could be guessed",
      { webhook: { ...webhook, secretToken: "s".repeat(31) } },
      `"webhook.secretToken"`,
    ],
    [
      "a webhook's secret of other characters",
      { webhook: { ...webhook, secretToken: `${"s".repeat(32)} ` } },
      `"webhook.secretToken"`,
    ],
  ])("refuses %s", (_what, change, why) => {
    let thrown: unknown;
    try {
      // As JavaScript or a file might give them.
      readOptions({ ...given, ...change } as TelegramChannelOptions);
    } catch (error) {
      thrown = error;
    }
    expect(isConsentError(thrown, "options_invalid")).toBe(true);
    expect(String(thrown)).toContain(why);
    expect(String(thrown)).not.toContain("secret_part");
  });
});
