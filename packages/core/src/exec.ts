/** @acp/core/exec: how risky a shell command is, before it runs. Loads the shell parser; the main entry does not. */
export { matchAllowlist, parseAllowlist } from "./exec/allowlist.js";
export type { Allowlist, AllowlistEntry } from "./exec/allowlist.js";
export { parseBinaryTable } from "./exec/binaries/parse-table.js";
export type { Binary, BinaryTable, Style, Topic } from "./exec/binaries/table.js";
export { parseExecApprovalConfig, parseProfileConfig } from "./exec/config.js";
export type { ExecApprovalConfig, ExecAsk, ExecAskFallback, ExecSecurity, ProfileConfig } from "./exec/config.js";
export { GIT_GUARDS } from "./exec/git-guards.js";
export { isHarmlessVariable } from "./exec/environment.js";
export { evaluateCommandSafety } from "./exec/evaluate.js";
export { evaluateShellAction, execFallback, execSafety } from "./exec/layer.js";
export type { ExecSafetyOptions } from "./exec/layer.js";
export { execEffect, fallbackEffect, requiresApproval } from "./exec/requires-approval.js";
export type {
  CommandRewrite,
  CommandRisk,
  CommandSafety,
  ParsedCommand,
  SafetyLayer,
  SafetyLimits,
  SafetyOptions,
  SafetyReason,
} from "./exec/safety.js";
export { isSecretName } from "./guard/secret-names.js";
export { storablePattern } from "./exec/storable-pattern.js";
export type { StorablePattern } from "./exec/storable-pattern.js";
