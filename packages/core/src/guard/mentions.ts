/**
 * Mentions: places of credentials that a text of the arguments names, be it all of the text or a
 * word in it. Said in the question and in the log; it decides nothing. Pure.
 */
import { escapeText } from "@acp/exec-safety/text";
import { showMany } from "../approval/show.js";
import { isJsonObject, type JsonObject, type JsonValue } from "../json/value.js";
import { PATH_CHARS_MAX } from "../limits.js";
import { isRemote } from "./readings.js";
import { isSecretName, mayHoldSecretName } from "@acp/exec-safety/secret-names";
import { textsOf } from "./texts.js";

/** What a text must hold to be worth a look: nearly none does. */
const WORTH = /[/\\]\.?[a-z]|(?:^|[^a-z0-9])\.[a-z]|id_(?:rsa|dsa|ecdsa|ed25519)/i;
const TEXT_CHARS_MAX: number = 64 * 1024;
const WORDS_MAX = 5_000;
const SHOWN_MAX = 3;
const SHOWN_CHARS_MAX = 100;

function wordsOf(text: string): readonly string[] {
  if (!WORTH.test(text)) return [];
  return text.slice(0, TEXT_CHARS_MAX).split(/[\s"'`<>()[\]{},;|=]+/, WORDS_MAX);
}

/** Whether a word is a path to a place of credentials. */
function namesPlace(word: string): boolean {
  const plain = word.replace(/[.:!?]+$/, "").replaceAll("\\", "/");
  if (plain.length > PATH_CHARS_MAX || isRemote(plain)) return false;
  return (
    (plain.includes("/") || /^[._]|^id_(?:rsa|dsa|ecdsa|ed25519)\b/i.test(plain)) &&
    isSecretName(plain)
  );
}

/**
 * Whether a text of the arguments can name a place at all; nearly none can, and every call is
 * asked. A text that is JSON itself may hide one by escapes.
 */
function mayMention(value: JsonValue): boolean {
  if (typeof value === "string")
    return mayHoldSecretName(value) || (value.includes("\\") && /^\s*[[{"]/.test(value));
  if (typeof value !== "object" || value === null) return false;
  if (!isJsonObject(value)) return value.some(mayMention);
  for (const key of Object.keys(value)) {
    const member = value[key];
    if (mayHoldSecretName(key) || (member !== undefined && mayMention(member))) return true;
  }
  return false;
}

const NO_PLACES: readonly string[] = Object.freeze([]);

/** The places that are named, each once, as a person may read them. */
export function mentionedPlaces(args: JsonObject): readonly string[] {
  if (!mayMention(args)) return NO_PLACES;
  const words = textsOf(args).texts.flatMap(({ text }) => wordsOf(text).filter(namesPlace));
  return [...new Set(words)].map((word) => escapeText(word.slice(0, SHOWN_CHARS_MAX)));
}

/** The same as a remark for the question; nothing where nothing is named. */
export function remarkOnMentions(args: JsonObject): readonly string[] {
  const places = mentionedPlaces(args);
  if (places.length === 0) return [];
  const more =
    places.length > SHOWN_MAX ? ` and ${showMany(places.length - SHOWN_MAX, "more place")}` : "";
  return [
    `the arguments name ${places.slice(0, SHOWN_MAX).join(", ")}${more}, where credentials are usually kept`,
  ];
}
