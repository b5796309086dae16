import { expect, it } from "vitest";
import { checkAgentId, serverAgentId } from "./agent-id.js";

it.each(["agent", "claude-desktop", "team/ada", "Zoë", "../x", "bot 7"])(
  "checkAgentId() takes %j",
  (id) => {
    expect(() => checkAgentId(id)).not.toThrow();
  },
);

it.each([
  serverAgentId("files"),
  "",
  " ",
  "a\u001b[2J",
  "a\nb",
  "a\u202eb",
  "a\u200bb",
  "a\u2028b",
])("checkAgentId() refuses %j", (id) => {
  expect(() => checkAgentId(id)).toThrow(expect.objectContaining({ code: "options_invalid" }));
});
