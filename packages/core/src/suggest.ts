/** "@acp/core/suggest": rules that would answer what people always answered alike. Nothing of it is loaded by "@acp/core". */
export type { CallOutcome } from "./suggest/joiner.js";
export type { LoggedEvent } from "./suggest/logged-call.js";
export type { RuleCover } from "./suggest/match-of.js";
export type { CallShape } from "./suggest/shape.js";
export { suggestRules } from "./suggest/suggest-rules.js";
export type { HeldBack, ReadHistory, RulePlace, RuleSuggestion, SuggestOptions, Suggestions } from "./suggest/suggest-rules.js";
