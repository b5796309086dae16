/** Google's generateContent, streaming and not. */
import { isJsonObject } from "@acp/core";
import type { JsonObject } from "@acp/core";
import { asEvents, asJson, objectsIn, textsAt } from "./dialect.js";
import type { Dialect, Turn } from "./dialect.js";

/**
 * Gemini CLI also asks who speaks next and which model to take, and wants JSON: this answers all of
 * it.
 */
const ASIDE = {
  reasoning: "a check",
  next_speaker: "user",
  model_choice: "flash",
  complexity_reasoning: "a check",
  complexity_score: 1,
};

function partOf(turn: Turn, wantsJson: boolean): JsonObject {
  if ("text" in turn) return { text: wantsJson ? JSON.stringify(ASIDE) : turn.text };
  return {
    functionCall: { name: turn.tool, args: { command: turn.command, description: "a check" } },
    thoughtSignature: "c2ln",
  };
}

/** The dialect. */
export const gemini: Dialect = {
  matches: (path) => /:(?:streamG|g)enerateContent(?:\?|$)/.test(path),
  read(body) {
    const declared = objectsIn(body["tools"]).flatMap(({ functionDeclarations }) =>
      objectsIn(functionDeclarations),
    );
    const parts = objectsIn(body["contents"]).flatMap((content) => objectsIn(content["parts"]));
    const responses = parts.flatMap(({ functionResponse }) =>
      isJsonObject(functionResponse) ? [functionResponse] : [],
    );
    return {
      tools: textsAt(declared, "name"),
      results: responses.map(({ response }) => JSON.stringify(response ?? "")),
    };
  },
  write(turn, { path, body, id }) {
    const { generationConfig: config } = body;
    const wantsJson = isJsonObject(config) && config["responseMimeType"] === "application/json";
    const answer: JsonObject = {
      candidates: [
        {
          index: 0,
          content: { role: "model", parts: [partOf(turn, wantsJson)] },
          finishReason: "STOP",
        },
      ],
      usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 10, totalTokenCount: 20 },
      modelVersion: "scripted",
      responseId: `r${id}`,
    };
    return path.includes(":stream") ? asEvents([answer], false) : asJson(answer);
  },
};
