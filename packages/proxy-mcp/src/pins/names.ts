/**
 * Names of tools: which can be listed at all, and how they look. Pure. Rules: spec/tool-pins.md §3.
 */
import { lookOf } from "@acp/core/unstable";

const CHARS_MAX = 256;
/** Line breaks, controls, marks of direction, tags, and whatever else is drawn as nothing. */
const UNSEEN = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/u;

/** Why a tool of this name is in no list and cannot be called; `undefined` for any other. */
export function nameProblem(name: string): string | undefined {
  if (name === "") return "its name is empty";
  if (name.length > CHARS_MAX) return `its name has more than ${CHARS_MAX} characters`;
  const [unseen] = UNSEEN.exec(name) ?? [];
  return unseen === undefined
    ? undefined
    : `its name has a character that cannot be seen, ${codePoint(unseen)}`;
}

/** Names that look alike have the same look: case, marks, separators and look-alikes are gone. */
export function nameLook(name: string): string {
  return lookOf(name)
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, "_");
}

/** `U+202E`. */
export function codePoint(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;
}
