/**
 * Fields: strict reading of wire messages. Every key must be known, every value of its type;
 * absence is never a default that grants.
 */
import { ConsentError } from "../errors.js";
import { isJsonObject, type JsonObject, type JsonValue } from "../json/value.js";
import { parseIsoTime } from "../time.js";

/**
 * Reads the fields of one JSON object, strictly. Call {@link FieldReader.done} last: it refuses
 * keys that nobody read. Every method throws ConsentError `message_invalid`, with the field's path,
 * where the value is of another type or missing.
 */
export interface FieldReader {
  /** A text of at most `charsMax` UTF-16 units (4,096 unless given); it may be empty. */
  text(key: string, charsMax?: number): string;
  /** As `text`; `undefined` where the key is missing. */
  optionalText(key: string, charsMax?: number): string | undefined;
  /** One of these texts, compared exactly. */
  oneOf<T extends string>(key: string, values: readonly T[]): T;
  /** An RFC 3339 time, in milliseconds since 1970. */
  time(key: string): number;
  /** As `time`; `undefined` where the key is missing. */
  optionalTime(key: string): number | undefined;
  /** A whole number from `min` to `max`, both included. */
  integer(key: string, min: number, max: number): number;
  /** As `integer`; `undefined` where the key is missing. */
  optionalInteger(key: string, min: number, max: number): number | undefined;
  /** `true` or `false`; nothing else counts as either. */
  flag(key: string): boolean;
  /** A reader of an object inside this one; call its `done` too. */
  object(key: string): FieldReader;
  /** As `object`; `undefined` where the key is missing. */
  optionalObject(key: string): FieldReader | undefined;
  /** An object as it is; its own fields are not checked. */
  raw(key: string): JsonObject;
  /** As `raw`; `undefined` where the key is missing. */
  optionalRaw(key: string): JsonObject | undefined;
  /** A list of texts of at most 4,096 UTF-16 units each. */
  texts(key: string): readonly string[];
  /** As `texts`; `undefined` where the key is missing. */
  optionalTexts(key: string): readonly string[] | undefined;
  /** Readers of the objects of a list, in its order; call the `done` of each. */
  objects(key: string): readonly FieldReader[];
  /** As `objects`; `undefined` where the key is missing. */
  optionalObjects(key: string): readonly FieldReader[] | undefined;
  /** The objects of a list as they are; their fields are not checked. */
  raws(key: string): readonly JsonObject[];
  /** True if the key is there and its value is null. Marks the key as read. */
  isNull(key: string): boolean;
  /** Marks a key as read, whatever its value, and whether it is there or not. */
  ignore(key: string): void;
  /**
   * Ends the reading.
   *
   * @throws ConsentError `message_invalid` for a key that nobody read.
   */
  done(): void;
}

const TEXT_CHARS_MAX = 4_096;

/** One value of an object, with its place for error texts. */
interface Found {
  readonly at: string;
  readonly value: JsonValue | undefined;
}

function fail({ at }: Found, want: string): never {
  throw new ConsentError("message_invalid", `Cannot read "${at}": it is not ${want}`, { path: at });
}

function asText(found: Found, charsMax: number = TEXT_CHARS_MAX): string {
  if (typeof found.value !== "string" || found.value.length > charsMax)
    return fail(found, `a string of at most ${charsMax} characters`);
  return found.value;
}

function asTime(found: Found): number {
  const ms = typeof found.value === "string" ? parseIsoTime(found.value) : undefined;
  return ms ?? fail(found, "an RFC 3339 time");
}

function asInteger(found: Found, min: number, max: number): number {
  const { value } = found;
  if (typeof value !== "number" || !Number.isSafeInteger(value) || value < min || value > max)
    return fail(found, `a whole number from ${min} to ${max}`);
  return value;
}

function asItems(found: Found, want: string): readonly Found[] {
  if (!Array.isArray(found.value)) return fail(found, want);
  return found.value.map((value: JsonValue, index) => ({ at: `${found.at}[${index}]`, value }));
}

const asTexts = (found: Found): readonly string[] =>
  asItems(found, "a list of strings").map((item) => asText(item));
const asRaw = (found: Found): JsonObject =>
  isJsonObject(found.value) ? found.value : fail(found, "an object");
const asFlag = (found: Found): boolean =>
  typeof found.value === "boolean" ? found.value : fail(found, "true or false");

/**
 * A reader of one object's fields.
 *
 * @param path - Where the object stands, for error texts, e.g. `consent_response`.
 * @throws ConsentError `message_invalid`, naming the path, where the value is not an object.
 */
export function readFields(value: JsonValue | undefined, path: string): FieldReader {
  if (!isJsonObject(value))
    throw new ConsentError("message_invalid", `Cannot read "${path}": it is not an object`, {
      path,
    });
  const source = value;
  const seen = new Set<string>();
  const get = (key: string): Found => {
    seen.add(key);
    return { at: `${path}.${key}`, value: Object.hasOwn(source, key) ? source[key] : undefined };
  };
  const optional = <T>(key: string, as: (found: Found) => T): T | undefined => {
    const found = get(key);
    return found.value === undefined ? undefined : as(found);
  };
  return {
    text: (key, charsMax) => asText(get(key), charsMax),
    optionalText: (key, charsMax) => optional(key, (found) => asText(found, charsMax)),
    oneOf: <T extends string>(key: string, values: readonly T[]): T => {
      const found = get(key);
      return (
        values.find((candidate) => candidate === found.value) ??
        fail(found, `one of ${values.join(", ")}`)
      );
    },
    time: (key) => asTime(get(key)),
    optionalTime: (key) => optional(key, asTime),
    integer: (key, min, max) => asInteger(get(key), min, max),
    optionalInteger: (key, min, max) => optional(key, (found) => asInteger(found, min, max)),
    flag: (key) => asFlag(get(key)),
    object: (key) => readFound(get(key)),
    optionalObject: (key) => optional(key, readFound),
    raw: (key) => asRaw(get(key)),
    optionalRaw: (key) => optional(key, asRaw),
    texts: (key) => asTexts(get(key)),
    optionalTexts: (key) => optional(key, asTexts),
    objects: (key) => asItems(get(key), "a list of objects").map(readFound),
    optionalObjects: (key) =>
      optional(key, (found) => asItems(found, "a list of objects").map(readFound)),
    raws: (key) => asItems(get(key), "a list of objects").map(asRaw),
    isNull: (key) => get(key).value === null,
    ignore: (key) => void seen.add(key),
    done: () => {
      const unknown = Object.keys(source).find((key) => !seen.has(key));
      if (unknown !== undefined)
        throw new ConsentError(
          "message_invalid",
          `Cannot read "${path}": unknown key ${JSON.stringify(unknown)}`,
          {
            path: `${path}.${unknown}`,
          },
        );
    },
  };
}

const readFound = ({ at, value }: Found): FieldReader => readFields(value, at);
