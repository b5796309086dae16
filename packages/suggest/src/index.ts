/**
 * @acp/suggest: rules that would answer what people always answered alike. Pure: the log and the
 * policy are passed in.
 */
export type { CallOutcome } from "./joiner.js";
export type { LoggedEvent } from "./logged-call.js";
export type { RuleCover } from "./match-of.js";
export type { CallShape } from "./shape.js";
export { suggestRules } from "./suggest-rules.js";
export type {
  HeldBack,
  ReadHistory,
  HistoryWanted,
  RulePlace,
  RuleSuggestion,
  SuggestOptions,
  Suggestions,
} from "./suggest-rules.js";
