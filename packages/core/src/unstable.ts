/**
 * "@acp/core/unstable": what packages of ACP beside core need, and what may change in any release.
 * Build nothing else on it.
 */
export { showName } from "./approval/show.js";
export { mentionedPlaces } from "./guard/mentions.js";
export { GLOB_CHARS_MAX, TOOL_NOTE_CHARS_MAX, TOOL_NOTES_MAX } from "./limits.js";
export { hasWildcard } from "./policy/glob.js";
export { asOneError } from "./policy/mistakes.js";
export { exactlyOne, idleWhere, notBoth, onlyBeside } from "./policy/key-rules.js";
export type { Idle } from "./policy/key-rules.js";
export { oddityOf } from "./policy/odd-characters.js";
export { normalizePath } from "./policy/path.js";
export type { Segments } from "./policy/path.js";
export { askMatches } from "./policy/pattern.js";
export { lookOf, reachKeyOf } from "./policy/readings.js";
export { optional, required, section } from "./policy/section.js";
export type {
  ContextOf,
  Field,
  Fields,
  KeyRule,
  SectionOf,
  SectionWords,
} from "./policy/section.js";
export {
  below,
  flag,
  list,
  map,
  number,
  readWhole,
  refined,
  shapeOf,
  text,
  textLike,
  word,
} from "./policy/shape.js";
export type { ListBounds, Outcome, Shape } from "./policy/shape.js";
export {
  judgeState,
  keepNewest,
  readStateMarks,
  STATE_EVENT_TYPES,
  STATE_KINDS,
  stateSavedEvent,
} from "./state-mark.js";
export type { FileState, StateKind, StateMark, StateResult } from "./state-mark.js";
export { PLACEHOLDER_START } from "./vault/placeholders.js";
