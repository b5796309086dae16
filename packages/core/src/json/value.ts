/** A JSON value: what an Action's arguments and every wire message are made of. */
export type JsonValue = string | number | boolean | null | readonly JsonValue[] | JsonObject;

/** Text keys, each with a {@link JsonValue}. Data from outside has no prototype of ours. */
export interface JsonObject {
  readonly [key: string]: JsonValue;
}

/** Whether a JSON value is a list; false for `undefined`. */
export function isJsonList(value: JsonValue | undefined): value is readonly JsonValue[] {
  return Array.isArray(value);
}

/**
 * Whether a value that comes from JSON is an object; false for a list, null and `undefined`. Of
 * other data it says only that it is an object.
 */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
