/**
 * Which configuration does what with which command: one table. Pure.
 *
 * | security    | ask       | safe or listed | everything else |
 * |-------------|-----------|----------------|-----------------|
 * | `deny`      | any       | deny           | deny            |
 * | `allowlist` | `off`     | allow          | deny            |
 * | `allowlist` | `on-miss` | allow          | ask             |
 * | `full`      | not `always` | allow       | allow           |
 * | not `deny`  | `always`  | ask            | ask             |
 */
import type { Effect } from "../types/words.js";
import { matchAllowlist } from "./allowlist.js";
import type { ExecApprovalConfig } from "./config.js";
import type { CommandSafety, ParsedCommand } from "@acp/exec-safety";

/**
 * What the configuration says about a command that was evaluated with its allowlist.
 * spec/exec-config.md §4 has the table.
 */
export function execEffect(
  { security, ask }: ExecApprovalConfig,
  { riskLevel }: CommandSafety,
): Effect {
  if (security === "deny") return "deny";
  if (ask === "always") return "ask";
  if (security === "full" || riskLevel === "safe") return "allow";
  return ask === "on-miss" ? "ask" : "deny";
}

/**
 * Whether a person is asked about a command. `false` does not mean that it may run: see {@link
 * execEffect}.
 */
export function requiresApproval(config: ExecApprovalConfig, safety: CommandSafety): boolean {
  return execEffect(config, safety) === "ask";
}

/**
 * What the configuration says about a command whose question nobody answered in time
 * (`askFallback`): never `ask`, and never `allow` for a dangerous command. With `allowlist`, every
 * simple command of the line must be listed; a command that is safe but not listed is denied.
 */
export function fallbackEffect(
  config: ExecApprovalConfig,
  safety: CommandSafety,
): Exclude<Effect, "ask"> {
  const { security, askFallback, dangerouslyAllowOnTimeout } = config;
  if (security === "deny" || askFallback === "deny" || safety.riskLevel === "dangerous")
    return "deny";
  if (askFallback === "full") return dangerouslyAllowOnTimeout ? "allow" : "deny";
  return isListed(config, safety) ? "allow" : "deny";
}

function isListed(
  { allowlist }: ExecApprovalConfig,
  { riskLevel, commands }: CommandSafety,
): boolean {
  if (riskLevel !== "safe" || commands.length === 0) return false;
  return commands.every(
    (command) => command.allowedBy !== undefined || matchesAny(allowlist, command),
  );
}

function matchesAny(
  allowlist: ExecApprovalConfig["allowlist"],
  { program, args }: ParsedCommand,
): boolean {
  const known = args.filter((arg) => arg !== undefined);
  return (
    program !== undefined &&
    known.length === args.length &&
    matchAllowlist(allowlist, [program, ...known]) !== undefined
  );
}
