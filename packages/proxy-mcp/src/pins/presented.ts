/**
 * Presented: prompts, resources and templates of one server, held against their pins as lists of them
 * pass by. What changed is left out, and a request that names it is denied. What has no pin is passed
 * on: lists of resources are data, and change with each file. Rules: spec/tool-pins.md §3.
 */
import { createHash } from "node:crypto";
import { DENY_CODES, parseToolDefinition, quoteText, reservedName } from "@acp/core";
import type { ToolDefinition } from "@acp/core";
import { deniedResult } from "../call-result.js";
import { noticeError } from "../judged/notice-error.js";
import { LISTS_BYTES_MAX, LOOKS_MAX, TOOLS_MAX } from "../limits.js";
import { logText } from "../log-text.js";
import { turnOf } from "../loop-turns.js";
import type { LoopTurns } from "../loop-turns.js";
import { isRecord } from "../message.js";
import type { RpcError } from "../rpc.js";
import { nameProblem } from "./names.js";
import { isLongList, keepTools, readListed, readListedInTurns } from "./read-tools.js";
import type { ListedKind, ListedTool } from "./read-tools.js";
import { lasting } from "./resource-text.js";
import type { PresentedKind, PresentedText, ToolPins } from "./tool-pins.js";

/** What one server lists beside its tools. */
export interface Presented {
  /**
   * Takes the answer to a request; returns it without what must not be listed. The line itself where
   * the request is for none of these lists.
   *
   * @returns A promise only where pins are kept. It rejects where they cannot be read.
   */
  take(method: string, line: Buffer): Buffer | Promise<Buffer>;
  /** What the gate needs to know of a request: `undefined` where nothing holds it back. */
  find(method: string, params: unknown): Promise<ToolDefinition | undefined>;
  /** Why a request that was allowed must not be forwarded. */
  heldBack(method: string, params: unknown): RpcError | undefined;
}

interface Kind extends ListedKind {
  readonly kind: PresentedKind;
}

const CHARS_MAX = 256;
const textOr = (value: unknown): string | undefined =>
  typeof value === "string" ? value : undefined;

/** As a name of a pin, which is bounded; the pin of a longer text, where it can have one. */
const named = (text: string | undefined): string | undefined =>
  text === undefined || text.length <= CHARS_MAX
    ? text
    : `sha256:${createHash("sha256").update(JSON.stringify(text)).digest("hex")}`;

const KINDS: Readonly<Record<string, Kind>> = {
  "prompts/list": {
    kind: "prompt",
    member: "prompts",
    nameOf: ({ name }) => textOr(name),
    problemOf: nameProblem,
  },
  "resources/list": {
    kind: "resource",
    member: "resources",
    nameOf: ({ uri }) => named(textOr(uri)),
    pinnedOf: lasting,
  },
  "resources/templates/list": {
    kind: "template",
    member: "resourceTemplates",
    nameOf: ({ uriTemplate }) => named(textOr(uriTemplate)),
  },
};

interface Parts {
  readonly server: string;
  readonly pins: ToolPins | undefined;
  readonly log: (line: string) => void;
  readonly turns: LoopTurns;
}

interface State extends Parts {
  /** What is held back, by {@link keyOf}. */
  readonly held: Map<string, Held>;
  /** Characters of their texts. */
  heldChars: number;
  /** Kinds of which more is held back than is remembered, each with what passed since. */
  readonly full: Map<string, Set<string>>;
  readonly told: Set<string>;
}

/** Another one each time that something is held back. */
interface Held {
  /** None where a person can accept nothing, or where it is too long to be kept until then. */
  readonly text: PresentedText | undefined;
}

const keyOf = (kind: PresentedKind, name: string): string => `${kind} ${named(name) ?? ""}`;
const kindOf = (key: string): string => key.slice(0, key.indexOf(" "));

/** Nothing is held back yet. */
export function createPresented(parts: Parts): Presented {
  const state: State = {
    ...parts,
    held: new Map(),
    heldChars: 0,
    full: new Map(),
    told: new Set(),
  };
  return {
    take(method, line) {
      const kind = Object.hasOwn(KINDS, method) ? KINDS[method] : undefined;
      const { pins } = parts;
      return kind === undefined || pins === undefined ? line : take({ state, pins, kind }, line);
    },
    async find(method, params) {
      const key = keyIn(method, params);
      const why = key === undefined ? undefined : await whyHeld(state, key);
      if (why === undefined) return undefined;
      return parseToolDefinition({
        server: parts.server,
        name: reservedName(method),
        pinned: "changed",
        notes: [why],
      });
    },
    heldBack(method, params) {
      const key = keyIn(method, params);
      if (key === undefined || !isHeld(state, key)) return undefined;
      return noticeError(
        deniedResult({
          decision: "deny",
          code: "definition_changed",
          reason: `the definition of ${quoteText(key)} changed while the request was waiting`,
          ...DENY_CODES.definition_changed,
        }),
      );
    },
  };
}

const HELD = "what it names is not presented as it was when it was pinned; run: acp mcp review";
const BEYOND = `its server has more than ${TOOLS_MAX} definitions that are held back, and this may be one`;
/** New holds of one name while a person's word on the one before is read. */
const TRIES_MAX = 3;

/** What nobody remembers could be held back, where something is that nobody remembers. */
function isHeld({ held, full }: State, key: string): boolean {
  return held.has(key) || full.get(kindOf(key))?.has(key) === false;
}

/** A person may have accepted it since; what cannot be read is held back as it was. */
async function whyHeld(state: State, key: string): Promise<string | undefined> {
  const { held, pins, server } = state;
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const before = held.get(key);
    if (before === undefined) return isHeld(state, key) ? BEYOND : undefined;
    if (before.text === undefined) return HELD;
    const [now] = (await pins?.look(server, [before.text]).catch(() => undefined)) ?? [];
    if (now !== "new" && now !== "same") return HELD;
    // Its server may have presented another one meanwhile, which nobody has accepted.
    if (held.get(key) !== before) continue;
    release(state, key);
    return undefined;
  }
  return HELD;
}

/** What of the lists a request names. */
function keyIn(method: string, params: unknown): string | undefined {
  if (!isRecord(params)) return undefined;
  const of = (kind: PresentedKind, value: unknown): string | undefined => {
    const name = textOr(value);
    return name === undefined ? undefined : keyOf(kind, name);
  };
  const { name, uri, ref } = params;
  if (method === "prompts/get") return of("prompt", name);
  if (method === "resources/read" || method === "resources/subscribe") return of("resource", uri);
  if (method !== "completion/complete" || !isRecord(ref)) return undefined;
  return ref["type"] === "ref/prompt" ? of("prompt", ref["name"]) : of("template", ref["uri"]);
}

interface Taking {
  readonly state: State;
  readonly pins: ToolPins;
  readonly kind: Kind;
}

async function take(taking: Taking, line: Buffer): Promise<Buffer> {
  const { kind, state } = taking;
  const reading = { kind, keepsPins: true };
  const list = isLongList(line)
    ? await readListedInTurns(line, reading, state.turns)
    : readListed(line, reading);
  if (list === undefined) return line;
  const kept: ListedTool[] = [];
  const names = new Set<string>();
  for (let from = 0; from < list.tools.length; from += LOOKS_MAX) {
    if (from > 0) await turnOf(state.turns);
    kept.push(...(await keep(taking, list.tools.slice(from, from + LOOKS_MAX), names)));
  }
  return kept.length === list.tools.length ? line : keepTools(line, list, kept);
}

/** Those of a slice that may be listed. */
async function keep(
  { state, pins, kind }: Taking,
  tools: readonly ListedTool[],
  names: Set<string>,
): Promise<readonly ListedTool[]> {
  const texts = tools.flatMap(({ name, pinned }) =>
    pinned === undefined ? [] : [{ kind: kind.kind, name, ...pinned }],
  );
  const states = texts.length === 0 ? [] : await pins.look(state.server, texts);
  let at = 0;
  return tools.filter(({ name, pinned, problem }) => {
    const text = pinned === undefined ? undefined : texts[at];
    // A store that says too little holds back what it says nothing of.
    const found = pinned === undefined ? undefined : (states[at++] ?? "changed");
    // Of two with one name the first counts, and nobody sees the other one.
    if (pinned !== undefined && names.has(name)) return false;
    if (pinned !== undefined) names.add(name);
    const why = problem ?? (found === "changed" ? CHANGED : undefined);
    if (why === undefined) release(state, keyOf(kind.kind, name));
    else hold(state, { kind, name, text, why });
    return why === undefined;
  });
}

const CHANGED = "it is not presented as it was when it was pinned; run: acp mcp review";

interface Holding {
  readonly kind: Kind;
  readonly name: string;
  readonly text: PresentedText | undefined;
  readonly why: string;
}

function hold(state: State, { kind: { kind }, name, text, why }: Holding): void {
  const { held, full, told, server, log } = state;
  const key = keyOf(kind, name);
  forget(state, key);
  if (held.size < TOOLS_MAX) {
    const chars = state.heldChars + (text?.text.length ?? 0);
    const keepsText = chars <= LISTS_BYTES_MAX;
    if (keepsText) state.heldChars = chars;
    held.set(key, { text: keepsText ? text : undefined });
  } else if (!full.has(kind)) {
    full.set(kind, new Set());
    log(`[${server}] requests for any ${kind} that no list names as it was are denied: ${BEYOND}`);
  }
  if (told.size >= TOOLS_MAX) return;
  const line = `[${server}] ${kind} "${logText(name)}" is left out of the list, and requests for it are denied: ${why}`;
  if (told.has(line)) return;
  told.add(line);
  log(line);
}

/** Nothing holds it back now. */
function release(state: State, key: string): void {
  forget(state, key);
  const passed = state.full.get(kindOf(key));
  if (passed !== undefined && passed.size < TOOLS_MAX) passed.add(key);
}

function forget(state: State, key: string): void {
  state.heldChars -= state.held.get(key)?.text?.text.length ?? 0;
  state.held.delete(key);
  state.full.get(kindOf(key))?.delete(key);
}
