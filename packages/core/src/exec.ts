/**
 * @acp/core/exec: how risky a shell command is, before it runs, and what a configuration makes of
 *   it. The engine is @acp/exec-safety. Loads the shell parser; the main entry does not.
 */
export {
  COMMAND_RISKS,
  evaluateCommandSafety,
  GIT_GUARDS,
  isHarmlessVariable,
  storablePattern,
} from "@acp/exec-safety";
export type {
  Allowlist,
  AllowlistEntry,
  Binary,
  BinaryTable,
  CommandRewrite,
  CommandRisk,
  CommandSafety,
  ParsedCommand,
  SafetyLayer,
  SafetyLimits,
  SafetyOptions,
  SafetyReason,
  StorablePattern,
  Style,
  Topic,
} from "@acp/exec-safety";
export { isSecretName } from "@acp/exec-safety/secret-names";
export { matchAllowlist, parseAllowlist } from "./exec/allowlist.js";
export { parseExecApprovalConfig, parseProfileConfig } from "./exec/config.js";
export type {
  ExecApprovalConfig,
  ExecAsk,
  ExecAskFallback,
  ExecSecurity,
  ProfileConfig,
} from "./exec/config.js";
export { evaluateShellAction, execFallback, execSafety } from "./exec/layer.js";
export type { ExecSafetyOptions } from "./exec/layer.js";
export { parseBinaryTable } from "./exec/parse-table.js";
export { execEffect, fallbackEffect, requiresApproval } from "./exec/requires-approval.js";
