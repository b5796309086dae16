/** Anthropic's Messages API, streaming and not. */
import type { JsonObject } from "@acp/core";
import { asEvents, asJson, objectsIn, textOf, textsAt } from "./dialect.js";
import type { Dialect, Turn } from "./dialect.js";

const USAGE = { input_tokens: 10, output_tokens: 10 };

/** The blocks of an answer, whole. */
function blockOf(turn: Turn, id: number): JsonObject {
  if ("text" in turn) return { type: "text", text: turn.text };
  return {
    type: "tool_use",
    id: `toolu_${id}`,
    name: turn.tool,
    input: { command: turn.command, description: "a check" },
  };
}

/** The same in the two pieces that a stream has: an empty block, and what fills it. */
function piecesOf(block: JsonObject): readonly [JsonObject, JsonObject] {
  if (block["type"] === "text")
    return [
      { type: "text", text: "" },
      { type: "text_delta", text: block["text"] ?? "" },
    ];
  return [
    { ...block, input: {} },
    { type: "input_json_delta", partial_json: JSON.stringify(block["input"]) },
  ];
}

/** The dialect. */
export const anthropic: Dialect = {
  matches: (path) => /\/v1\/messages(?:\?|$)/.test(path),
  read(body) {
    const contents = objectsIn(body["messages"]).flatMap(({ content }) => objectsIn(content));
    return {
      tools: textsAt(objectsIn(body["tools"]), "name"),
      results: contents
        .filter(({ type }) => type === "tool_result")
        .map(({ content }) => textOf(content)),
    };
  },
  write(turn, { body, id }) {
    const block = blockOf(turn, id);
    const stop = { stop_reason: "tool" in turn ? "tool_use" : "end_turn", stop_sequence: null };
    const message: JsonObject = {
      id: `msg_${id}`,
      type: "message",
      role: "assistant",
      model: body["model"] ?? "scripted",
      usage: USAGE,
    };
    if (body["stream"] !== true) return asJson({ ...message, content: [block], ...stop });
    const [empty, delta] = piecesOf(block);
    const events: readonly JsonObject[] = [
      {
        type: "message_start",
        message: { ...message, content: [], stop_reason: null, stop_sequence: null },
      },
      { type: "content_block_start", index: 0, content_block: empty },
      { type: "content_block_delta", index: 0, delta },
      { type: "content_block_stop", index: 0 },
      { type: "message_delta", delta: stop, usage: { output_tokens: 10 } },
      { type: "message_stop" },
    ];
    return asEvents(events, true);
  },
};
