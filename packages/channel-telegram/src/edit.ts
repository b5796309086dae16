/**
 * Edit: reads the arguments that a person wrote, and shows the edited call with what the edit
 * changes.
 */
import {
  type JsonObject,
  REASON_CHARS_MAX,
  canonicalJson,
  escapeText,
  isJsonObject,
  parseJson,
} from "@acp/core";

/** Bytes of the arguments as a person can write them: one message. */
const JSON_BYTES_MAX: number = 4 * 4_096;

/** The arguments as written, or why they are none. */
export function readArguments(json: string, proposed: JsonObject): JsonObject | string {
  try {
    const value = parseJson(json, { bytesMax: JSON_BYTES_MAX });
    if (!isJsonObject(value)) return "the arguments are not a JSON object";
    return canonicalJson(value) === canonicalJson(proposed) ? "the arguments are unchanged" : value;
  } catch (error) {
    return error instanceof Error ? escapeText(error.message) : "it is not JSON";
  }
}

const linesOf = (value: JsonObject): readonly string[] =>
  JSON.stringify(value, undefined, 2).split("\n").map(escapeText);

/**
 * The whole edited arguments, with the lines that go (`-`) and come (`+`) between the first and the
 * last difference.
 */
export function showEdit(before: JsonObject, after: JsonObject): string {
  const [old, now] = [linesOf(before), linesOf(after)];
  const isSame = (line: string, index: number): boolean => line === old[index];
  let start = now.findIndex((line, index) => !isSame(line, index));
  if (start === -1) start = now.length;
  let end = 0;
  while (
    end < Math.min(old.length, now.length) - start &&
    old[old.length - 1 - end] === now[now.length - 1 - end]
  )
    end++;
  return [
    ...now.slice(0, start).map((line) => `  ${line}`),
    ...old.slice(start, old.length - end).map((line) => `- ${line}`),
    ...now.slice(start, now.length - end).map((line) => `+ ${line}`),
    ...now.slice(now.length - end).map((line) => `  ${line}`),
  ].join("\n");
}

/** Why a reason cannot be handed on, or nothing. */
export function whyNoReason(reason: string): string | undefined {
  return reason.length <= REASON_CHARS_MAX
    ? undefined
    : `the reason is longer than ${REASON_CHARS_MAX} characters`;
}
