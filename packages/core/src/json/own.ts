/// <reference lib="es2024.string" />
/**
 * Own data: reading members of an object that somebody else holds. Only the object's own plain
 * values count: nothing inherited, nothing computed by a getter, so that what was checked is what
 * is used.
 */
import { ConsentError } from "../errors.js";

/** Whether a value can have members. */
export function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

/**
 * The object's own value for a key; `undefined` where it has none.
 *
 * @throws ConsentError `json_not_data` for a getter; whatever a Proxy's trap throws.
 */
export function ownValue(object: object, key: string): unknown {
  const property = Object.getOwnPropertyDescriptor(object, key);
  if (property === undefined || "value" in property) return property?.value;
  throw new ConsentError("json_not_data", `Cannot read "${key}": it is computed by a getter`, {
    path: key,
  });
}

/** Where a text stands, for error messages, and how long it may be. */
export interface TextBounds {
  readonly path: string;
  /** UTF-16 units. */
  readonly charsMax: number;
  /** False unless given. */
  readonly mayBeEmpty?: boolean;
}

/**
 * A text within its bounds. An error never repeats the text.
 *
 * @throws ConsentError `json_not_data`, `json_lone_surrogate`, or `json_too_large` for a longer
 *   one.
 */
export function boundedText(
  value: unknown,
  { path, charsMax, mayBeEmpty = false }: TextBounds,
): string {
  if (typeof value !== "string")
    throw new ConsentError("json_not_data", `Cannot read "${path}": it is not a string`, { path });
  if (value === "" && !mayBeEmpty)
    throw new ConsentError("json_not_data", `Cannot read "${path}": it is empty`, { path });
  if (value.length > charsMax) {
    const why = `it has ${value.length} characters, more than ${charsMax}`;
    throw new ConsentError("json_too_large", `Cannot read "${path}": ${why}`, { path });
  }
  if (!value.isWellFormed())
    throw new ConsentError(
      "json_lone_surrogate",
      `Cannot read "${path}": it has an unpaired surrogate`,
      { path },
    );
  return value;
}

/**
 * A list as an array of our own, read by index.
 *
 * @throws ConsentError `json_not_data`, or `json_too_large` for a longer one.
 */
export function boundedList(
  value: unknown,
  { path, itemsMax }: { readonly path: string; readonly itemsMax: number },
): readonly unknown[] {
  if (!Array.isArray(value))
    throw new ConsentError("json_not_data", `Cannot read "${path}": it is not a list`, { path });
  const length = Number(ownValue(value, "length"));
  if (!(length <= itemsMax))
    throw new ConsentError(
      "json_too_large",
      `Cannot read "${path}": it has more than ${itemsMax} items`,
      { path },
    );
  return Array.from({ length }, (_, index) => ownValue(value, String(index)));
}

/**
 * Plain data as a frozen copy; what is frozen throughout already, as an action's arguments are, is
 * its own copy.
 */
export function frozenCopy<T>(value: T): T;
export function frozenCopy(value: unknown): unknown {
  if (!isObject(value) || isFrozenThroughout(value)) return value;
  if (Array.isArray(value)) return Object.freeze(value.map((each: unknown) => frozenCopy(each)));
  return Object.freeze(
    Object.fromEntries(Object.entries(value).map(([key, each]) => [key, frozenCopy(each)])),
  );
}

/**
 * Whether nothing in plain data can change any more. A frozen object may hold a live one, or a
 * getter.
 */
function isFrozenThroughout(value: unknown): boolean {
  if (!isObject(value)) return typeof value !== "function";
  if (!Object.isFrozen(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== Array.prototype && prototype !== null)
    return false;
  return Reflect.ownKeys(value).every((key) => {
    const property = Object.getOwnPropertyDescriptor(value, key);
    return property !== undefined && "value" in property && isFrozenThroughout(property.value);
  });
}
