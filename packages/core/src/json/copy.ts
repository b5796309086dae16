/**
 * Copies of unknown data: deep, frozen, plain JSON. What has no JSON form is refused, never dropped or converted.
 * Every property is read once, so a getter or proxy cannot show one value to the check and another to the copy. Format: spec/canonical-json.md.
 */
import { ConsentError } from "../errors.js";
import { JSON_BYTES_MAX, JSON_DEPTH_MAX } from "../limits.js";
import type { JsonObject, JsonValue } from "./value.js";

/** Options of {@link copyJson}. */
export interface CopyJsonOptions {
  /** UTF-16 units of all strings, keys and numbers together; `JSON_BYTES_MAX` unless given. */
  readonly sizeMax?: number;
}

const SURROGATE = /[\ud800-\udfff]/u;

interface Copying {
  readonly ancestors: object[];
  readonly sizeMax: number;
  size: number;
}

/**
 * A deep, frozen copy of plain JSON data.
 *
 * @throws ConsentError `json_not_data`, `json_lone_surrogate`, `json_too_deep` or `json_too_large`.
 */
export function copyJson(value: unknown, options: CopyJsonOptions = {}): JsonValue {
  const copying: Copying = { ancestors: [], sizeMax: options.sizeMax ?? JSON_BYTES_MAX, size: 0 };
  try {
    return copy(value, copying);
  } catch (error) {
    if (error instanceof ConsentError) throw error;
    throw new ConsentError("json_not_data", "Cannot copy a value: reading it threw", { cause: error });
  }
}

function copy(value: unknown, copying: Copying): JsonValue {
  switch (typeof value) {
    case "string":
      return copyText(value, copying);
    case "number":
      if (!Number.isFinite(value)) throw new ConsentError("json_not_data", `Cannot copy ${value}: it has no JSON form`);
      count(1, copying);
      return value;
    case "boolean":
      count(1, copying);
      return value;
    case "object":
      if (value === null) return null;
      return copyComposite(value, copying);
    default:
      throw new ConsentError("json_not_data", `Cannot copy a value of type ${typeof value}: it has no JSON form`);
  }
}

function copyText(text: string, copying: Copying): string {
  if (SURROGATE.test(text)) throw new ConsentError("json_lone_surrogate", "Cannot copy a text: it has an unpaired surrogate");
  count(text.length, copying);
  return text;
}

function count(units: number, copying: Copying): void {
  copying.size += units;
  if (copying.size > copying.sizeMax) throw new ConsentError("json_too_large", `Cannot copy a value: it is larger than ${copying.sizeMax}`);
}

function copyComposite(value: object, copying: Copying): JsonValue {
  const { ancestors } = copying;
  if (ancestors.includes(value)) throw new ConsentError("json_not_data", "Cannot copy a value: it holds itself");
  if (ancestors.length >= JSON_DEPTH_MAX) throw new ConsentError("json_too_deep", `Cannot copy a value: it is nested deeper than ${JSON_DEPTH_MAX}`);
  ancestors.push(value);
  count(2, copying);
  const copied = Array.isArray(value) ? copyArray(value, copying) : copyObject(value, copying);
  ancestors.pop();
  return Object.freeze(copied);
}

function copyArray(value: readonly unknown[], copying: Copying): JsonValue[] {
  const { length } = value;
  const copied: JsonValue[] = [];
  for (let index = 0; index < length; index++) copied.push(copy(readOwn(value, String(index)), copying));
  if (Reflect.ownKeys(value).length !== length + 1) throw new ConsentError("json_not_data", "Cannot copy an array: it has properties besides its elements");
  return copied;
}

function copyObject(value: object, copying: Copying): JsonObject {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== null && prototype !== Object.prototype) throw new ConsentError("json_not_data", "Cannot copy an object: it is an instance of a class");
  const copied: Record<string, JsonValue> = {};
  for (const key of Reflect.ownKeys(value)) {
    if (typeof key === "symbol") throw new ConsentError("json_not_data", "Cannot copy an object: it has a symbol as a key");
    copyText(key, copying);
    const child = copy(readOwn(value, key), copying);
    if (key === "__proto__") Object.defineProperty(copied, key, { value: child, enumerable: true, configurable: true, writable: true });
    else copied[key] = child;
  }
  return copied;
}

function readOwn(value: object, key: string): unknown {
  const property = Object.getOwnPropertyDescriptor(value, key);
  if (property === undefined || !("value" in property)) throw new ConsentError("json_not_data", `Cannot copy a value: "${key}" is missing or computed`);
  if (property.enumerable !== true) throw new ConsentError("json_not_data", `Cannot copy a value: "${key}" is not enumerable`);
  return property.value;
}
