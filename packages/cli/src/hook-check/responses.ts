/** OpenAI's Responses API, streaming. */
import type { JsonObject } from "@acp/core";
import { asEvents, objectsIn, textOf, textsAt } from "./dialect.js";
import type { Dialect, Turn } from "./dialect.js";

const USAGE = {
  input_tokens: 10,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: 10,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 20,
};

/** Older tools take words, newer ones a line; each calls it differently. */
function argumentsOf(tool: string, command: string): JsonObject {
  if (tool === "shell" || tool === "local_shell") return { command: ["bash", "-lc", command] };
  return tool === "exec_command" ? { cmd: command } : { command };
}

function itemOf(turn: Turn, id: number): JsonObject {
  if ("text" in turn)
    return {
      type: "message",
      id: `msg_${id}`,
      role: "assistant",
      status: "completed",
      content: [{ type: "output_text", text: turn.text, annotations: [] }],
    };
  const call = JSON.stringify(argumentsOf(turn.tool, turn.command));
  return {
    type: "function_call",
    id: `fc_${id}`,
    call_id: `call_${id}`,
    name: turn.tool,
    arguments: call,
  };
}

/** The dialect. */
export const responses: Dialect = {
  matches: (path) => /\/responses(?:\?|$)/.test(path),
  read: (body) => ({
    tools: textsAt(objectsIn(body["tools"]), "name"),
    results: objectsIn(body["input"])
      .filter(({ type }) => typeof type === "string" && type.endsWith("_output"))
      .map(({ output }) => textOf(output)),
  }),
  write(turn, { body, id }) {
    const item = itemOf(turn, id);
    const response: JsonObject = {
      id: `resp_${id}`,
      object: "response",
      model: body["model"] ?? "scripted",
      created_at: 1,
    };
    const text: readonly JsonObject[] =
      "text" in turn
        ? [
            {
              type: "response.output_text.delta",
              item_id: item["id"] ?? "",
              output_index: 0,
              content_index: 0,
              delta: turn.text,
            },
          ]
        : [];
    const events: readonly JsonObject[] = [
      { type: "response.created", response: { ...response, status: "in_progress", output: [] } },
      {
        type: "response.output_item.added",
        output_index: 0,
        item: "text" in turn ? { ...item, content: [] } : item,
      },
      ...text,
      { type: "response.output_item.done", output_index: 0, item },
      {
        type: "response.completed",
        response: { ...response, status: "completed", output: [item], usage: USAGE },
      },
    ];
    return asEvents(
      events.map((event, at) => ({ ...event, sequence_number: at })),
      true,
    );
  },
};
