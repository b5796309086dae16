/**
 * Braces: `a{b,c}` into `ab` and `ac`, before anything else is expanded, as the shell does.
 * `undefined` where bash might see it in another way.
 */
import type { BraceExpansionPart, WordPart } from "unbash";
import { BRACE_WORDS_MAX } from "../config/limits.js";

/** One character outside quotes, an escape with its letter, or a whole part. */
type Unit = string | Exclude<WordPart, { type: "Literal" | "BraceExpansion" }>;
/** One of the words: bare text as written and parts, in order. */
export type Alternative = readonly Unit[];

const NUMBERS = /^(0|-?[1-9][0-9]{0,8})\.\.(0|-?[1-9][0-9]{0,8})$/;
const LETTERS = /^(?:([a-z])\.\.([a-z])|([A-Z])\.\.([A-Z]))$/;

/** Every word that the parts make; the parts are those of one word, outside quotes. */
export function expandBraces(parts: readonly WordPart[]): readonly Alternative[] | undefined {
  if (parts.some(hidesBraces)) return undefined;
  let words: readonly Alternative[] = [[]];
  for (const part of parts) {
    if (part.type === "Literal" && /(?<!\\)[{}]|\$$/.test(part.text)) return undefined;
    const choices =
      part.type === "BraceExpansion"
        ? choicesOf(part)
        : [part.type === "Literal" ? unitsOf(part.text) : [part]];
    if (choices === undefined || words.length * choices.length > BRACE_WORDS_MAX) return undefined;
    words = words.flatMap((word) => choices.map((choice) => [...word, ...choice]));
  }
  return words;
}

/** Braces inside `${…}`, where bash counts them in its own way. */
function hidesBraces(part: WordPart): boolean {
  if (part.type === "BraceExpansion") return part.parts?.some(hidesBraces) === true;
  return part.type === "ParameterExpansion" && part.text.indexOf("{", 2) !== -1;
}

function choicesOf(part: BraceExpansionPart): readonly Alternative[] | undefined {
  // Where nothing but text is inside, the parser gives no parts. With parts the braces themselves
  // are not among them.
  const units = part.parts === undefined ? unitsOf(part.text.slice(1, -1)) : insideOf(part.parts);
  return units === undefined ? undefined : alternatives(units);
}

function insideOf(parts: readonly WordPart[]): readonly Unit[] | undefined {
  const units: Unit[] = [];
  for (const part of parts) {
    if (part.type === "BraceExpansion") return undefined;
    if (part.type === "Literal") units.push(...unitsOf(part.text));
    else units.push(part);
  }
  return units;
}

/** Characters of bare text, an escape as one. */
function unitsOf(text: string): readonly string[] {
  return text.match(/\\?[\s\S]/gu) ?? [];
}

/** What stands between the outer commas, each with its own braces expanded. */
function alternatives(units: readonly Unit[]): readonly Alternative[] | undefined {
  const fields = fieldsOf(units);
  if (fields === undefined) return undefined;
  if (fields.length === 1) return sequence(units);
  const all: Alternative[] = [];
  for (const field of fields) {
    const expanded = expandField(field);
    if (expanded === undefined) return undefined;
    all.push(...expanded);
    if (all.length > BRACE_WORDS_MAX) return undefined;
  }
  return all;
}

/**
 * Split at the commas that no inner brace holds; `undefined` unless every brace has its partner.
 */
function fieldsOf(units: readonly Unit[]): readonly Alternative[] | undefined {
  const fields: Unit[][] = [[]];
  let depth = 0;
  for (const unit of units) {
    if (unit === "{") depth++;
    if (unit === "}") depth--;
    if (depth < 0 || unit === "[" || unit === "\\\n" || unit === "$") return undefined;
    if (unit === "," && depth === 0) fields.push([]);
    else fields.at(-1)?.push(unit);
  }
  return depth === 0 ? fields : undefined;
}

function expandField(units: Alternative): readonly Alternative[] | undefined {
  let words: readonly Alternative[] = [[]];
  let at = 0;
  while (at < units.length) {
    const open = units.indexOf("{", at);
    const plain = units.slice(at, open === -1 ? units.length : open);
    words = words.map((word) => [...word, ...plain]);
    if (open === -1) break;
    const close = closing(units, open);
    const choices = alternatives(units.slice(open + 1, close));
    if (choices === undefined || words.length * choices.length > BRACE_WORDS_MAX) return undefined;
    words = words.flatMap((word) => choices.map((choice) => [...word, ...choice]));
    at = close + 1;
  }
  return words;
}

/** The partner of the brace at `open`; there is one, fieldsOf() has seen to it. */
function closing(units: Alternative, open: number): number {
  let depth = 0;
  for (let at = open; at < units.length; at++) {
    if (units[at] === "{") depth++;
    if (units[at] === "}" && --depth === 0) return at;
  }
  return units.length;
}

/** `1..5` and `a..e`; steps, leading zeros and mixed letters are rare and have no answer. */
function sequence(units: readonly Unit[]): readonly Alternative[] | undefined {
  if (!units.every((unit) => typeof unit === "string")) return undefined;
  const text = units.join("");
  const numbers = NUMBERS.exec(text);
  const letters = LETTERS.exec(text);
  const [first, last] = (numbers ?? letters ?? []).slice(1).filter((end) => end !== undefined);
  if (first === undefined || last === undefined) return undefined;
  const from = numbers === null ? first.charCodeAt(0) : Number(first);
  const to = numbers === null ? last.charCodeAt(0) : Number(last);
  const count = Math.abs(to - from) + 1;
  if (count > BRACE_WORDS_MAX) return undefined;
  const step = to < from ? -1 : 1;
  return Array.from({ length: count }, (_, at) => {
    const value = from + at * step;
    return [...(numbers === null ? String.fromCharCode(value) : String(value))];
  });
}
