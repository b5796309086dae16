/**
 * Resource text: what of a resource lasts and can instruct somebody. Lists of resources are data: a
 * size or a time changes with each file. Pure. Rules: spec/tool-pins.md §3.
 */
import { isRecord } from "../message.js";

type Members = Readonly<Record<string, unknown>>;
type Check = (value: unknown) => boolean;

const isText: Check = (value) => typeof value === "string";
const isNumber: Check = (value) => typeof value === "number";
const isTime: Check = (value) =>
  typeof value === "string" &&
  /^\d{4}-\d\d-\d\d(?:T[\d:.]{1,20}(?:Z|[+-]\d\d:?\d\d)?)?$/.test(value);
const isAudience: Check = (value) =>
  Array.isArray(value) && value.every((each) => each === "user" || each === "assistant");

/** Members that change with the data, where they are what they are called. */
const DATA: Readonly<Record<string, Check>> = { size: isNumber, lastModified: isTime };
const DATA_OF_ANNOTATIONS: Readonly<Record<string, Check>> = { lastModified: isTime };
/** Annotations that instruct nobody. */
const BARE_ANNOTATIONS: Readonly<Record<string, Check>> = {
  ...DATA_OF_ANNOTATIONS,
  audience: isAudience,
  priority: isNumber,
};
/** Members that instruct nobody. */
const BARE: Readonly<Record<string, Check>> = {
  ...DATA,
  uri: isText,
  name: isText,
  mimeType: isText,
  annotations: (value) =>
    isRecord(value) && Object.entries(value).every((each) => isOf(BARE_ANNOTATIONS, each)),
};

/** What of a resource lasts; nothing of one that has no text but its names, as a list of files has. */
export function lasting(item: Members): unknown {
  if (Object.entries(item).every((each) => isOf(BARE, each))) return undefined;
  const { annotations, ...rest } = without(item, DATA);
  const said = isRecord(annotations) ? without(annotations, DATA_OF_ANNOTATIONS) : annotations;
  return said === undefined ? rest : { ...rest, annotations: said };
}

const without = (value: Members, data: Readonly<Record<string, Check>>): Members =>
  Object.fromEntries(Object.entries(value).filter((each) => !isOf(data, each)));

const isOf = (
  checks: Readonly<Record<string, Check>>,
  [key, value]: readonly [string, unknown],
): boolean => Object.hasOwn(checks, key) && checks[key]?.(value) === true;
