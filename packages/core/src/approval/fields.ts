/**
 * Fields: strict reading of wire messages. Every key must be known, every value of its type; absence is never a default that grants.
 */
import { ConsentError } from "../errors.js";
import type { JsonObject, JsonValue } from "../json/value.js";
import { parseIsoTime } from "../time.js";

/** Reads the fields of one JSON object; `done` refuses keys that nobody read. */
export interface FieldReader {
  text(key: string, charsMax?: number): string;
  optionalText(key: string, charsMax?: number): string | undefined;
  oneOf<T extends string>(key: string, values: readonly T[]): T;
  time(key: string): number;
  optionalTime(key: string): number | undefined;
  integer(key: string, min: number, max: number): number;
  optionalInteger(key: string, min: number, max: number): number | undefined;
  flag(key: string): boolean;
  object(key: string): FieldReader;
  optionalObject(key: string): FieldReader | undefined;
  /** The object itself, unread. */
  raw(key: string): JsonObject;
  optionalRaw(key: string): JsonObject | undefined;
  texts(key: string): readonly string[];
  optionalTexts(key: string): readonly string[] | undefined;
  objects(key: string): readonly FieldReader[];
  /** Whether the key is there and null. */
  isNull(key: string): boolean;
  /** Marks a key as read without looking at it. */
  ignore(key: string): void;
  /** @throws ConsentError `message_invalid` where a key was not read. */
  done(): void;
}

const TEXT_CHARS_MAX = 4_096;

const isObject = (value: JsonValue | undefined): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/**
 * Reader of one object.
 *
 * @param path - Where the object stands, for error texts, e.g. `consent_response`.
 * @throws ConsentError `message_invalid` (from every method) naming the path.
 */
export function readFields(value: JsonValue | undefined, path: string): FieldReader {
  if (!isObject(value)) throw new ConsentError("message_invalid", `Cannot read "${path}": it is not an object`, { path });
  const source = value;
  const seen = new Set<string>();
  const at = (key: string): string => `${path}.${key}`;
  const fail = (key: string, want: string): never => {
    throw new ConsentError("message_invalid", `Cannot read "${at(key)}": it is not ${want}`, { path: at(key) });
  };
  const get = (key: string): JsonValue | undefined => {
    seen.add(key);
    return Object.hasOwn(source, key) ? source[key] : undefined;
  };
  const asText = (key: string, found: JsonValue | undefined, charsMax: number): string => {
    if (typeof found !== "string" || found.length > charsMax) return fail(key, `a text of at most ${charsMax} characters`);
    return found;
  };
  const asTime = (key: string, found: JsonValue | undefined): number => {
    const ms = typeof found === "string" ? parseIsoTime(found) : undefined;
    return ms ?? fail(key, "an RFC 3339 time");
  };
  const asInteger = (key: string, found: JsonValue | undefined, [min, max]: readonly [number, number]): number => {
    if (typeof found !== "number" || !Number.isSafeInteger(found) || found < min || found > max)
      return fail(key, `a whole number from ${min} to ${max}`);
    return found;
  };
  const asTexts = (key: string, found: JsonValue | undefined): readonly string[] => {
    if (!Array.isArray(found)) return fail(key, "a list of texts");
    return found.map((item: JsonValue, index) => asText(`${key}[${index}]`, item, TEXT_CHARS_MAX));
  };
  const asRaw = (key: string, found: JsonValue | undefined): JsonObject => (isObject(found) ? found : fail(key, "an object"));
  const optional = <T>(key: string, as: (found: JsonValue) => T): T | undefined => {
    const found = get(key);
    return found === undefined ? undefined : as(found);
  };

  return {
    text: (key, charsMax = TEXT_CHARS_MAX) => asText(key, get(key), charsMax),
    optionalText: (key, charsMax = TEXT_CHARS_MAX) => optional(key, (found) => asText(key, found, charsMax)),
    oneOf: <T extends string>(key: string, values: readonly T[]): T => {
      const found = get(key);
      return values.find((candidate) => candidate === found) ?? fail(key, `one of ${values.join(", ")}`);
    },
    time: (key) => asTime(key, get(key)),
    optionalTime: (key) => optional(key, (found) => asTime(key, found)),
    integer: (key, min, max) => asInteger(key, get(key), [min, max]),
    optionalInteger: (key, min, max) => optional(key, (found) => asInteger(key, found, [min, max])),
    flag: (key) => {
      const found = get(key);
      return typeof found === "boolean" ? found : fail(key, "true or false");
    },
    object: (key) => readFields(get(key), at(key)),
    optionalObject: (key) => optional(key, (found) => readFields(found, at(key))),
    raw: (key) => asRaw(key, get(key)),
    optionalRaw: (key) => optional(key, (found) => asRaw(key, found)),
    texts: (key) => asTexts(key, get(key)),
    optionalTexts: (key) => optional(key, (found) => asTexts(key, found)),
    objects: (key) => {
      const found = get(key);
      if (!Array.isArray(found)) return fail(key, "a list of objects");
      return found.map((item: JsonValue, index) => readFields(item, `${at(key)}[${index}]`));
    },
    isNull: (key) => get(key) === null,
    ignore: (key) => void seen.add(key),
    done: () => {
      const unknown = Object.keys(source).find((key) => !seen.has(key));
      if (unknown !== undefined)
        throw new ConsentError("message_invalid", `Cannot read "${path}": unknown key ${JSON.stringify(unknown)}`, { path: at(unknown) });
    },
  };
}
