/** Fields: what of an event's metadata has the type that is expected. */
import { isJsonList, isJsonObject } from "@acp/core";
import type { JsonObject, JsonValue } from "@acp/core";

/** A text, or nothing where it is none or is empty. */
export function textAt(from: JsonObject | undefined, key: string): string | undefined {
  const value = from?.[key];
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** A number. */
export function numberAt(from: JsonObject | undefined, key: string): number | undefined {
  const value = from?.[key];
  return typeof value === "number" ? value : undefined;
}

/** An object. */
export function objectAt(from: JsonObject | undefined, key: string): JsonObject | undefined {
  const value = from?.[key];
  return isJsonObject(value) ? value : undefined;
}

/** The texts of a list. */
export function textsAt(from: JsonObject | undefined, key: string): readonly string[] {
  return listAt(from, key).filter((value) => typeof value === "string");
}

/** The objects of a list. */
export function objectsAt(from: JsonObject | undefined, key: string): readonly JsonObject[] {
  return listAt(from, key).filter(isJsonObject);
}

function listAt(from: JsonObject | undefined, key: string): readonly JsonValue[] {
  const value = from?.[key];
  return isJsonList(value) ? value : [];
}
