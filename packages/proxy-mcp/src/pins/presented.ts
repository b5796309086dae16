/**
 * Presented: prompts, resources and templates of one server, held against their pins as lists of them
 * pass by. What changed is left out, and a request that names it is denied. What has no pin is passed
 * on: lists of resources are data, and change with each file. Rules: spec/tool-pins.md §3.
 */
import { DENY_CODES, parseToolDefinition, quoteText, reservedName } from "@acp/core";
import type { ToolDefinition } from "@acp/core";
import { deniedResult } from "../call-result.js";
import { noticeError } from "../judged/notice-error.js";
import { TOOLS_MAX } from "../limits.js";
import { logText } from "../log-text.js";
import type { LoopTurns } from "../loop-turns.js";
import { isRecord } from "../message.js";
import type { RpcError } from "../rpc.js";
import { nameProblem } from "./names.js";
import { isLongList, keepTools, readListed, readListedInTurns } from "./read-tools.js";
import type { ListedKind } from "./read-tools.js";
import { pinOf } from "./tool-pins.js";
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

/** As a name of a pin, which is bounded. */
const named = (text: string | undefined): string | undefined =>
  text === undefined || text.length <= CHARS_MAX ? text : pinOf(text).pin;

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

/** Members that change with the data. */
const DATA: ReadonlySet<string> = new Set(["size", "lastModified"]);
/** Members that instruct nobody. */
const BARE: ReadonlySet<string> = new Set(["uri", "name", "mimeType", "annotations", ...DATA]);

/** What of a resource lasts; nothing of one that has no text but its names, as a list of files has. */
function lasting(item: Readonly<Record<string, unknown>>): unknown {
  if (Object.keys(item).every((key) => BARE.has(key))) return undefined;
  const { annotations, ...rest } = withoutData(item);
  const said = isRecord(annotations) ? withoutData(annotations) : annotations;
  return said === undefined ? rest : { ...rest, annotations: said };
}

const withoutData = (value: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> =>
  Object.fromEntries(Object.entries(value).filter(([key]) => !DATA.has(key)));

interface Parts {
  readonly server: string;
  readonly pins: ToolPins | undefined;
  readonly log: (line: string) => void;
  readonly turns: LoopTurns;
}

interface State extends Parts {
  /** What is held back, by {@link keyOf}; no text where a person can accept nothing. */
  readonly held: Map<string, PresentedText | undefined>;
  readonly told: Set<string>;
}

const keyOf = (kind: PresentedKind, name: string): string => `${kind} ${name}`;

/** Nothing is held back yet. */
export function createPresented(parts: Parts): Presented {
  const state: State = { ...parts, held: new Map(), told: new Set() };
  return {
    take(method, line) {
      const kind = Object.hasOwn(KINDS, method) ? KINDS[method] : undefined;
      const { pins } = parts;
      return kind === undefined || pins === undefined ? line : take({ ...state, pins }, kind, line);
    },
    async find(method, params) {
      const key = keyIn(method, params);
      if (key === undefined || !state.held.has(key)) return undefined;
      const text = state.held.get(key);
      // A person may have accepted it since; what cannot be read is held back as it was.
      const now =
        text === undefined
          ? undefined
          : await parts.pins?.look(parts.server, [text]).catch(() => undefined);
      if (now?.[0] === "new" || now?.[0] === "same") {
        state.held.delete(key);
        return undefined;
      }
      return parseToolDefinition({
        server: parts.server,
        name: reservedName(method),
        pinned: "changed",
        notes: [`${HELD}; run: acp mcp review`],
      });
    },
    heldBack(method, params) {
      const key = keyIn(method, params);
      if (key === undefined || !state.held.has(key)) return undefined;
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

const HELD = "what it names is not presented as it was when it was pinned";

/** What of the lists a request names. */
function keyIn(method: string, params: unknown): string | undefined {
  if (!isRecord(params)) return undefined;
  const of = (kind: PresentedKind, value: unknown): string | undefined => {
    const name = kind === "prompt" ? textOr(value) : named(textOr(value));
    return name === undefined ? undefined : keyOf(kind, name);
  };
  const { name, uri, ref } = params;
  if (method === "prompts/get") return of("prompt", name);
  if (method === "resources/read" || method === "resources/subscribe") return of("resource", uri);
  if (method !== "completion/complete" || !isRecord(ref)) return undefined;
  return ref["type"] === "ref/prompt" ? of("prompt", ref["name"]) : of("template", ref["uri"]);
}

async function take(
  state: State & { readonly pins: ToolPins },
  kind: Kind,
  line: Buffer,
): Promise<Buffer> {
  const reading = { kind, keepsPins: true };
  const list = isLongList(line)
    ? await readListedInTurns(line, reading, state.turns)
    : readListed(line, reading);
  if (list === undefined) return line;
  const texts = list.tools.flatMap(({ name, pinned }) =>
    pinned === undefined ? [] : [{ kind: kind.kind, name, ...pinned }],
  );
  const states = texts.length === 0 ? [] : await state.pins.look(state.server, texts);
  const names = new Set<string>();
  let at = 0;
  const kept = list.tools.filter(({ name, pinned, problem }) => {
    const text = pinned === undefined ? undefined : texts[at];
    // A store that says too little holds back what it says nothing of.
    const found = pinned === undefined ? undefined : (states[at++] ?? "changed");
    // Of two with one name the first counts, and nobody sees the other one.
    if (pinned !== undefined && names.has(name)) return false;
    if (pinned !== undefined) names.add(name);
    const why = problem ?? (found === "changed" ? CHANGED : undefined);
    hold(state, { kind, name, text, why });
    return why === undefined;
  });
  return kept.length === list.tools.length ? line : keepTools(line, list, kept);
}

const CHANGED = "it is not presented as it was when it was pinned; run: acp mcp review";

interface Holding {
  readonly kind: Kind;
  readonly name: string;
  readonly text: PresentedText | undefined;
  readonly why: string | undefined;
}

function hold({ held, told, server, log }: State, { kind, name, text, why }: Holding): void {
  const key = keyOf(kind.kind, name);
  if (why === undefined) return void held.delete(key);
  if (held.size < TOOLS_MAX || held.has(key)) held.set(key, text);
  const line = `[${server}] ${kind.kind} "${logText(name)}" is left out of the list, and requests for it are denied: ${why}`;
  if (told.has(line) || told.size >= TOOLS_MAX) return;
  told.add(line);
  log(line);
}
