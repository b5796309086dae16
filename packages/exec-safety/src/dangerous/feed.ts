/**
 * Feed: what a program reads or prints, as far as it is known before the line runs: where it comes
 * from, and its text.
 */

/** Where data comes from, the most suspicious last. */
export type Source = "none" | "text" | "file" | "program" | "decoded" | "remote";

const ORDER: readonly Source[] = ["none", "text", "file", "program", "decoded", "remote"];

/** A stream of data. */
export interface Feed {
  readonly source: Source;
  /** Absent where it is known only when it runs. Unknown parts of it are {@link UNKNOWN}. */
  readonly text?: string;
  /** Whether credentials are in it. */
  readonly isSecret?: boolean;
  /** Whether it comes through a pipe, so that nobody wrote it for the program that reads it. */
  readonly isPiped?: boolean;
  /** Whether a shell prints it that reads its commands from somewhere. */
  readonly isShell?: boolean;
}

/**
 * Stands for a part of a text that is known only when the line runs. A private letter, so that a
 * parser reads over it.
 */
export const UNKNOWN = "\uE000";
/** Stands for a variable that the line never set: perhaps empty. */
export const UNSET = "\uE001";
/** A longer text counts as unknown: doubling a variable must not double the work. */
export const TEXT_CHARS_MAX = 10_000;

/** Nothing at all. */
export const NOTHING: Feed = { source: "none", text: "" };

/** Whether it is unsafe to run: nobody who reads the line sees what it says. */
export function isHidden(source: Source): source is "decoded" | "remote" {
  return source === "decoded" || source === "remote";
}

/** The more suspicious of two. */
export function worse(left: Source, right: Source): Source {
  return ORDER.indexOf(left) >= ORDER.indexOf(right) ? left : right;
}

/** One after the other. */
export function joinFeeds(left: Feed, right: Feed): Feed {
  if (left === NOTHING) return right;
  if (right === NOTHING) return left;
  const source = worse(left.source, right.source);
  const isSecret = left.isSecret === true || right.isSecret === true;
  if (
    left.text === undefined ||
    right.text === undefined ||
    left.text.length + right.text.length > TEXT_CHARS_MAX
  )
    return { source, isSecret };
  return { source, isSecret, text: left.text + right.text };
}

/** Whether a text holds a part that is not known. */
export function hasUnknown(text: string): boolean {
  return text.includes(UNKNOWN) || text.includes(UNSET);
}
