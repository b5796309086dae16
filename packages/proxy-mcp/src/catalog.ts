/**
 * Catalog: the definitions of one server's tools, learnt from `tools/list` results as they pass by.
 * Where a call comes before any list, the proxy asks once itself. What it does not know it does not
 * present. Where pins are kept, a tool that changed is left out of what passes by, and a call of it
 * is denied, as is one whose definition the server does not give: spec/tool-pins.md.
 */
import {
  isConsentError,
  parseToolDefinition,
  systemClock,
  type ConsentGate,
  type ToolDefinition,
} from "@acp/core";
import { TOOL_NOTE_CHARS_MAX, TOOL_NOTES_MAX } from "@acp/core/unstable";
import { createHiddenTools } from "./hidden-tools.js";
import type { HiddenTools, HideDenied } from "./hidden-tools.js";
import { LISTS_BYTES_MAX, LIST_AGAIN_MS, LIST_PAGES_MAX, LOOKS_MAX, TOOLS_MAX } from "./limits.js";
import { turnOf } from "./loop-turns.js";
import type { LoopTurns } from "./loop-turns.js";
import { logText } from "./log-text.js";
import { isRecord, resultOf } from "./message.js";
import { warningsIn } from "./pins/annotations.js";
import { findingsOf } from "./pins/findings.js";
import type { HeldBack } from "./pins/held-back.js";
import { isLongList, keepTools, readTools, readToolsInTurns } from "./pins/read-tools.js";
import type { ListedTool, ListedTools } from "./pins/read-tools.js";
import type { PinState, ToolPins } from "./pins/tool-pins.js";

/** Asks the server for one page of its tools: its answer's line, or `undefined` where none comes in time. */
export type ListPage = (cursor: string | undefined) => Promise<Buffer | undefined>;

/** Tools by their names. */
type Mark = Map<string, Entry>;

/** The tools of one server. */
export interface Catalog {
  /**
   * Takes the line of an answer to `tools/list`; returns the line with those of its tools that may
   * be listed.
   *
   * @param mark - From before the list was asked for; left out: it was taken as it came.
   * @returns A promise only where the line is long, or pins are kept. It rejects where they cannot be
   *   read.
   */
  take(line: Buffer, mark?: Mark): Buffer | Promise<Buffer>;
  /** What is known now: a list that was asked for before the server changed its tools is old. */
  mark(): Mark;
  /** Its answer to `initialize` as its client gets it: with what may become of its list. */
  declare(line: Buffer): Buffer;
  /** Its client is gone. */
  close(): void;
  /** The server says that its tools changed. */
  forget(): void;
  /**
   * A tool as the server presents it; `undefined` where nothing is known of it.
   *
   * @param list - How to ask the server; left out while it must not be asked (before the handshake
   *   is over).
   */
  find(tool: string, list: ListPage | undefined): Promise<ToolDefinition | undefined>;
  /**
   * Asks again where the server said that its tools changed after a call was judged.
   *
   * @returns `undefined` where there is nothing to wait for.
   */
  renew(tool: string, list: ListPage | undefined): Promise<unknown> | undefined;
  /** Why a call that was allowed must not be forwarded: its tool may have changed meanwhile. */
  heldBack(tool: string): HeldBack | undefined;
}

/** How a tool is presented now. */
interface Entry {
  readonly tool: ListedTool;
  /** `undefined` where nobody keeps pins. */
  readonly state: PinState | undefined;
  /** Why it is held back, where something else than its pin does. */
  readonly problem: string | undefined;
  /** Made once, so that what is compiled from its schema is, too. */
  definition: ToolDefinition | undefined;
}

/**
 * The definition with what of it is usable; a schema that is not is as good as none, and said once.
 */
function definitionOf(
  { server, log, trustedAnnotations }: Pick<CatalogState, "server" | "log" | "trustedAnnotations">,
  { tool, state, problem }: Entry,
): ToolDefinition {
  const { name } = tool;
  const { inputSchema } = tool.item;
  const annotations =
    trustedAnnotations?.has(server) === true
      ? tool.item.annotations
      : warningsIn(tool.item.annotations);
  const held = { server, name, pinned: "changed" } as const;
  if (problem !== undefined) return parseToolDefinition({ ...held, notes: [noteOf(problem)] });
  if (state === "changed") return parseToolDefinition(held);
  const notes = findingsOf(tool.item).map(({ text }) => noteOf(`of the tool: ${text}`));
  const base = {
    server,
    name,
    ...(state === undefined ? {} : { pinned: state }),
    ...(notes.length === 0 ? {} : { notes: notes.slice(0, TOOL_NOTES_MAX) }),
  };
  const parts = {
    ...(isRecord(annotations) ? { annotations } : {}),
    ...(isRecord(inputSchema) ? { inputSchema } : {}),
  };
  try {
    return parseToolDefinition({ ...base, ...parts });
  } catch (error) {
    if (!isConsentError(error)) throw error;
    log(
      `[${server}] arguments of tool "${logText(name)}" are not checked against its schema: ${logText(error.message)}`,
    );
    return parseToolDefinition(base);
  }
}

const noteOf = (text: string): string => text.slice(0, TOOL_NOTE_CHARS_MAX);

/** What a catalog needs of its proxy. */
export interface CatalogParts {
  readonly log: (line: string) => void;
  readonly turns: LoopTurns;
  /** Left out: nothing is pinned. */
  readonly pins?: ToolPins | undefined;
  /** Servers whose annotations count. */
  readonly trustedAnnotations?: ReadonlySet<string> | undefined;
  /** Of which servers tools are left out of lists, where this gate denies them in any case. */
  readonly hideDenied?: HideDenied | undefined;
  readonly gate?: ConsentGate;
  /** To the client. */
  readonly send?: (line: Buffer) => void;
}

interface CatalogState extends CatalogParts {
  readonly hidden: HiddenTools | undefined;
  readonly server: string;
  /** Names that the log has told of, each once a reason. */
  readonly told: Set<string>;
  entries: Mark;
  /** The proxy's own list; set once there is no need of one, too. */
  listing: Promise<Listing> | undefined;
  /** More tools than are remembered: what is not known may be one of them. */
  isFull: boolean;
}

/** Changes of a server while its list is asked for, after which its call hears what is known. */
const TRIES_MAX = 3;
const CHANGED = "it is not presented as it was when it was pinned; run: acp mcp review";

/** What became of the proxy's own list. */
interface Listing {
  /** Why some tool may be missing in it. */
  readonly why?: string;
  /** Whether another try may end in another way. */
  readonly isFailed?: boolean;
  readonly atMs: number;
}

/** An empty catalog. */
export function createCatalog(server: string, parts: CatalogParts): Catalog {
  const { gate, send, hideDenied } = parts;
  const state: CatalogState = {
    ...parts,
    server,
    hidden:
      gate === undefined || send === undefined
        ? undefined
        : createHiddenTools(server, { gate, hideDenied }, send),
    told: new Set(),
    entries: new Map(),
    listing: undefined,
    isFull: false,
  };
  const { pins } = parts;
  const find: Catalog["find"] = async (tool, list) => {
    let listing: Listing | undefined;
    if (!state.entries.has(tool) && list !== undefined) {
      listing = await listed(state, list);
      // All calls that waited for it would go on in one turn of the loop.
      await turnOf(parts.turns);
    }
    const entry = state.entries.get(tool);
    if (entry?.state === "changed") return await lookAgain(state, entry);
    if (entry !== undefined) return (entry.definition ??= definitionOf(state, entry));
    if (state.isFull) return beyond(server, tool);
    return pins === undefined ? undefined : unknown(server, tool, listing);
  };
  return {
    find,
    mark: () => state.entries,
    take(line, entries = state.entries) {
      if (pins !== undefined) return takePinned(state, line, entries);
      const taken = take(state, line, entries);
      state.listing ??= Promise.resolve(taken).then(() => ({ atMs: nowMs() }));
      return taken;
    },
    declare: (line) => state.hidden?.declare(line) ?? line,
    close: () => state.hidden?.close(),
    forget(): void {
      state.entries = new Map();
      state.listing = undefined;
    },
    renew: (tool, list) =>
      pins === undefined || state.entries.has(tool) ? undefined : find(tool, list),
    heldBack(tool) {
      const entry = state.entries.get(tool);
      if (entry !== undefined) return isHeld(entry) ? "definition_changed" : undefined;
      return pins === undefined ? undefined : "definition_unknown";
    },
  };
}

const nowMs = (): number => systemClock.monotonic();

/** The proxy's own list, which all who need one share. */
async function listed(state: CatalogState, list: ListPage): Promise<Listing> {
  const known = state.listing;
  const isOld = known !== undefined && nowMs() - (await known).atMs > LIST_AGAIN_MS;
  if (isOld && state.pins !== undefined && state.listing === known) state.listing = undefined;
  let listing: Listing;
  // Where the server says meanwhile that its tools changed, what it said before that does not count.
  for (let tries = 0; ; tries++) {
    const asking = (state.listing ??= ask(state, list));
    listing = await asking;
    if (state.pins === undefined || tries === TRIES_MAX) return listing;
    if (state.listing === asking) break;
  }
  if (listing.isFailed === true) state.listing = undefined;
  return listing;
}

async function ask(state: CatalogState, list: ListPage): Promise<Listing> {
  let cursor: string | undefined;
  let bytes = 0;
  for (let page = 0; page < LIST_PAGES_MAX; page++) {
    const { entries } = state;
    const line = await list(cursor);
    if (line === undefined) return failed('it did not answer "tools/list" in time');
    bytes += line.length;
    if (bytes > LISTS_BYTES_MAX) return tooLong(`${LISTS_BYTES_MAX} bytes`);
    const result = resultOf(line);
    if (!isRecord(result)) return failed('it answered "tools/list" with an error');
    try {
      await takePinned(state, line, entries);
    } catch (error) {
      // What cannot be compared is held back, and every call of it hears why.
      return failed(error instanceof Error ? error.message : "its list could not be read");
    }
    if (typeof result.nextCursor !== "string") return { atMs: nowMs() };
    cursor = result.nextCursor;
  }
  return tooLong(`${LIST_PAGES_MAX} pages`);
}

const tooLong = (max: string): Listing => ({ why: `its list has more than ${max}`, atMs: nowMs() });

const failed = (why: string): Listing => ({ why, isFailed: true, atMs: nowMs() });

/** A tool that nobody can tell the definition of: it may be another one each time. */
function unknown(server: string, name: string, listing: Listing | undefined): ToolDefinition {
  const why =
    listing === undefined ? "its server was not asked" : (listing.why ?? "it does not list it");
  const note = noteOf(`server "${server}" did not present the tool: ${why}`);
  return parseToolDefinition({ server, name, pinned: "unknown", notes: [note] });
}

/** What is thrown while it is read is a rejection, too. */
const takePinned = async (state: CatalogState, line: Buffer, entries: Mark): Promise<Buffer> =>
  take(state, line, entries);

const isHeld = ({ state, problem }: Entry): boolean => problem !== undefined || state === "changed";

/** A tool that nobody remembers the definition of could be any. */
function beyond(server: string, name: string): ToolDefinition {
  const problem = `server "${server}" has more than ${TOOLS_MAX} tools`;
  return parseToolDefinition({ server, name, pinned: "changed", notes: [noteOf(problem)] });
}

/** A person may have accepted it since, and what could not be read may be readable again. */
async function lookAgain(state: CatalogState, entry: Entry): Promise<ToolDefinition> {
  const { entries } = state;
  const { tool } = entry;
  const [now] = await statesOf(state, [tool]).catch((error: unknown) => [heldBy(error)]);
  const next = makeEntry(tool, now);
  if (entries.get(tool.name) === entry) entries.set(tool.name, next);
  return (next.definition = definitionOf(state, next));
}

/** What is known of a definition: its state, or why there is none. */
type Looked = PinState | { readonly problem: string } | undefined;

function makeEntry(tool: ListedTool, looked: Looked): Entry {
  if (typeof looked === "object")
    return { tool, state: "changed", problem: looked.problem, definition: undefined };
  return { tool, state: looked, problem: tool.problem, definition: undefined };
}

const heldBy = (error: unknown): { readonly problem: string } => ({
  problem: error instanceof Error ? error.message : "its pin could not be read",
});

/** States of tools that may be listed. */
async function statesOf(
  { pins, server, turns }: CatalogState,
  tools: readonly ListedTool[],
): Promise<readonly Looked[]> {
  const texts = tools.flatMap(({ name, pinned }) =>
    pinned === undefined ? [] : [{ kind: "tool", name, ...pinned } as const],
  );
  if (pins === undefined || texts.length === 0) return tools.map(() => undefined);
  const states: PinState[] = [];
  for (let from = 0; from < texts.length; from += LOOKS_MAX) {
    if (from > 0) await turnOf(turns);
    states.push(...(await pins.look(server, texts.slice(from, from + LOOKS_MAX))));
  }
  let at = 0;
  // A store that says too little holds back what it says nothing of.
  return tools.map(({ pinned }) =>
    pinned === undefined ? undefined : (states[at++] ?? "changed"),
  );
}

/** @param entries - Of when the list was asked for: what the server changed since does not count. */
function take(state: CatalogState, line: Buffer, entries: Mark): Buffer | Promise<Buffer> {
  const keepsPins = state.pins !== undefined;
  const shown = (list: ListedTools | undefined): Buffer | Promise<Buffer> =>
    list === undefined ? line : keep(state, line, { list, entries });
  return isLongList(line)
    ? readToolsInTurns(line, keepsPins, state.turns).then(shown)
    : shown(readTools(line, keepsPins));
}

interface Keeping {
  readonly list: ListedTools;
  readonly entries: Mark;
}

function keep(
  state: CatalogState,
  line: Buffer,
  { list, entries }: Keeping,
): Buffer | Promise<Buffer> {
  const room = roomFor(state, entries, list.tools);
  const put = (states: readonly Looked[]): Buffer => {
    const names = new Set<string>();
    const kept = list.tools.filter((tool, at) => {
      if (!room.has(tool)) return state.pins === undefined;
      // Of two with one name the first counts, and nobody sees the other one.
      if (state.pins !== undefined && names.has(tool.name)) return false;
      names.add(tool.name);
      const entry = makeEntry(tool, states[at]);
      entries.set(tool.name, entry);
      if (isHeld(entry)) tell(state, entry);
      return !isHeld(entry) && state.hidden?.hides(tool.name) !== true;
    });
    return kept.length === list.tools.length ? line : keepTools(line, list, kept);
  };
  if (state.pins === undefined) return put([]);
  return statesOf(state, list.tools).then(put, (error: unknown) => {
    put(list.tools.map(() => heldBy(error)));
    throw error;
  });
}

/** The tools that are remembered, or that nothing needs to be remembered of. */
function roomFor(
  state: CatalogState,
  entries: Mark,
  tools: readonly ListedTool[],
): ReadonlySet<ListedTool> {
  const { server, log } = state;
  const names = new Set(entries.keys());
  const room = new Set<ListedTool>();
  for (const tool of tools) {
    if (tool.name === "" && tool.problem === undefined) continue;
    if (names.size >= TOOLS_MAX && !names.has(tool.name)) continue;
    names.add(tool.name);
    room.add(tool);
  }
  if (names.size >= TOOLS_MAX && room.size < tools.length && !state.isFull) {
    state.isFull = state.pins !== undefined;
    log(
      `[${server}] has more than ${TOOLS_MAX} tools; ${state.isFull ? "the rest is left out" : "the arguments of the rest are not checked"}`,
    );
  }
  return room;
}

function tell({ server, log, told }: CatalogState, { tool, problem = CHANGED }: Entry): void {
  const text = `[${server}] tool "${logText(tool.name)}" is left out of the list, and calls of it are denied: ${problem}`;
  if (told.has(text) || told.size >= TOOLS_MAX) return;
  told.add(text);
  log(text);
}
