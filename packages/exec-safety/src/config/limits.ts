/**
 * Limits of the analysis of commands: each with its unit and reason. Beyond any of them the answer
 * is `needs-review`, never a shorter analysis.
 */
import type { SafetyLimits } from "../safety.js";

/** The bounds that a caller may lower, never raise. */
export const SAFETY_LIMITS: SafetyLimits = {
  /** UTF-16 units of one command: nobody reads more before saying yes. */
  charsMax: 10_000,
  /**
   * Levels of substitutions, groups and compound commands: more is a program or an attack on the
   * parser.
   */
  nestingMax: 32,
  /** Simple commands in one line, those in substitutions included. */
  commandsMax: 200,
};

/** Wrappers around one program (`env nice timeout 5 …`): nobody needs more. */
export const WRAPPER_DEPTH_MAX = 6;
/** Reasons in an answer: what a person still reads. */
export const REASONS_MAX = 8;
/**
 * UTF-16 units of one reason's message: it may name a word of the command, and that may be long.
 */
export const MESSAGE_CHARS_MAX = 300;
/**
 * `$(`, `${`, `<(`, backquotes and the like in one text: each may make the parser read the rest of
 * the text again.
 */
export const SUBSTITUTIONS_MAX = 200;
/** Words that one word's braces may make. */
export const BRACE_WORDS_MAX = 64;
/** Words that all braces of one text may make: the analysis reads every one. */
export const BRACE_WORDS_TOTAL_MAX = 512;
/** Blanks in a row: more can push a command out of the view of who reads it. */
export const BLANKS_MAX = 60;
/** Line ends in a row, blanks between them not counted, for the same reason. */
export const LINE_ENDS_MAX = 8;
