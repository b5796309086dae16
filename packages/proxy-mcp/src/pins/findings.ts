/**
 * Findings: what is odd about a text that a server presents. Advice for the person who is asked or
 * reviews it; nothing is allowed or denied by it, and a text without findings may still be bad.
 * Pure. The list: spec/tool-pins.md §6.
 */
import { quoteText } from "@acp/core";
import { lookOf, mentionedPlaces, oddityOf } from "@acp/core/unstable";
import { isRecord } from "../message.js";
import { codePoint } from "./names.js";

/** One thing that is odd. */
export interface ToolFinding {
  /** Stable name of the kind; spec/tool-pins.md §6 lists them. */
  readonly code:
    | "invisible_characters"
    | "orders_the_model"
    | "asks_for_secrecy"
    | "names_secrets"
    | "look_alike_name"
    | "poses_as_heading";
  /** Whether a person should stop at it: `high` makes `acp mcp scan` fail. */
  readonly weight: "low" | "high";
  /** One sentence for a person, without a period. */
  readonly text: string;
}

/** Of one definition, so that its size does not decide how long a look takes. */
const LOOKED_AT_CHARS_MAX: number = 64 * 1024;
const EXCERPT_CHARS = 60;
/** What a definition of any language holds: breaks and tabs are seen, joiners shape letters. */
const UNSEEN =
  /[^\P{C}\n\r\t\u200c\u200d]|[\p{Zl}\p{Zp}\u2800\u{e0000}-\u{e0fff}]|(?:\u200c|\u200d|[\ufe00-\ufe0f]){2,}/u;

const ORDERS: readonly RegExp[] = [
  /\b(?:ignore|disregard|forget|override)\b[^.\n]{0,40}\b(?:previous|prior|above|earlier|other|all|system)\b[^.\n]{0,20}\b(?:instruction|prompt|rule|message|direction|tool)/i,
  /\bignore (?:all )?previous\b/i,
  /\b(?:before|after|when|whenever) (?:using|calling|you (?:use|call)|invoking)\b[^.\n]{0,60}\b(?:tool|function|this|it)\b[^.\n]{0,80}\b(?:read|call|send|include|pass|fetch|run|execute|must)\b/i,
  /\byou (?:must|should|need to) (?:always |first |also )?(?:read|call|send|include|pass|use|run|fetch|append)\b/i,
  /<\/?(?:important|system|instructions?|secret|admin)\b[^>]{0,40}>/i,
  /\b(?:new|updated|real) (?:system )?(?:instructions?|prompt)\s*:/i,
];
const SECRECY =
  /\b(?:do not|don't|never|without)\b[^.\n]{0,30}\b(?:tell|mention|inform|show|reveal|notify|telling|mentioning|informing|asking)\b[^.\n]{0,30}\b(?:user|person|human|operator|anyone|them)\b/i;
/**
 * What is odd about a definition or about instructions.
 *
 * @param value - A tool's definition as parsed, or a text.
 */
export function findingsOf(value: unknown): readonly ToolFinding[] {
  const texts = textsIn(value);
  const whole = texts.join("\n");
  const looks = lookOf(whole);
  const found: (ToolFinding | undefined)[] = [
    unseenIn(whole),
    ...ORDERS.map((each) => excerpt(each, looks, ORDER)),
    excerpt(SECRECY, looks, SECRET_KEEPING),
    placeIn(looks),
    lookAlike(value),
  ];
  const kinds = new Map<string, ToolFinding>();
  for (const each of found)
    if (each !== undefined && !kinds.has(each.code)) kinds.set(each.code, each);
  return [...kinds.values()];
}

/** The same of instructions, which stand between those of other servers. */
export function instructionFindings(text: string): readonly ToolFinding[] {
  const heading = HEADING.exec(text.slice(0, LOOKED_AT_CHARS_MAX))?.[0];
  const found = findingsOf(text);
  return heading === undefined
    ? found
    : [
        ...found,
        {
          code: "poses_as_heading",
          weight: "low",
          text: `it has a heading of its own, ${shown(heading.trim())}`,
        },
      ];
}

const HEADING = /^[ \t]{0,3}#{1,6}[ \t]*\S[^\n\r]{0,60}/m;

interface Kind {
  readonly code: ToolFinding["code"];
  readonly weight: ToolFinding["weight"];
  readonly says: string;
}

const ORDER: Kind = {
  code: "orders_the_model",
  weight: "high",
  says: "it tells the model what else to do",
};
const SECRET_KEEPING: Kind = {
  code: "asks_for_secrecy",
  weight: "high",
  says: "it asks to keep something from people",
};
const SECRET_PLACE: Kind = {
  code: "names_secrets",
  weight: "high",
  says: "it names a place of credentials",
};

function excerpt(pattern: RegExp, text: string, kind: Kind): ToolFinding | undefined {
  const found = pattern.exec(text);
  return found === null ? undefined : make(kind, shown(found[0].trim()));
}

const make = ({ code, weight, says }: Kind, what: string): ToolFinding => ({
  code,
  weight,
  text: `${says}: ${what}`,
});

function placeIn(text: string): ToolFinding | undefined {
  const [place] = mentionedPlaces({ text });
  return place === undefined ? undefined : make(SECRET_PLACE, place.slice(0, EXCERPT_CHARS));
}

function unseenIn(text: string): ToolFinding | undefined {
  const found = UNSEEN.exec(text);
  if (found === null) return undefined;
  const before = text.slice(Math.max(0, found.index - 20), found.index);
  return {
    code: "invisible_characters",
    weight: "high",
    text: `it has a character that cannot be seen, ${codePoint(found[0])}, after ${shown(before)}`,
  };
}

function lookAlike(value: unknown): ToolFinding | undefined {
  const name = isRecord(value) && typeof value.name === "string" ? value.name : "";
  const odd = oddityOf(name);
  if (odd === undefined) return undefined;
  return { code: "look_alike_name", weight: "high", text: `its name ${shown(name)} ${odd}` };
}

const shown = (text: string): string =>
  quoteText(text.length > EXCERPT_CHARS ? `${text.slice(0, EXCERPT_CHARS)}…` : text);

/** Texts of a value, keys included, each once; what is beyond the bound is not looked at. */
function textsIn(root: unknown): readonly string[] {
  const texts = new Set<string>();
  let left = LOOKED_AT_CHARS_MAX;
  const add = (text: string): void => {
    if (left > 0) texts.add(text.slice(0, left));
    left -= text.length;
  };
  const open: unknown[] = [root];
  while (open.length > 0 && left > 0) {
    const value = open.pop();
    if (typeof value === "string") add(value);
    if (typeof value !== "object" || value === null) continue;
    for (const [key, member] of Object.entries(value)) {
      if (!Array.isArray(value)) add(key);
      open.push(member);
    }
  }
  return [...texts];
}
