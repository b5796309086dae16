/**
 * Settings text: reads a client's settings and changes single values in them, so that comments, the
 * order and everything else stay as a person wrote them. Pure.
 */
import { isDeepStrictEqual } from "node:util";
import { parse as parseToml, patch as patchToml } from "@decimalturn/toml-patch";
import { ConsentError } from "@acp/core";
import { applyEdits, modify, parse as parseJsonc, printParseErrorCode } from "jsonc-parser";
import type { ParseError } from "jsonc-parser";

/** What settings are written in: JSON that may have comments and trailing commas, or TOML. */
export type SettingsFormat = "json" | "toml";

/** A value that is to be at a path. */
export interface Edit {
  readonly path: readonly string[];
  /** `undefined` takes it out. */
  readonly value: string | readonly string[] | undefined;
}

/** Settings, as far as we look into them. */
export type Settings = Readonly<Record<string, unknown>>;

const BOM = "\ufeff";

/** Whether it is a table or an object. */
export function isSettings(value: unknown): value is Settings {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * Reads settings.
 *
 * @throws ConsentError `options_invalid`, with line and column for JSON.
 */
export function readSettings(text: string, format: SettingsFormat): Settings {
  const value = format === "toml" ? readToml(text) : readJson(text);
  if (!isSettings(value)) throw unreadable("it is not an object");
  return value;
}

/** Clients that write an empty file before they write settings start from nothing. */
function readJson(text: string): unknown {
  const plain = text.startsWith(BOM) ? text.slice(1) : text;
  if (plain.trim() === "") return {};
  const errors: ParseError[] = [];
  const value: unknown = parseJsonc(plain, errors, { allowTrailingComma: true });
  const [first] = errors;
  if (first === undefined) return value;
  const before = plain.slice(0, first.offset).split("\n");
  const at = `line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}`;
  throw unreadable(`${printParseErrorCode(first.error)} at ${at}`);
}

function readToml(text: string): unknown {
  try {
    // Dates and such are of no concern here, and compared as what they are.
    return parseToml(text);
  } catch (error) {
    throw unreadable(error instanceof Error ? (error.message.split("\n")[0] ?? "") : String(error));
  }
}

const unreadable = (why: string): ConsentError =>
  new ConsentError("options_invalid", `Cannot read the settings: ${why}`);

/**
 * Changes values, and nothing else.
 *
 * @throws ConsentError `options_invalid` where the text cannot be changed without changing more.
 */
export function editSettings(text: string, format: SettingsFormat, edits: readonly Edit[]): string {
  const wanted = edits.reduce<Settings>(
    (settings, { path, value }) => withValue(settings, path, value),
    readSettings(text, format),
  );
  const after = format === "toml" ? editToml(text, wanted, edits) : editJson(text, edits);
  if (
    after !== undefined &&
    isDeepStrictEqual(plainOf(readSettings(after, format)), plainOf(wanted))
  )
    return after;
  throw new ConsentError(
    "options_invalid",
    "Cannot change the settings and keep the rest of the file as it is; change them by hand",
  );
}

/** Without formatting: that would change all of a line, and some files have one. */
function editJson(text: string, edits: readonly Edit[]): string {
  const bom = text.startsWith(BOM) ? BOM : "";
  let after = text.slice(bom.length);
  for (const { path, value } of edits) {
    const changes = modify(after, [...path], value, {}).map((change) => ({
      ...change,
      content: change.content.replace(JSON.stringify(value), () => spaced(value)),
    }));
    after = applyEdits(after, changes);
  }
  return `${bom}${after}`;
}

/** As people write it. */
const spaced = (value: Edit["value"]): string =>
  Array.isArray(value)
    ? `[${value.map((each) => JSON.stringify(each)).join(", ")}]`
    : JSON.stringify(value);

/**
 * The library loses values beside a comment inside a list: such a list is taken out first and put
 * back without its comments. What comes of it is compared with what was wanted.
 */
function editToml(text: string, wanted: Settings, edits: readonly Edit[]): string | undefined {
  const tries = [
    () => patchToml(text, wanted),
    () => {
      const without = edits.reduce<Settings>(
        (settings, { path }) => withValue(settings, path, undefined),
        wanted,
      );
      return patchToml(patchToml(text, without), wanted);
    },
  ];
  return tries
    .map((attempt) => settledOf(attempt))
    .find(
      (after) =>
        after !== undefined &&
        isDeepStrictEqual(plainOf(settledOf(() => readSettings(after, "toml"))), plainOf(wanted)),
    );
}

function settledOf<T>(attempt: () => T): T | undefined {
  try {
    return attempt();
  } catch {
    return undefined;
  }
}

function withValue(settings: Settings, path: readonly string[], value: Edit["value"]): Settings {
  const [key, ...rest] = path;
  if (key === undefined) return settings;
  const { [key]: own, ...others } = settings;
  if (rest.length > 0)
    return { ...settings, [key]: withValue(isSettings(own) ? own : {}, rest, value) };
  return value === undefined ? others : { ...settings, [key]: value };
}

/** Comparable whatever class the library gives a table or a date. */
const plainOf = (value: unknown): unknown =>
  value === undefined ? undefined : JSON.parse(JSON.stringify(value));
