import type { JsonObject } from "@acp/core";
import { describe, expect, it } from "vitest";
import { readUpdate } from "./update.js";

const from = { id: 4711, is_bot: false, first_name: "Alice" };
const chat = { id: 4711, type: "private" };
const query: JsonObject = {
  id: "77",
  from,
  chat_instance: "1",
  data: "v1:x",
  message: { message_id: 5, chat, date: 9, text: "?" },
};
const message: JsonObject = {
  message_id: 6,
  from,
  chat,
  date: 10,
  text: "approve",
  reply_to_message: { message_id: 5, chat, date: 9 },
};

describe("readUpdate()", () => {
  it("reads a tap", () => {
    expect(readUpdate({ update_id: 1, callback_query: query })).toEqual({
      id: 1,
      event: {
        kind: "tap",
        queryId: "77",
        sender: { subject: "4711", name: "Alice" },
        chatId: "4711",
        messageId: 5,
        data: "v1:x",
      },
    });
  });

  it("reads a reply", () => {
    expect(readUpdate({ update_id: 2, message })).toEqual({
      id: 2,
      event: {
        kind: "reply",
        sender: { subject: "4711", name: "Alice" },
        chatId: "4711",
        messageId: 6,
        repliedId: 5,
        dateS: 10,
        text: "approve",
      },
    });
  });

  it.each<[string, JsonObject]>([
    ["of a bot", { ...from, is_bot: true }],
    ["that does not say whether it is a bot", { id: 4711, first_name: "Alice" }],
    ["of a chat", { ...from, id: -100_500 }],
    ["without a number", { is_bot: false, first_name: "Alice", username: "alice" }],
    ["whose number is a text", { ...from, id: "4711" }],
    ["whose number is not whole", { ...from, id: 4711.5 }],
  ])("names no person for a sender %s", (_what, sender) => {
    for (const update of [
      { update_id: 1, callback_query: { ...query, from: sender } },
      { update_id: 2, message: { ...message, from: sender } },
    ])
      expect(readUpdate(update)?.event?.sender.subject).toBe("");
  });

  it("shows a name without what could hide, and only so much of it", () => {
    const name = (first: string): string | undefined =>
      readUpdate({
        update_id: 1,
        callback_query: { ...query, from: { ...from, first_name: first } },
      })?.event?.sender.name;
    expect(name("Bob\u202e\n")).toBe("Bob\\u202e\\u000a");
    expect(name("🙂".repeat(60))).toBe("🙂".repeat(32));
  });

  it.each<[string, JsonObject]>([
    ["that is no reply", { reply_to_message: null }],
    ["that was forwarded", { forward_origin: { type: "user", date: 9 } }],
    ["that was forwarded, as older servers say it", { forward_date: 9 }],
    ["in the name of a chat", { sender_chat: chat }],
    ["by way of another bot", { via_bot: { id: 5, is_bot: true } }],
    ["that was forwarded by itself", { is_automatic_forward: true }],
    ["that was edited", { edit_date: 11 }],
    ["without text", { text: null }],
    ["without a time", { date: null }],
  ])("takes a message %s for nothing", (_what, change) => {
    expect(readUpdate({ update_id: 2, message: { ...message, ...change } })).toEqual({
      id: 2,
      event: undefined,
    });
  });

  it.each([
    "edited_message",
    "channel_post",
    "edited_channel_post",
    "business_message",
    "inline_query",
  ])("takes the kind %s for nothing", (kind) => {
    expect(readUpdate({ update_id: 3, [kind]: message })).toEqual({ id: 3, event: undefined });
  });

  it("reads a tap that is below no message of a chat, so that it can be answered", () => {
    const { message: _none, data: _no, ...bare } = query;
    expect(readUpdate({ update_id: 1, callback_query: bare })?.event).toMatchObject({
      queryId: "77",
      chatId: "",
      messageId: 0,
      data: "",
    });
    expect(readUpdate({ update_id: 1, callback_query: { from } })).toEqual({
      id: 1,
      event: undefined,
    });
  });

  it.each([null, [], "update", {}, { update_id: "1", message }])("refuses %j", (value) => {
    expect(readUpdate(value)).toBeUndefined();
  });
});
