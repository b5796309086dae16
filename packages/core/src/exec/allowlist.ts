/**
 * Allowlist: patterns of simple commands that the operator approved beforehand (S3). Matching only:
 * what an entry may lift is decided by
 * @acp/exec-safety. Format: spec/exec-config.md §3. Vectors: spec/vectors/exec-config.json.
 */
import { simpleCommandOf } from "@acp/exec-safety";
import type { Allowlist, AllowlistEntry } from "@acp/exec-safety";
import { invalid, readList, readMap, readText } from "../policy/spot.js";
import type { Spot, Subject } from "../policy/spot.js";
import { compileAllowlistPattern } from "./allowlist-pattern.js";
import type { AllowlistPattern } from "./allowlist-pattern.js";
import { spotOfData } from "./config-spot.js";

/** Entries of one allowlist, at most. */
export const ALLOWLIST_ENTRIES_MAX = 1_000;
/** Characters of one pattern, at most. */
export const PATTERN_CHARS_MAX = 1_000;
/** Examples of one entry, each way. */
const EXAMPLES_MAX = 100;
const EXAMPLE_CHARS_MAX = 10_000;
const KEYS = ["pattern", "match", "notMatch"] as const;
const SUBJECT: Subject = { name: "allowlist", code: "config_invalid" };

/**
 * Compiles the entries of an allowlist. Format: spec/exec-config.md §3.
 *
 * @param entries - A list of `{ pattern, match?, notMatch? }`, at most 1,000.
 * @throws ConsentError `config_invalid` with `path` and, where there is one, `suggestion`; also
 *   where an example contradicts its pattern.
 */
export function parseAllowlist(entries: unknown): Allowlist {
  return readAllowlist(spotOfData(entries, SUBJECT));
}

/** {@link parseAllowlist} for a part of a larger document. */
export function readAllowlist(spot: Spot): Allowlist {
  const spots = readList(spot);
  if (spots.length > ALLOWLIST_ENTRIES_MAX)
    throw invalid(spot, `there are more than ${ALLOWLIST_ENTRIES_MAX} entries`);
  const byProgram = new Map<string, (readonly [string, AllowlistPattern])[]>();
  const entries = spots.map((each) => {
    const { entry, compiled } = readEntry(each);
    const others = byProgram.get(compiled.program);
    if (others === undefined) byProgram.set(compiled.program, [[entry.pattern, compiled]]);
    else others.push([entry.pattern, compiled]);
    return Object.freeze(entry);
  });
  return Object.freeze({
    entries: Object.freeze(entries),
    find: (argv: readonly string[]) =>
      byProgram.get(argv[0] ?? "")?.find(([, { takes }]) => takes(argv))?.[0],
  });
}

/**
 * The first pattern that matches one simple command, given as its program and decoded arguments;
 * `undefined` where none does.
 */
export function matchAllowlist(allowlist: Allowlist, argv: readonly string[]): string | undefined {
  return allowlist.find(argv);
}

function readEntry(spot: Spot): {
  readonly entry: AllowlistEntry;
  readonly compiled: AllowlistPattern;
} {
  const entries = readMap(spot, KEYS);
  const patternSpot = entries.get("pattern");
  if (patternSpot === undefined) throw invalid(spot, 'the entry has no "pattern"');
  const pattern = readText(patternSpot, PATTERN_CHARS_MAX);
  const compiled = compileAllowlistPattern(pattern);
  if ("problem" in compiled)
    throw invalid(patternSpot, compiled.problem, { suggestion: compiled.suggestion });
  const match = readExamples(entries.get("match"));
  const notMatch = readExamples(entries.get("notMatch"));
  for (const [example, each] of match ?? [])
    checkExample(each, { compiled, example, wanted: true });
  for (const [example, each] of notMatch ?? [])
    checkExample(each, { compiled, example, wanted: false });
  const texts = (examples: Examples): readonly string[] =>
    Object.freeze(examples.map(([text]) => text));
  return {
    entry: {
      pattern,
      ...(match === undefined ? {} : { match: texts(match) }),
      ...(notMatch === undefined ? {} : { notMatch: texts(notMatch) }),
    },
    compiled,
  };
}

type Examples = readonly (readonly [text: string, spot: Spot])[];

function readExamples(spot: Spot | undefined): Examples | undefined {
  if (spot === undefined) return undefined;
  const spots = readList(spot);
  if (spots.length > EXAMPLES_MAX)
    throw invalid(spot, `there are more than ${EXAMPLES_MAX} examples`);
  return spots.map((each) => [readText(each, EXAMPLE_CHARS_MAX), each] as const);
}

interface ExampleCheck {
  readonly compiled: AllowlistPattern;
  readonly example: string;
  readonly wanted: boolean;
}

function checkExample(spot: Spot, { compiled, example, wanted }: ExampleCheck): void {
  const argv = simpleCommandOf(example);
  if (argv === undefined && wanted)
    throw invalid(
      spot,
      "the example is not one simple command with known arguments, so no pattern matches it",
    );
  const matches = argv !== undefined && argv[0] === compiled.program && compiled.takes(argv);
  if (matches !== wanted)
    throw invalid(
      spot,
      wanted ? "the pattern does not match this example" : "the pattern matches this example",
    );
}
