/** Changes of a file: each place in it, and the file with another value there. */
import { type JsonValue, isJsonObject } from "@acp/core";

/** Keys and indexes that lead to a value. */
export type Steps = readonly (string | number)[];

/** Every place in a value. */
export const ways = (value: JsonValue, path: Steps = []): readonly Steps[] => [
  path,
  ...(Array.isArray(value)
    ? value.flatMap((each: JsonValue, at) => ways(each, [...path, at]))
    : isJsonObject(value)
      ? Object.entries(value).flatMap(([key, each]) => ways(each, [...path, key]))
      : []),
];

/** The value with another one, or nothing, at a place. */
export function withAt(
  value: JsonValue,
  [step, ...rest]: Steps,
  put: JsonValue | undefined,
): JsonValue {
  if (step === undefined) return put ?? null;
  const inner = (member: JsonValue | undefined): JsonValue | undefined =>
    rest.length === 0 ? put : withAt(member ?? null, rest, put);
  if (Array.isArray(value))
    return value.flatMap((each: JsonValue, at) => {
      const next = at === step ? inner(each) : each;
      return next === undefined ? [] : [next];
    });
  if (!isJsonObject(value)) return value;
  const { [String(step)]: member, ...others } = value;
  const next = inner(member);
  return next === undefined ? others : { ...others, [String(step)]: next };
}
