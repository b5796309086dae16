/**
 * Reading: words into the fields that the program gets, with the variables that the line itself has set. What is not known stays in its
 * place as {@link UNKNOWN} or {@link UNSET}.
 */
import type { Piece, Span, Word } from "../tree.js";
import { fieldOf, type Field } from "./call.js";
import { expand } from "./expansion.js";
import { NOTHING, TEXT_CHARS_MAX, UNKNOWN, worse, type Feed, type Source } from "./feed.js";
import { copyOf, type Spot, type Value, type Walk } from "./state.js";

/** What a word can be: usually one list of fields, several where a loop's variable is in it. */
export type Alternatives = readonly (readonly Field[])[];

/** Values of one word that are followed. */
const ALTERNATIVES_MAX = 8;
/** Pieces of a word of which all that they can be is followed; of a longer one only the first. */
const PIECES_FOLLOWED = 64;

/** A field that grows piece by piece. */
interface Draft {
  readonly done: readonly Field[];
  readonly text: string;
  /** Whether it is a field though it is empty: quotes. */
  readonly isOpen: boolean;
  readonly lead: Source;
  readonly worst: Source;
  readonly isSecret: boolean;
  readonly stream?: Feed;
}

const EMPTY: Draft = { done: [], text: "", isOpen: false, lead: "none", worst: "none", isSecret: false };

/** Every field that the words can make; what a loop's variable can be stands side by side. */
export function readFields(walk: Walk, spot: Spot, words: readonly Word[]): readonly Field[] {
  return words.flatMap((word) => readWord(walk, spot, word).flat());
}

/** One word that stays one: a value, a target. */
export function readOne(walk: Walk, spot: Spot, word: Word): Field {
  const fields = readWord(walk, spot, word)[0] ?? [];
  const [first] = fields;
  if (first === undefined) return fieldOf("", word.span);
  return fields.length === 1 ? first : { ...first, text: fields.map(({ text }) => text).join(" ") };
}

/** What one word can be. */
export function readWord(walk: Walk, spot: Spot, word: Word): Alternatives {
  if (word.text !== undefined) return [[fieldOf(word.text, word.span)]];
  const user = homeOfUser(word, spot);
  if (user !== undefined) return [[fieldOf(user, word.span)]];
  const breaks = breaksOf(spot);
  const most = word.pieces.length > PIECES_FOLLOWED ? 1 : ALTERNATIVES_MAX;
  let drafts: readonly Draft[] = [EMPTY];
  for (const piece of word.pieces) {
    const value = readPiece(walk, spot, piece);
    // Once there are many, one value of each further variable has to do.
    const followed = drafts.length < most ? value : { ...value, texts: value.texts.slice(0, 1) };
    drafts = drafts.flatMap((draft) => addPiece(draft, { piece, value: followed, span: word.span, breaks })).slice(0, most);
  }
  return drafts.map((draft) => finish(draft, word.span).done);
}

/** `~name/x`: the home of another user, and what is below it. */
function homeOfUser({ pieces, raw }: Word, { shell }: Spot): string | undefined {
  if (pieces[0]?.kind !== "other" || !raw.startsWith("~")) return undefined;
  if (raw === "~+" || raw.startsWith("~+/")) return (shell.site.directory ?? UNKNOWN) + raw.slice(2);
  const [, name, below = ""] = /^~([A-Za-z_][\w-]*)(\/[\w./*-]*)?$/.exec(raw) ?? [];
  if (name === undefined) return undefined;
  return `${name === "root" ? "/root" : `/home/${name}`}${below}`;
}

/** Letters at which an unquoted expansion falls apart. */
function breaksOf({ shell }: Spot): string {
  return ` \t\n${shell.variables.get("IFS")?.texts[0] ?? ""}`;
}

/** What stands in a piece's place, and the pipe behind it. */
interface Read extends Value {
  readonly stream?: Feed;
  /** Whether the elements are fields of their own. */
  readonly isList?: boolean;
}

const known = (text: string): Read => ({ texts: [text], lead: "text", isSecret: false });
const UNKNOWN_READ: Read = { texts: [UNKNOWN], lead: "program", isSecret: false };

function readPiece(walk: Walk, spot: Spot, piece: Piece): Read {
  switch (piece.kind) {
    case "text":
    case "glob":
      return known(piece.text);
    case "home":
      return known(spot.shell.variables.get("HOME")?.texts[0] ?? spot.shell.site.home);
    case "variable": {
      const value = expand(piece, spot.shell, (words) => readFields(walk, spot, words));
      const isAll = piece.name === "@" || piece.name === "*" || piece.operator === "[";
      return value.elements !== undefined && isAll ? { ...value, isList: true } : value;
    }
    case "script":
      return readScript(walk, spot, piece);
    case "arithmetic":
      for (const script of piece.scripts) walk.visit(walk, script, { shell: copyOf(spot.shell), input: NOTHING });
      return UNKNOWN_READ;
    default:
      for (const script of piece.scripts) walk.visit(walk, script, { shell: copyOf(spot.shell), input: NOTHING });
      return UNKNOWN_READ;
  }
}

function readScript(walk: Walk, spot: Spot, { form, script }: Extract<Piece, { kind: "script" }>): Read {
  const input: Feed = form === "write" ? { source: "program", isPiped: true } : NOTHING;
  const feed = walk.visit(walk, script, { shell: copyOf(spot.shell), input });
  if (form === "read") return { texts: ["/dev/fd/63"], lead: "text", isSecret: feed.isSecret === true, stream: feed };
  if (form === "write") return known("/dev/fd/63");
  return {
    texts: [feed.text === undefined ? UNKNOWN : feed.text.replace(/\n+$/, "")],
    lead: feed.source,
    isSecret: feed.isSecret === true,
  };
}

interface Adding {
  readonly piece: Piece;
  readonly value: Read;
  readonly span: Span;
  readonly breaks: string;
}

function addPiece(draft: Draft, adding: Adding): readonly Draft[] {
  const { piece, value } = adding;
  if (value.isList === true && value.elements !== undefined) {
    return [
      value.elements.reduce(
        (grown, text, index) => addText(index === 0 ? grown : finish(grown, adding.span), { ...adding, text, isSplit: false }),
        draft,
      ),
    ];
  }
  const isSplit = (piece.kind === "variable" || (piece.kind === "script" && piece.form === "command")) && !piece.quoted;
  return value.texts.map((text) => addText(draft, { ...adding, text, isSplit }));
}

function addText(
  draft: Draft,
  { text, isSplit, value, span, piece, breaks }: Adding & { readonly text: string; readonly isSplit: boolean },
): Draft {
  const isQuoted = "quoted" in piece && piece.quoted;
  if (!isSplit || !hasAny(text, breaks)) return grow(draft, { text, value, isOpen: isQuoted });
  let grown = draft;
  let start = 0;
  for (let at = 0; at <= text.length; at += 1) {
    if (at < text.length && !breaks.includes(text.charAt(at))) continue;
    if (at > start) grown = grow(grown, { text: text.slice(start, at), value, isOpen: false });
    if (at < text.length) grown = finish(grown, span);
    start = at + 1;
  }
  return grown;
}

function hasAny(text: string, letters: string): boolean {
  for (let at = 0; at < text.length; at += 1) if (letters.includes(text.charAt(at))) return true;
  return false;
}

function grow(draft: Draft, { text, value, isOpen }: { readonly text: string; readonly value: Read; readonly isOpen: boolean }): Draft {
  const isFirst = draft.text === "" && text !== "";
  const stream = value.stream ?? draft.stream;
  return {
    done: draft.done,
    text: draft.text.length + text.length > TEXT_CHARS_MAX ? UNKNOWN : draft.text + text,
    isOpen: draft.isOpen || isOpen,
    lead: isFirst ? value.lead : draft.lead === "none" ? worse("none", value.lead) : draft.lead,
    worst: worse(draft.worst, value.lead),
    isSecret: draft.isSecret || value.isSecret,
    ...(stream === undefined ? {} : { stream }),
  };
}

function finish(draft: Draft, span: Span): Draft {
  if (draft.text === "" && !draft.isOpen) return draft;
  const { text, lead, worst, isSecret, stream } = draft;
  const field: Field = { text, raw: text, pieces: [], span, lead, worst, isSecret, ...(stream === undefined ? {} : { stream }) };
  return { ...EMPTY, done: [...draft.done, field] };
}
