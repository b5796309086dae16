/**
 * Parse table: more programs from outside, checked when they are loaded: every key, every flag and
 * every example.
 */
import {
  checkBinary,
  evaluateCommandSafety,
  isBuiltIn,
  STYLES,
  TableError,
} from "@acp/exec-safety";
import type { Binary, BinaryTable } from "@acp/exec-safety";
import { invalid, readList, readMap, readOneOf, readText } from "../policy/spot.js";
import type { Spot, Subject } from "../policy/spot.js";
import { spotOfData } from "./config-spot.js";

const SUBJECT: Subject = { name: "table of programs", code: "options_invalid" };
const PROGRAMS_MAX = 1_000;
const CHARS_MAX = 10_000;
const EXAMPLE_CHARS_MAX = 1_000;
const SUBCOMMAND_DEPTH_MAX = 4;
const NAME = /^[A-Za-z0-9_][A-Za-z0-9_.+-]*$/;
const KEYS: readonly string[] =
  "alone flags reviewFlags operands operandsWith excess requires otherwise review style subcommands readsArgumentFiles obeysWorkspace silentWith takesCommands pagesUnless examples".split(
    " ",
  );

/**
 * Checks a table of programs for `extraBinaries`, in the form of the built-in ones
 * (packages/exec-safety/src/tables/README.md).
 *
 * @param table - Entries by program name. A built-in program cannot be replaced.
 * @throws ConsentError `options_invalid` with `path` and, where there is one, `suggestion`; also
 *   where an example is not judged as it says.
 */
export function parseBinaryTable(table: unknown): BinaryTable {
  const spot = spotOfData(table, SUBJECT);
  const spots = readMap(spot);
  if (spots.size > PROGRAMS_MAX)
    throw invalid(spot, `there are more than ${PROGRAMS_MAX} programs`);
  for (const [name, entry] of spots)
    if (isBuiltIn(name)) throw invalid(entry, "this program is a built-in one", { part: "key" });
  const parsed = readEntries(spots, 1);
  for (const [name, entry] of spots)
    if (parsed[name] !== undefined) checkExamples(entry, parsed[name], parsed);
  return parsed;
}

function readEntries(spots: ReadonlyMap<string, Spot>, depth: number): BinaryTable {
  const entries = [...spots].map(([name, spot]) => {
    if (!NAME.test(name)) throw invalid(spot, "this is not the name of a program", { part: "key" });
    if (depth > SUBCOMMAND_DEPTH_MAX)
      throw invalid(spot, `there are more than ${SUBCOMMAND_DEPTH_MAX} levels of subcommands`);
    return [name, readBinary(spot, depth)] as const;
  });
  return Object.freeze(Object.fromEntries(entries));
}

function readBinary(spot: Spot, depth: number): Binary {
  const parts = readMap(spot, KEYS);
  const pick = <T>(key: string, read: (part: Spot) => T): Readonly<Record<string, T>> => {
    const part = parts.get(key);
    return part === undefined ? {} : { [key]: read(part) };
  };
  const binary: Binary = Object.freeze({
    ...pick("alone", readForm),
    ...pick("flags", readForm),
    ...pick("reviewFlags", readForms),
    ...pick("operands", readForm),
    ...pick("operandsWith", readForms),
    ...pick("excess", readForm),
    ...pick("requires", readForm),
    ...pick("otherwise", readForm),
    ...pick("review", readForm),
    ...pick("style", (part) => readOneOf(part, STYLES)),
    ...pick("readsArgumentFiles", readFlag),
    ...pick("obeysWorkspace", readFlag),
    ...pick("silentWith", readForm),
    ...pick("takesCommands", readFlag),
    ...pick("pagesUnless", readForm),
    ...pick("subcommands", (part) => readEntries(readMap(part), depth + 1)),
    examples: readExamples(spot, parts.get("examples")),
  });
  try {
    checkBinary(binary);
  } catch (cause) {
    throw cause instanceof TableError
      ? invalid(spot, cause.message.replace(/^C/, "c"), { cause })
      : cause;
  }
  return binary;
}

/** Operands may be an empty text: none. */
function readForm(spot: Spot): string {
  return spot.value === "" ? "" : readText(spot, CHARS_MAX);
}

function readForms(spot: Spot): Readonly<Record<string, string>> {
  return Object.freeze(
    Object.fromEntries([...readMap(spot)].map(([key, part]) => [key, readForm(part)])),
  );
}

function readFlag(spot: Spot): boolean {
  if (typeof spot.value === "boolean") return spot.value;
  throw invalid(spot, "expected true or false");
}

function readExamples(entry: Spot, spot: Spot | undefined): Binary["examples"] {
  if (spot === undefined) throw invalid(entry, 'the entry has no "examples"');
  const parts = readMap(spot, ["safe", "review"]);
  const lines = (key: string): readonly string[] => {
    const part = parts.get(key);
    return Object.freeze(
      part === undefined ? [] : readList(part).map((line) => readText(line, EXAMPLE_CHARS_MAX)),
    );
  };
  const examples = Object.freeze({ safe: lines("safe"), review: lines("review") });
  if (examples.safe.length + examples.review.length === 0)
    throw invalid(spot, "there is no example");
  return examples;
}

function checkExamples(
  spot: Spot,
  { examples, subcommands = {} }: Binary,
  table: BinaryTable,
): void {
  const levelOf = (line: string): string =>
    evaluateCommandSafety(line, { extraBinaries: table }).riskLevel;
  for (const line of examples.safe)
    if (levelOf(line) !== "safe") throw invalid(spot, `the example "${line}" is not safe`);
  for (const line of examples.review)
    if (levelOf(line) === "safe") throw invalid(spot, `the example "${line}" is safe`);
  for (const subcommand of Object.values(subcommands)) checkExamples(spot, subcommand, table);
}
