/**
 * @acp/exec-safety: how risky a shell command is, before it runs. Pure; depends on nothing of ACP.
 */
export type { Allowlist, AllowlistEntry } from "./config/allowlist.js";
export { isHarmlessVariable } from "./config/environment.js";
export { GIT_GUARDS } from "./config/git-guards.js";
export { storablePattern } from "./config/storable-pattern.js";
export type { StorablePattern } from "./config/storable-pattern.js";
export { evaluateInShell } from "./evaluate-in-shell.js";
export { evaluateCommandSafety } from "./evaluate.js";
export { simpleCommandOf } from "./parse/simple-command-of.js";
export type { Span } from "./parse/tree.js";
export { COMMAND_RISKS, SAFETY_LAYERS } from "./safety.js";
export type {
  CommandRewrite,
  CommandRisk,
  CommandSafety,
  ParsedCommand,
  SafetyLayer,
  SafetyLimits,
  SafetyOptions,
  SafetyReason,
} from "./safety.js";
export { checkBinary, isBuiltIn } from "./tables/check-binary.js";
export { TableError } from "./tables/grammar.js";
export { STYLES, TOPICS } from "./tables/table.js";
export type { Binary, BinaryTable, Style, Topic } from "./tables/table.js";
