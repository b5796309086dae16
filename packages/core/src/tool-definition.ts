/**
 * Tool definitions: what a server says about one of its tools, copied, bounded and frozen before
 * anything is judged by it.
 */
import { ConsentError } from "./errors.js";
import { copyMeasured } from "./json/copy.js";
import { boundedList, boundedText, isObject, ownValue } from "./json/own.js";
import { isJsonObject, type JsonObject } from "./json/value.js";
import type { ToolDefinition } from "./types/agent.js";
import {
  NAME_CHARS_MAX,
  TOOL_DEFINITION_UNITS_MAX,
  TOOL_NOTE_CHARS_MAX,
  TOOL_NOTES_MAX,
} from "./limits.js";

/** The definitions that this module made: they cannot change any more. */
const known = new WeakSet();

const PINS = ["new", "same", "changed", "unknown"] as const;

/**
 * Reads a tool definition. One that this function made is returned as it is, so that many calls can
 * share it and what is compiled from its schema.
 *
 * @param value - A {@link ToolDefinition}, or what claims to be one; unknown members are left out.
 * @throws ConsentError `json_not_data`, `json_lone_surrogate`, `json_too_deep` or `json_too_large`.
 */
export function parseToolDefinition(value: unknown): ToolDefinition {
  if (isDefinition(value)) return value;
  if (!isObject(value))
    throw new ConsentError("json_not_data", 'Cannot read "tool": it is not an object', {
      path: "tool",
    });
  const inputSchema = schemaPart(value, "inputSchema", TOOL_DEFINITION_UNITS_MAX);
  const annotations = schemaPart(
    value,
    "annotations",
    TOOL_DEFINITION_UNITS_MAX - (inputSchema?.units ?? 0),
  );
  const pinned = ownValue(value, "pinned");
  const pin = PINS.find((each) => each === pinned);
  if (pinned !== undefined && pin === undefined)
    throw new ConsentError(
      "json_not_data",
      'Cannot read "tool.pinned": it is not "new", "same", "changed" or "unknown"',
      { path: "tool.pinned" },
    );
  const definition: ToolDefinition = Object.freeze({
    server: boundedText(ownValue(value, "server"), {
      path: "tool.server",
      charsMax: NAME_CHARS_MAX,
    }),
    name: boundedText(ownValue(value, "name"), { path: "tool.name", charsMax: NAME_CHARS_MAX }),
    ...(inputSchema === undefined ? {} : { inputSchema: inputSchema.copy }),
    ...(annotations === undefined ? {} : { annotations: annotations.copy }),
    ...(pin === undefined ? {} : { pinned: pin }),
    ...readNotes(ownValue(value, "notes")),
  });
  known.add(definition);
  return definition;
}

function readNotes(given: unknown): Pick<ToolDefinition, "notes"> {
  if (given === undefined) return {};
  const notes = boundedList(given, { path: "tool.notes", itemsMax: TOOL_NOTES_MAX }).map(
    (note, at) => boundedText(note, { path: `tool.notes[${at}]`, charsMax: TOOL_NOTE_CHARS_MAX }),
  );
  return { notes: Object.freeze(notes) };
}

function isDefinition(value: unknown): value is ToolDefinition {
  return isObject(value) && known.has(value);
}

interface Part {
  readonly copy: JsonObject;
  readonly units: number;
}

function schemaPart(
  value: object,
  key: "inputSchema" | "annotations",
  unitsMax: number,
): Part | undefined {
  const given = ownValue(value, key);
  if (given === undefined) return undefined;
  const { copy, units } = copyMeasured(given, unitsMax);
  if (!isJsonObject(copy))
    throw new ConsentError("json_not_data", `Cannot read "tool.${key}": it is not an object`, {
      path: `tool.${key}`,
    });
  return { copy, units };
}
