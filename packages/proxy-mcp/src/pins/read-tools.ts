/**
 * Read tools: the definitions in one answer to `tools/list`, or to another list, each with its pin or
 * with why it can have none. Pure. Rules: spec/tool-pins.md §3.
 */
import { isConsentError, isReservedName } from "@acp/core";
import { countMembers, elementsOf, findValue, splice, textOf } from "../json-walk.js";
import type { Span } from "../json-walk.js";
import { turnOf } from "../loop-turns.js";
import type { LoopTurns } from "../loop-turns.js";
import { countKeys, isRecord } from "../message.js";
import { logText } from "../log-text.js";
import { nameProblem } from "./names.js";
import { isAmbiguous } from "./stray.js";
import { pinOf } from "./tool-pins.js";
import type { Pinned } from "./tool-pins.js";

/** One definition of a list. */
export interface ListedTool {
  /** Where it stands in the line. */
  readonly span: Span;
  readonly name: string;
  readonly item: Readonly<Record<string, unknown>>;
  /** Its pin; `undefined` where nobody keeps pins, or where there is a problem. */
  readonly pinned: Pinned | undefined;
  /** Why the tool cannot be listed, whatever was pinned. */
  readonly problem: string | undefined;
}

/** A list as a server answered it. */
export interface ListedTools {
  /** Where the list stands in the line. */
  readonly span: Span;
  readonly tools: readonly ListedTool[];
}

/** A kind of list. */
export interface ListedKind {
  /** The member of the result that has it. */
  readonly member: string;
  /** What tells its items apart; `undefined` for what is no definition. */
  nameOf(item: Readonly<Record<string, unknown>>): string | undefined;
  /** Why an item of this name is never listed. */
  problemOf?(name: string): string | undefined;
  /** What of it is pinned, the whole unless given; `undefined`: nothing. */
  pinnedOf?(item: Readonly<Record<string, unknown>>): unknown;
}

/** An answer that clients read in different ways. */
export class AmbiguousListError extends Error {
  override readonly name = "AmbiguousListError";

  constructor(member: string) {
    super(
      `Cannot list the ${member}: the server's answer has two lists, or one that is misspelled`,
    );
  }
}

/** Bytes of definitions that are a piece: some milliseconds. */
const SLICE_BYTES: number = 128 * 1024;

const TOOLS: ListedKind = {
  member: "tools",
  nameOf: ({ name }) => (typeof name === "string" ? name : undefined),
  problemOf: (name) =>
    // A rule about requests of MCP would allow it.
    isReservedName(name) ? "the name is reserved" : nameProblem(name),
};

/** How a list is read. */
export interface Reading {
  readonly kind: ListedKind;
  /** Whether pins are wanted: they cost more than reading. */
  readonly keepsPins: boolean;
}

/** {@link readListed} of an answer to `tools/list`. */
export function readTools(line: Buffer, keepsPins: boolean): ListedTools | undefined {
  return readListed(line, { kind: TOOLS, keepsPins });
}

/** {@link readListedInTurns} of an answer to `tools/list`. */
export function readToolsInTurns(
  line: Buffer,
  keepsPins: boolean,
  turns: LoopTurns,
): Promise<ListedTools | undefined> {
  return readListedInTurns(line, { kind: TOOLS, keepsPins }, turns);
}

/**
 * Reads an answer; `undefined` where it has no such list, as an error has none.
 *
 * @throws AmbiguousListError only where pins are wanted.
 */
export function readListed(line: Buffer, reading: Reading): ListedTools | undefined {
  const found = spansOf(line, reading);
  if (found === undefined) return undefined;
  const { span, items } = found;
  return { span, tools: items.map((each) => readItem(line, each, reading)) };
}

/** The same, a slice of it in each turn of the loop: pins of thousands take a while. */
export async function readListedInTurns(
  line: Buffer,
  reading: Reading,
  turns: LoopTurns,
): Promise<ListedTools | undefined> {
  await turnOf(turns);
  const found = spansOf(line, reading);
  if (found === undefined) return undefined;
  const tools: ListedTool[] = [];
  let end = 0;
  for (const each of found.items) {
    if (each.start > end) {
      await turnOf(turns);
      end = each.start + SLICE_BYTES;
    }
    tools.push(readItem(line, each, reading));
  }
  return { span: found.span, tools };
}

/** Whether reading a line takes so long that others shall be heard meanwhile. */
export const isLongList = ({ length }: Buffer): boolean => length > SLICE_BYTES;

function spansOf(
  line: Buffer,
  { kind: { member }, keepsPins }: Reading,
): { readonly span: Span; readonly items: readonly Span[] } | undefined {
  // Whoever reads another one of two lists would see what nobody looked at.
  if (keepsPins && isAmbiguous(line, member)) throw new AmbiguousListError(member);
  const span = findValue(line, ["result", member]);
  const items = span === undefined ? undefined : elementsOf(line, span);
  return span === undefined || items === undefined ? undefined : { span, items };
}

/** The answer with some of its tools only, in their order; these keep their bytes. */
export function keepTools(
  line: Buffer,
  { span, tools }: ListedTools,
  kept: readonly ListedTool[],
): Buffer {
  // Neighbors are copied together: a list can have 100,000 of them.
  const runs: { readonly start: number; end: number }[] = [];
  let at = 0;
  for (const tool of kept) {
    const isNext = at > 0 && tools[at] === tool;
    while (tools[at] !== tool && at < tools.length) at++;
    at++;
    const last = runs.at(-1);
    if (isNext && last !== undefined) last.end = tool.span.end;
    else runs.push({ ...tool.span });
  }
  const items = runs.map((run) => textOf(line, run));
  return splice(line, [{ ...span, text: `[${items.join(",")}]` }]);
}

function readItem(line: Buffer, span: Span, { kind, keepsPins }: Reading): ListedTool {
  const item = parsed(textOf(line, span));
  const name = isRecord(item) ? kind.nameOf(item) : undefined;
  const bare = { span, name: name ?? "", item: isRecord(item) ? item : {}, pinned: undefined };
  if (name === undefined || !isRecord(item)) {
    const problem = keepsPins ? "it is not a definition with a name" : undefined;
    return { ...bare, problem };
  }
  const odd = kind.problemOf?.(name);
  if (odd !== undefined) return { ...bare, problem: odd };
  if (!keepsPins) return { ...bare, problem: undefined };
  // The last of two members counts for one reader and the first for another.
  if (countMembers(line.subarray(span.start, span.end)) !== countKeys(item))
    return { ...bare, problem: "an object in its definition holds the same key twice" };
  try {
    const value = kind.pinnedOf === undefined ? item : kind.pinnedOf(item);
    return { ...bare, pinned: value === undefined ? undefined : pinOf(value), problem: undefined };
  } catch (error) {
    if (!isConsentError(error)) throw error;
    return { ...bare, problem: `its definition cannot be pinned: ${logText(error.message)}` };
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
