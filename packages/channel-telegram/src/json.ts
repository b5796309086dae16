/**
 * Json: looks into replies and updates of the Bot API. What is not there, or of another type, is
 * `undefined`.
 */
import { type JsonValue, isJsonObject } from "@acp/core";

type Maybe = JsonValue | undefined;

/** What stands at a path of keys. */
export function at(value: Maybe, ...path: readonly string[]): Maybe {
  let found = value;
  for (const key of path)
    found = isJsonObject(found) && Object.hasOwn(found, key) ? found[key] : undefined;
  return found;
}

/** The text at a path. */
export function textAt(value: Maybe, ...path: readonly string[]): string | undefined {
  const found = at(value, ...path);
  return typeof found === "string" ? found : undefined;
}

/** The whole number at a path. */
export function integerAt(value: Maybe, ...path: readonly string[]): number | undefined {
  const found = at(value, ...path);
  return typeof found === "number" && Number.isSafeInteger(found) ? found : undefined;
}
