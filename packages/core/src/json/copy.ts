/// <reference lib="es2024.string" />
/**
 * Copies of unknown data: deep, frozen, plain JSON. What has no JSON form is refused, never dropped
 * or converted. Every property is read once and never through a getter, so nothing can show one
 * value to a check and another to its use. Format: spec/canonical-json.md §3.
 */
import { ConsentError } from "../errors.js";
import type { ConsentErrorCode } from "../errors.js";
import { JSON_BYTES_MAX, JSON_DEPTH_MAX } from "../limits.js";
import { quote } from "@acp/exec-safety/text";
import type { JsonObject, JsonValue } from "./value.js";

/** A copy and its size. */
export interface MeasuredCopy {
  readonly copy: JsonValue;
  /**
   * One for every value and key and every UTF-16 unit of text: the canonical text has from `units`
   * to `units * BYTES_PER_UNIT_MAX` bytes.
   */
  readonly units: number;
}

/** The longest number has 24 characters and a comma; a unit of text has at most six bytes. */
export const BYTES_PER_UNIT_MAX = 30;

/** `0,` and `"":0,`; the last child has a bracket in place of its comma. */
const ITEM_BYTES_MIN = 2;
const MEMBER_BYTES_MIN = 5;

interface Walk {
  readonly unitsMax: number;
  readonly depthMax: number;
  /**
   * The open container at each depth, and the key being read in it; what stands deeper is left
   * over.
   */
  readonly containers: object[];
  readonly keys: (string | number)[];
  units: number;
}

const PLAIN_KEY = /^[A-Za-z_$][\w$-]*$/;

/**
 * A deep, frozen copy of plain JSON data. Getters are not run, `toJSON` is not called.
 *
 * @throws ConsentError `json_not_data`, `json_lone_surrogate`, `json_too_deep` or `json_too_large`,
 *   with the path of the culprit.
 */
export function copyJson(value: unknown): JsonValue {
  return copyMeasured(value, JSON_BYTES_MAX).copy;
}

/** As {@link copyJson}, with bounds of its own; tells the size. */
export function copyMeasured(
  value: unknown,
  unitsMax: number,
  depthMax: number = JSON_DEPTH_MAX,
): MeasuredCopy {
  const walk: Walk = { unitsMax, depthMax, containers: [], keys: [], units: 0 };
  try {
    const copied = copy(walk, value, 0);
    return { copy: copied, units: walk.units };
  } catch (error) {
    if (error instanceof ConsentError) throw error;
    throw new ConsentError("json_not_data", "Cannot use a value as JSON: reading it failed", {
      cause: error,
    });
  }
}

function copy(walk: Walk, value: unknown, depth: number): JsonValue {
  switch (typeof value) {
    case "string":
      return copyText(walk, value, depth);
    case "number":
      if (!Number.isFinite(value)) throw refused(walk, depth, `${value} has no JSON form`);
      break;
    case "boolean":
      break;
    case "object":
      if (value !== null) return copyContainer(walk, value, depth);
      break;
    default:
      throw refused(walk, depth, `${typeof value} has no JSON form`);
  }
  count(walk, 1, depth);
  return value;
}

function copyContainer(walk: Walk, value: object, depth: number): JsonValue {
  if (depth === walk.depthMax) {
    if (walk.containers.includes(value)) throw refused(walk, depth, "it holds itself");
    throw refusedAs(
      "json_too_deep",
      pathOf(walk, depth),
      `it is nested deeper than ${walk.depthMax}`,
    );
  }
  count(walk, 1, depth);
  walk.containers[depth] = value;
  return Object.freeze(
    Array.isArray(value) ? copyItems(walk, value, depth) : copyMembers(walk, value, depth),
  );
}

function copyItems(walk: Walk, array: readonly unknown[], depth: number): JsonValue[] {
  fits(walk, array.length * ITEM_BYTES_MIN, depth);
  const length = Reflect.ownKeys(array).length - 1;
  if (array.length !== length) throw refused(walk, depth, "an array has holes or named properties");
  const copied: JsonValue[] = [];
  for (let index = 0; index < length; index++) copied.push(copyProperty(walk, index, depth));
  return copied;
}

function copyMembers(walk: Walk, object: object, depth: number): JsonObject {
  if (!isPlainPrototype(Object.getPrototypeOf(object)))
    throw refused(walk, depth, "it is an instance of a class");
  if (Object.getOwnPropertySymbols(object).length > 0)
    throw refused(walk, depth, "it has a symbol as a key");
  const copied: Record<string, JsonValue> = {};
  const keys = Object.getOwnPropertyNames(object);
  fits(walk, keys.length * MEMBER_BYTES_MIN, depth);
  for (const key of keys) {
    copyText(walk, key, depth);
    const value = copyProperty(walk, key, depth);
    if (key === "__proto__") Object.defineProperty(copied, key, { value, enumerable: true });
    else copied[key] = value;
  }
  return copied;
}

function copyProperty(walk: Walk, key: string | number, depth: number): JsonValue {
  walk.keys[depth] = key;
  const property = Object.getOwnPropertyDescriptor(walk.containers[depth], key);
  if (property === undefined || property.enumerable !== true || !("value" in property)) {
    throw refused(walk, depth + 1, "it is missing, hidden or computed by a getter");
  }
  return copy(walk, property.value, depth + 1);
}

function copyText(walk: Walk, text: string, depth: number): string {
  count(walk, text.length + 1, depth);
  if (!text.isWellFormed())
    throw refusedAs(
      "json_lone_surrogate",
      pathOf(walk, depth),
      "a string has an unpaired surrogate",
    );
  return text;
}

/** What is too large by its number of children alone is not walked. */
function fits(walk: Walk, bytesMin: number, depth: number): void {
  if (walk.units + bytesMin > walk.unitsMax) count(walk, bytesMin, depth);
}

function count(walk: Walk, units: number, depth: number): void {
  walk.units += units;
  if (walk.units > walk.unitsMax)
    throw refusedAs(
      "json_too_large",
      pathOf(walk, depth),
      `the whole has more than ${walk.unitsMax} bytes`,
    );
}

/** No prototype, or one that is the last: `Object.prototype`, of this or another realm. */
function isPlainPrototype(prototype: unknown): boolean {
  return (
    prototype === null ||
    prototype === Object.prototype ||
    Object.getPrototypeOf(prototype) === null
  );
}

function refused(walk: Walk, depth: number, why: string): ConsentError {
  return refusedAs("json_not_data", pathOf(walk, depth), why);
}

function refusedAs(code: ConsentErrorCode, path: string, why: string): ConsentError {
  return new ConsentError(
    code,
    `Cannot use ${path === "" ? "a value" : quote(path)} as JSON: ${why}`,
    { path },
  );
}

function pathOf({ keys }: Walk, depth: number): string {
  let path = "";
  for (const key of keys.slice(0, depth)) {
    if (typeof key === "number") path += `[${key}]`;
    else if (PLAIN_KEY.test(key)) path += path === "" ? key : `.${key}`;
    else path += `[${JSON.stringify(key)}]`;
  }
  return path;
}
