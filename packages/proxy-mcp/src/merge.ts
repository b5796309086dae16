/**
 * Merging what several servers say into one answer. Pure.
 */
import { elementsOf, findValue, membersOf, splice } from "./json-walk.js";
import { isRecord } from "./message.js";

/** A server's answer to `initialize`. */
export interface InitializeAnswer {
  readonly server: string;
  readonly result: Readonly<Record<string, unknown>>;
}

/** Kinds of lists that servers keep. */
export interface ListKind {
  /** The member of the result that holds the items. */
  readonly member: "tools" | "prompts" | "resources" | "resourceTemplates" | "tasks";
  readonly capability: string;
  /** Whether items are told apart by a name that gets its server's prefix. */
  readonly prefixed: boolean;
}

/** One page of one server. */
export interface Page {
  readonly server: string;
  readonly line: Buffer;
}

/** Between a server's name and a tool's; no server name holds it. */
export const SEPARATOR = "__";
const SERVER_INFO = { name: "acp", title: "ACP consent proxy", version: "1" };
const COMMA: Buffer = Buffer.from(",");

/**
 * One answer for all servers: every capability that one of them has, the instructions of each under
 * its name.
 */
export function mergeInitialize(
  answers: readonly InitializeAnswer[],
  unavailable: readonly string[],
): object {
  const instructions = answers.flatMap(({ server, result }) =>
    typeof result.instructions === "string"
      ? [`# ${server}\n${quoteLines(result.instructions)}`]
      : [],
  );
  const text = [...instructions, ...unavailable].join("\n\n");
  return {
    protocolVersion: answers[0]?.result.protocolVersion,
    capabilities: answers.map(({ result }) => result.capabilities).reduce(union, {}),
    serverInfo: SERVER_INFO,
    ...(text === "" ? {} : { instructions: text }),
  };
}

/** Every break that some reader takes for the start of a line. */
const LINE_BREAK = /\r\n|[\n\v\f\r\u0085\u2028\u2029]/g;

/** As a quotation: no line of it can pose as a heading of ours, under which another one's would be. */
const quoteLines = (text: string): string => `> ${text.replace(LINE_BREAK, "\n> ")}`;

/**
 * The items of all pages as one list, each item's bytes as its server wrote them but for a prefix
 * of its name.
 */
export function mergePages(pages: readonly Page[], kind: ListKind): Buffer {
  const items = pages
    .flatMap(({ server, line }) => itemsOf(line, kind, server))
    .flatMap((item, index) => (index === 0 ? [item] : [COMMA, item]));
  return Buffer.concat(items);
}

/** Where to go on with each server that has more; `undefined` where none has. */
export function nextCursor(
  pages: readonly { readonly server: string; readonly result: unknown }[],
): string | undefined {
  const more = pages.flatMap(({ server, result }) =>
    isRecord(result) && typeof result.nextCursor === "string" ? [[server, result.nextCursor]] : [],
  );
  return more.length === 0
    ? undefined
    : Buffer.from(JSON.stringify(Object.fromEntries(more))).toString("base64url");
}

/** The cursors of a {@link nextCursor}; `undefined` where it is none. */
export function readCursor(cursor: string): ReadonlyMap<string, string> | undefined {
  let value: unknown;
  try {
    value = JSON.parse(Buffer.from(cursor, "base64url").toString("utf8"));
  } catch {
    return undefined;
  }
  if (!isRecord(value)) return undefined;
  const cursors = new Map<string, string>();
  for (const [server, own] of Object.entries(value)) {
    if (typeof own !== "string") return undefined;
    cursors.set(server, own);
  }
  return cursors;
}

/**
 * A name with its server's prefix, taken apart. No server name holds or ends in the separator, so
 * the first one counts.
 */
export function splitName(
  name: string,
): { readonly server: string; readonly own: string } | undefined {
  const at = name.indexOf(SEPARATOR);
  return at <= 0
    ? undefined
    : { server: name.slice(0, at), own: name.slice(at + SEPARATOR.length) };
}

function itemsOf(line: Buffer, { member, prefixed }: ListKind, server: string): readonly Buffer[] {
  const list = findValue(line, ["result", member]);
  const items = list === undefined ? undefined : elementsOf(line, list);
  return (items ?? []).map((item) => {
    const bytes = line.subarray(item.start, item.end);
    const name = prefixed
      ? membersOf(line, item)?.findLast(({ key }) => key === "name")?.value
      : undefined;
    if (name === undefined || line[name.start] !== 0x22) return bytes;
    const at = name.start - item.start + 1;
    return splice(bytes, [{ start: at, end: at, text: `${server}${SEPARATOR}` }]);
  });
}

/**
 * Objects merged member by member; of two other values the one that says more: `true`, or the
 * first.
 */
function union(one: unknown, other: unknown): unknown {
  if (!isRecord(one) || !isRecord(other))
    return one === undefined || one === false || other === true ? other : one;
  const merged = new Map<string, unknown>(Object.entries(one));
  for (const [key, value] of Object.entries(other))
    merged.set(key, merged.has(key) ? union(merged.get(key), value) : value);
  return Object.fromEntries(merged);
}
