/**
 * The arguments of an action as rows: JSON in the order in which they are performed, with what a
 * text says beside it. Rows that start with `=` are readings; without them, and with counted runs
 * written out, the rows are the JSON of the arguments. Format: spec/question-text.md §3, §4.
 */
import type { JsonObject, JsonValue } from "../json/value.js";
import { isJsonList, isJsonObject } from "../json/value.js";
import { describeLong } from "./decode/encoded.js";
import { readText } from "./decode/decoders.js";
import { READ_CHARS_MAX, type Reading } from "./decode/reading.js";
import { flagHost, namedHosts } from "./decode/url.js";
import { showMany, showText, wrapLine } from "./show.js";

/** Texts in texts that are looked into: base64 in a query in a URL. */
const NESTING_MAX = 3;
/**
 * Characters of all readings of one question; what is beyond it stands there raw only, and the
 * question says so.
 */
const READINGS_CHARS_MAX: number = 64 * 1024;
/** Hosts beyond ASCII that are looked at. */
const HOSTS_MAX = 1_000;
/**
 * Of those that are not what they look like, as many are named above the arguments; each stands
 * below its text.
 */
const HOSTS_ABOVE_MAX = 5;
/** Indentation grows up to this depth; the brackets go on. */
const INDENT_DEPTH_MAX = 16;

/** The arguments as rows, and what stands out of them. */
export interface ArgumentText {
  readonly rows: readonly string[];
  /** Facts that belong above the rows. */
  readonly notes: readonly string[];
  /** The longest text in the arguments. */
  readonly longest: { readonly key: string; readonly length: number };
}

interface Page {
  readonly rows: string[];
  /** What is to be said of each host, by its spelling. */
  readonly hosts: Map<string, string | undefined>;
  hasMoreHosts: boolean;
  longest: { readonly key: string; readonly length: number };
  readingsChars: number;
  /** Texts that no reading was made of. */
  unread: number;
}

/** Where a value stands. */
interface RowPlace {
  readonly prefix: string;
  readonly depth: number;
  readonly key: string;
  /** What its row begins with: a key, or nothing in a list. */
  readonly label: string;
  readonly comma: string;
  /** How many texts it is inside of. */
  readonly nesting: number;
}

/** Lays out the arguments. */
export function layOutArguments(parameters: JsonObject): ArgumentText {
  const page: Page = {
    rows: [],
    hosts: new Map(),
    hasMoreHosts: false,
    longest: { key: "", length: 0 },
    readingsChars: 0,
    unread: 0,
  };
  layOut(page, parameters, { prefix: "  ", depth: 0, key: "", label: "", comma: "", nesting: 0 });
  return { rows: page.rows, notes: notesOf(page), longest: page.longest };
}

function notesOf({ hosts, hasMoreHosts, unread }: Page): readonly string[] {
  const flags = [...new Set([...hosts.values()].filter((flag) => flag !== undefined))];
  const more = flags.length - HOSTS_ABOVE_MAX;
  return [
    ...flags.slice(0, HOSTS_ABOVE_MAX),
    ...(more > 0
      ? [`not what they look like either: ${showMany(more, "further host")} below`]
      : []),
    ...(!hasMoreHosts
      ? []
      : [`only the first ${showMany(HOSTS_MAX, "host")} that are not ASCII were looked at`]),
    ...(unread === 0
      ? []
      : [
          `${showMany(unread, "text")} below stand there raw only: the room for decodings is used up`,
        ]),
  ];
}

function addRow(page: Page, { prefix, depth }: RowPlace, row: string): void {
  page.rows.push(...wrapLine(prefix + "  ".repeat(Math.min(depth, INDENT_DEPTH_MAX)) + row));
}

function layOut(page: Page, value: JsonValue, place: RowPlace): void {
  if (typeof value === "string") layOutText(page, value, place);
  else if (isJsonObject(value))
    layOutMembers(page, { members: Object.entries(value), open: "{", close: "}" }, place);
  else if (isJsonList(value))
    layOutMembers(
      page,
      { members: value.map((item) => [undefined, item]), open: "[", close: "]" },
      place,
    );
  else addRow(page, place, `${place.label}${JSON.stringify(value)}${place.comma}`);
}

interface Container {
  /** In a list without a key. */
  readonly members: readonly (readonly [key: string | undefined, value: JsonValue])[];
  readonly open: string;
  readonly close: string;
}

function layOutMembers(page: Page, { members, open, close }: Container, place: RowPlace): void {
  const { label, comma, depth } = place;
  if (members.length === 0) return addRow(page, place, `${label}${open}${close}${comma}`);
  addRow(page, place, `${label}${open}`);
  members.forEach(([key, value], index) => {
    layOut(page, value, {
      ...place,
      depth: depth + 1,
      key: key ?? `${place.key}[]`,
      label: key === undefined ? "" : `${showText(key)}: `,
      comma: index === members.length - 1 ? "" : ",",
    });
  });
  addRow(page, place, `${close}${comma}`);
}

function layOutText(page: Page, text: string, place: RowPlace): void {
  addRow(page, place, `${place.label}${showText(text)}${place.comma}`);
  if (place.nesting === 0 && text.length > page.longest.length)
    page.longest = { key: place.key, length: text.length };
  lookInto(page, text, {
    ...place,
    prefix: `${place.prefix}${"  ".repeat(Math.min(place.depth, INDENT_DEPTH_MAX))}  = `,
    depth: 0,
  });
}

/** Adds the readings of a text below its row, and notes the hosts that it names. */
function lookInto(page: Page, text: string, place: RowPlace): void {
  for (const raw of namedHosts(text)) {
    if (!page.hosts.has(raw) && page.hosts.size === HOSTS_MAX) page.hasMoreHosts = true;
    else if (!page.hosts.has(raw)) page.hosts.set(raw, flagHost(raw));
    const flag = page.hosts.get(raw);
    if (flag !== undefined) addRow(page, place, flag);
  }
  if (place.nesting > NESTING_MAX || text === "") return;
  if (page.readingsChars >= READINGS_CHARS_MAX) {
    page.unread++;
    return;
  }
  const before = page.rows.length;
  if (text.length > READ_CHARS_MAX) addRow(page, place, describeLong(text));
  else for (const reading of readText(text, place.key)) addReading(page, reading, place);
  if (place.nesting === 0)
    for (const row of page.rows.slice(before)) page.readingsChars += row.length;
}

function addReading(page: Page, { line, value, texts = [] }: Reading, place: RowPlace): void {
  addRow(page, place, line);
  const inside: RowPlace = {
    ...place,
    prefix: `${place.prefix}  `,
    key: "",
    label: "",
    comma: "",
    nesting: place.nesting + 1,
  };
  if (value !== undefined) layOut(page, value, inside);
  for (const text of texts) lookInto(page, text, inside);
}
