/**
 * Dialect: how one provider's API carries a conversation with tools, as far as a scripted model
 * needs it. Types and small readers only.
 */
import { isJsonObject } from "@acp/core";
import type { JsonObject, JsonValue } from "@acp/core";

/** What the model says next: it runs a command through a tool, or it says something. */
export type Turn = { readonly tool: string; readonly command: string } | { readonly text: string };

/** A conversation, as far as it has come. */
export interface Heard {
  /** Names of the tools that the agent offers. */
  readonly tools: readonly string[];
  /** What its tools answered, oldest first. */
  readonly results: readonly string[];
}

/** A body to send back. */
export interface Spoken {
  readonly type: "application/json" | "text/event-stream";
  readonly body: string;
}

/** One provider's API. */
export interface Dialect {
  /** Whether a request is one for an answer. */
  matches(path: string): boolean;
  read(body: JsonObject): Heard;
  /** @param id - Unique among the answers of one model. */
  write(
    turn: Turn,
    request: { readonly path: string; readonly body: JsonObject; readonly id: number },
  ): Spoken;
}

/** Objects of a list; nothing where it is none. */
export function objectsIn(value: JsonValue | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

/** Texts at `key` of the objects. */
export function textsAt(objects: readonly JsonObject[], key: string): readonly string[] {
  return objects.flatMap((each) => (typeof each[key] === "string" ? [each[key]] : []));
}

/** A tool's answer as one text, whatever it is made of. */
export function textOf(value: JsonValue | undefined): string {
  if (typeof value === "string") return value;
  const texts = textsAt(objectsIn(value), "text");
  return texts.length > 0 ? texts.join("\n") : JSON.stringify(value ?? "");
}

/** A plain answer. */
export function asJson(value: JsonObject): Spoken {
  return { type: "application/json", body: JSON.stringify(value) };
}

/**
 * A stream of server-sent events; each with its type as its name, where the provider names them.
 */
export function asEvents(events: readonly JsonObject[], isNamed: boolean): Spoken {
  const lines = events.map(
    (event) =>
      `${isNamed ? `event: ${textOf(event["type"])}\n` : ""}data: ${JSON.stringify(event)}\n\n`,
  );
  return { type: "text/event-stream", body: lines.join("") };
}
