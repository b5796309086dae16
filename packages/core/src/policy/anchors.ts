/**
 * Anchors: what an action must have for a rule to match it at all, as a beginning of a text at some
 * place of the action. They let a judge pass over rules that cannot match; whether a rule does
 * match, only its tests say. INVARIANT: an action that a rule matches has every anchor of it.
 *
 * A pattern's beginning without wildcards is an anchor where it is plain ASCII, for then all
 * readings of the pattern begin alike but for case (spec/policy.md §5), and so does at least one
 * reading of every text that matches. Anchors and texts are therefore compared in lower case.
 */
import { isHttpAction, isShellAction, isToolAction } from "../action/action.js";
import type { Action } from "../action/action.js";
import { isJsonList, isJsonObject } from "../json/value.js";
import type { JsonObject, JsonValue } from "../json/value.js";
import { hostEnding, hostLabels } from "./host-pattern.js";
import { literalStart, normalizePath } from "./path.js";
import type { PathOrigins } from "./path.js";
import { FOLDS, isPlain, readingsOf } from "./readings.js";

/** Where an anchor is looked for. Arguments are named in lower case, as all readings of a name. */
export type Place = "name" | "server" | "host" | "command" | `text ${string}` | `path ${string}`;

/** One text that must be the beginning of one at its place. */
export interface Anchor {
  readonly place: Place;
  /** Never empty. */
  readonly text: string;
}

/** After a text: an anchor that ends with it is the whole text. */
const END = "\uffff";
/** No anchor is longer, and of a text no more is compared. */
const ANCHOR_UNITS = 256;
/** Texts of one argument; who has more may have any. */
const TEXTS_MAX = 64;

/**
 * The anchors of a rule, from the source of its `match`, which has been read without mistakes.
 */
export function anchorsOf(match: JsonObject, origins: PathOrigins): readonly Anchor[] {
  const { tool, name, server, host, args } = match;
  return [
    ...at("name", globStart(tool)),
    ...at("name", globStart(name)),
    ...at("server", globStart(server)),
    ...at("host", typeof host === "string" ? hostStart(host) : undefined),
    ...(isJsonObject(args) ? argumentAnchors(args, origins) : at("command", globStart(args))),
  ];
}

const at = (place: Place, text: string | undefined): readonly Anchor[] =>
  text === undefined || text === "" ? [] : [{ place, text }];

function argumentAnchors(args: JsonObject, origins: PathOrigins): readonly Anchor[] {
  return Object.entries(args).flatMap(([key, pattern]) => {
    // With dots it is the name of several places.
    if (key.includes(".") || !isPlain(key)) return [];
    const name = key.toLowerCase();
    if (!isJsonObject(pattern)) return at(`text ${name}`, globStart(pattern));
    const { path, ...more } = pattern;
    return typeof path === "string" && Object.keys(more).length === 0
      ? at(`path ${name}`, pathStart(path, origins))
      : [];
  });
}

function globStart(pattern: JsonValue | undefined): string | undefined {
  if (typeof pattern === "number" || typeof pattern === "boolean")
    return `${JSON.stringify(pattern)}${END}`;
  if (typeof pattern !== "string") return undefined;
  const wild = pattern.search(/[*?]/);
  const start = wild < 0 ? pattern : pattern.slice(0, wild);
  return isPlain(start) ? cut(start.toLowerCase(), wild < 0) : undefined;
}

function hostStart(pattern: string): string | undefined {
  const ending = hostEnding(pattern);
  return ending === undefined ? undefined : cut(`${ending.labels.join(".")}.`, ending.isWhole);
}

function pathStart(pattern: string, origins: PathOrigins): string | undefined {
  const start = literalStart(pattern, origins);
  if (start === undefined || start.segments.length === 0 || !arePlain(origins)) return undefined;
  if (!start.segments.every(isPlain)) return undefined;
  return cut(slashed(start.segments), start.isWhole);
}

const cut = (text: string, isWhole: boolean): string =>
  text.length > ANCHOR_UNITS ? text.slice(0, ANCHOR_UNITS) : `${text}${isWhole ? END : ""}`;

/** Where a home has more than one reading, so has every path below it. */
const arePlain = ({ home = "", cwd = "" }: PathOrigins): boolean => isPlain(home) && isPlain(cwd);

const slashed = (segments: readonly string[]): string => `${segments.join("/").toLowerCase()}/`;

/** What an action has at a place: texts to compare, or anything. */
export type Found = readonly string[] | "anything";

const NOTHING: Found = [];

/** What an action has at the places that are not arguments. */
export function textsAt(place: Place, action: Action): Found {
  switch (place) {
    case "name":
      // A command that is more than plain words has no name, and every ask and deny reckons with it.
      return action.name === "" ? "anything" : spellings(action.name);
    case "server":
      return isToolAction(action) ? spellings(action.meta.server) : NOTHING;
    case "host":
      return isHttpAction(action) ? [`${hostLabels(action.meta.host).join(".")}.${END}`] : NOTHING;
    case "command":
      return isShellAction(action) ? spellings(action.args) : NOTHING;
    default:
      return NOTHING;
  }
}

/** The names that an argument's name may be read as, in lower case. */
export function namesOf(name: string): readonly string[] {
  return isPlain(name) ? [name.toLowerCase()] : readingsIn(name).map((each) => each.toLowerCase());
}

/** What an argument says, as texts; an argument that is missing says nothing. */
export function textsIn(value: JsonValue): Found {
  const texts: string[] = [];
  return gather(value, texts) ? texts.flatMap(spellings) : "anything";
}

/** What an argument says, as paths; anything, where one of its readings is none for certain. */
export function pathsIn(value: JsonValue, origins: PathOrigins): Found {
  const texts: string[] = [];
  if (!gather(value, texts)) return "anything";
  const paths: string[] = [];
  for (const text of texts)
    for (const reading of isPlain(text) ? [text] : readingsIn(text)) {
      const segments = normalizePath(reading, origins);
      if (segments === undefined) return "anything";
      paths.push(`${slashed(segments)}${END}`);
    }
  return paths;
}

/** Every text inside, keys of maps included, as `hints` of arguments.ts sees them; false for too many. */
function gather(value: JsonValue, into: string[]): boolean {
  if (into.length >= TEXTS_MAX) return false;
  // What is empty has no beginning.
  if (value === "" || value === null) return true;
  if (typeof value === "string") return into.push(value) > 0;
  if (typeof value !== "object") return into.push(JSON.stringify(value)) > 0;
  if (isJsonList(value)) return value.every((each) => gather(each, into));
  return Object.entries(value).every(([key, each]) => gather(key, into) && gather(each, into));
}

function spellings(text: string): readonly string[] {
  if (isPlain(text)) return [ended(text)];
  return readingsIn(text).map(ended);
}

const ended = (text: string): string =>
  text.length > ANCHOR_UNITS
    ? text.slice(0, ANCHOR_UNITS + 1).toLowerCase()
    : `${text.toLowerCase()}${END}`;

function readingsIn(text: string): readonly string[] {
  const readings = readingsOf(text);
  return [text, ...FOLDS.map((_, fold) => readings.of(fold))];
}
