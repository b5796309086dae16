/**
 * Reading: words into the fields that the program gets, with the variables that the line itself has
 * set. What is not known stays in its place as {@link UNKNOWN} or {@link UNSET}.
 */
import type { Piece, Span, Word } from "../parse/tree.js";
import { fieldOf, type Field } from "./call.js";
import { expand } from "./expansion.js";
import { NOTHING, TEXT_CHARS_MAX, UNKNOWN, worse, type Feed, type Source } from "./feed.js";
import { copyOf, type Spot, type Value, type Search } from "./search.js";

/** What a word can be: usually one list of fields, several where a loop's variable is in it. */
export type Alternatives = readonly (readonly Field[])[];

/** Values of one word that are followed. */
const ALTERNATIVES_MAX = 8;
/** Pieces of a word of which all that they can be is followed; of a longer one only the first. */
const PIECES_FOLLOWED = 64;

/** A field that grows piece by piece, and those before it. */
interface Draft {
  readonly done: Field[];
  text: string;
  /** Whether it is a field though it is empty: quotes. */
  isOpen: boolean;
  lead: Source;
  worst: Source;
  isSecret: boolean;
  stream: Feed | undefined;
}

const newDraft = (): Draft => ({
  done: [],
  text: "",
  isOpen: false,
  lead: "none",
  worst: "none",
  isSecret: false,
  stream: undefined,
});

/** Every field that the words can make; what a loop's variable can be stands side by side. */
export function readFields(search: Search, spot: Spot, words: readonly Word[]): readonly Field[] {
  const fields: Field[] = [];
  for (const word of words) {
    // Most words are known text: no need to take them apart.
    if (word.text === undefined)
      for (const alternative of readWord(search, spot, word)) fields.push(...alternative);
    else fields.push(fieldOf(word.text, word.span));
  }
  return fields;
}

/** One word that stays one: a value, a target. */
export function readOne(search: Search, spot: Spot, word: Word): Field {
  const fields = readWord(search, spot, word)[0] ?? [];
  const [first] = fields;
  if (first === undefined) return fieldOf("", word.span);
  return fields.length === 1 ? first : { ...first, text: fields.map(({ text }) => text).join(" ") };
}

/** What one word can be. */
export function readWord(search: Search, spot: Spot, word: Word): Alternatives {
  if (word.text !== undefined) return [[fieldOf(word.text, word.span)]];
  const user = homeOfUser(word, spot);
  if (user !== undefined) return [[fieldOf(user, word.span)]];
  const breaks = breaksOf(spot);
  const most = word.pieces.length > PIECES_FOLLOWED ? 1 : ALTERNATIVES_MAX;
  let drafts: readonly Draft[] = [newDraft()];
  for (const piece of word.pieces) {
    const value = readPiece(search, spot, piece);
    // Once there are many, one value of each further variable has to do.
    const followed = drafts.length < most ? value : { ...value, texts: value.texts.slice(0, 1) };
    const adding = { piece, value: followed, span: word.span, breaks };
    const [only] = drafts;
    if (only !== undefined && drafts.length === 1) drafts = addPiece(only, adding);
    else drafts = drafts.flatMap((draft) => addPiece(draft, adding)).slice(0, most);
  }
  for (const draft of drafts) finish(draft, word.span);
  return drafts.map(({ done }) => done);
}

/** `~name/x`: the home of another user, and what is below it. */
function homeOfUser({ pieces, raw }: Word, { shell }: Spot): string | undefined {
  if (pieces[0]?.kind !== "other" || !raw.startsWith("~")) return undefined;
  if (raw === "~+" || raw.startsWith("~+/"))
    return (shell.site.directory ?? UNKNOWN) + raw.slice(2);
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

function readPiece(search: Search, spot: Spot, piece: Piece): Read {
  switch (piece.kind) {
    case "text":
    case "glob":
      return known(piece.text);
    case "home":
      return known(spot.shell.variables.get("HOME")?.texts[0] ?? spot.shell.site.home);
    case "variable": {
      const value = expand(piece, spot.shell, (words) => readFields(search, spot, words));
      const isAll = piece.name === "@" || piece.name === "*" || piece.operator === "[";
      return value.elements !== undefined && isAll ? { ...value, isList: true } : value;
    }
    case "script":
      return readScript(search, spot, piece);
    case "arithmetic":
      for (const script of piece.scripts)
        search.visit(search, script, { shell: copyOf(spot.shell), input: NOTHING });
      return UNKNOWN_READ;
    default:
      for (const script of piece.scripts)
        search.visit(search, script, { shell: copyOf(spot.shell), input: NOTHING });
      return UNKNOWN_READ;
  }
}

function readScript(
  search: Search,
  spot: Spot,
  { form, script }: Extract<Piece, { kind: "script" }>,
): Read {
  const input: Feed = form === "write" ? { source: "program", isPiped: true } : NOTHING;
  const feed = search.visit(search, script, { shell: copyOf(spot.shell), input });
  if (form === "read")
    return { texts: ["/dev/fd/63"], lead: "text", isSecret: feed.isSecret === true, stream: feed };
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

/**
 * The drafts with one piece more: the same draft where the piece is one text, else a copy for each
 * text.
 */
function addPiece(draft: Draft, { piece, value, span, breaks }: Adding): readonly Draft[] {
  if (value.isList === true && value.elements !== undefined) {
    for (const [index, text] of value.elements.entries()) {
      if (index > 0) finish(draft, span);
      grow(draft, text, value);
    }
    return [draft];
  }
  const isQuoted = "quoted" in piece && piece.quoted;
  const isSplit =
    !isQuoted &&
    (piece.kind === "variable" || (piece.kind === "script" && piece.form === "command"));
  const grown =
    value.texts.length === 1
      ? [draft]
      : value.texts.map(() => ({ ...draft, done: [...draft.done] }));
  for (const [index, one] of grown.entries()) {
    const text = value.texts[index] ?? "";
    one.isOpen ||= isQuoted;
    if (isSplit) growSplit(one, text, { value, span, breaks });
    else grow(one, text, value);
  }
  return grown;
}

function growSplit(
  draft: Draft,
  text: string,
  { value, span, breaks }: Omit<Adding, "piece">,
): void {
  let start = 0;
  for (let at = 0; at <= text.length; at += 1) {
    if (at < text.length && !breaks.includes(text.charAt(at))) continue;
    if (at > start) grow(draft, text.slice(start, at), value);
    if (at < text.length) finish(draft, span);
    start = at + 1;
  }
}

function grow(draft: Draft, text: string, value: Read): void {
  if ((draft.text === "" && text !== "") || draft.lead === "none") draft.lead = value.lead;
  draft.worst = worse(draft.worst, value.lead);
  draft.text = draft.text.length + text.length > TEXT_CHARS_MAX ? UNKNOWN : draft.text + text;
  draft.isSecret ||= value.isSecret;
  draft.stream = value.stream ?? draft.stream;
}

/** Ends a field; the next letters begin another one. */
function finish(draft: Draft, span: Span): void {
  if (draft.text === "" && !draft.isOpen) return;
  const { text, lead, worst, isSecret, stream } = draft;
  draft.done.push({
    text,
    raw: text,
    pieces: [],
    span,
    lead,
    worst,
    isSecret,
    ...(stream === undefined ? {} : { stream }),
  });
  draft.text = "";
  draft.isOpen = false;
  draft.lead = "none";
  draft.worst = "none";
  draft.isSecret = false;
  draft.stream = undefined;
}
