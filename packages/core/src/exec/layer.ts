/**
 * The exec layer: judges shell commands by their risk and the configuration; abstains for
 * everything else. Pure. Format of the configuration: spec/exec-config.md.
 */
import { evaluateInShell } from "@acp/exec-safety";
import type {
  CommandRewrite,
  CommandRisk,
  CommandSafety,
  SafetyOptions,
  SafetyReason,
} from "@acp/exec-safety";
import { isShellAction } from "../action/action.js";
import type { Action, ShellAction } from "../action/action.js";
import type { Layer, Ruling } from "../layers.js";
import type { ExecApprovalConfig } from "./config.js";
import { execEffect, fallbackEffect } from "./requires-approval.js";
import type { Effect, RiskLevel } from "../types/words.js";

/** Options of {@link execSafety}. */
export interface ExecSafetyOptions
  extends Pick<
    SafetyOptions,
    "extraBinaries" | "trustedWorkspace" | "isGuarded" | "noInput" | "atTerminal" | "limits"
  > {
  /**
   * The project's directory, absolute. Without it, the directory that an action names counts as the
   * project, unless it is a system directory or a home: set it wherever the agent chooses the
   * directory.
   */
  readonly projectRoot?: string;
}

const LEVELS: Readonly<Record<CommandRisk, RiskLevel>> = {
  safe: "low",
  "needs-review": "medium",
  dangerous: "critical",
};
/**
 * Verdicts kept: a gate judges an action when it comes, before a grant is used and when its permit
 * is redeemed.
 */
const MEMO_MAX = 64;

/**
 * Makes the layer `exec`, which judges shell commands by the configuration while a person can be
 * asked, and abstains for other actions.
 *
 * @example
 * ```ts
 * import { createConsentGate } from "@acp/core";
 * import { execSafety, parseExecApprovalConfig } from "@acp/core/exec";
 *
 * const config = parseExecApprovalConfig({ security: "allowlist", ask: "on-miss" });
 * const gate = createConsentGate({ policy, layers: [execSafety(config)], channel, audit });
 * ```
 */
export function execSafety(config: ExecApprovalConfig, options: ExecSafetyOptions = {}): Layer {
  return layerOf(config, options, (safety) => execEffect(config, safety));
}

/**
 * Makes a layer that judges commands whose question nobody answered in time (`askFallback`): it
 * never asks, and denies everything dangerous. A second gate is made with it, so that guards and
 * the operator's rules count there too.
 */
export function execFallback(config: ExecApprovalConfig, options: ExecSafetyOptions = {}): Layer {
  return layerOf(config, options, (safety) => fallbackEffect(config, safety));
}

function layerOf(
  config: ExecApprovalConfig,
  options: ExecSafetyOptions,
  effectOf: (safety: CommandSafety) => Effect,
): Layer {
  const memo = new Map<string, Ruling>();
  return {
    name: "exec",
    judge(action: Action): Ruling | undefined {
      if (!isShellAction(action)) return undefined;
      const key = JSON.stringify([action.args, action.meta.cwd, action.meta.shell]);
      const kept = memo.get(key);
      if (kept !== undefined) return kept;
      const safety = evaluateShellAction(action, config, options);
      const made = rulingOf(config, safety, effectOf(safety));
      if (memo.size >= MEMO_MAX) memo.clear();
      memo.set(key, made);
      return made;
    },
  };
}

/**
 * How risky a shell action is under a configuration. At least `needs-review` in a shell other than
 * bash and zsh, and where zsh may read the text differently from bash: only bash's grammar is
 * known. An action that names no shell counts as bash.
 */
export function evaluateShellAction(
  action: ShellAction,
  config: ExecApprovalConfig,
  options: ExecSafetyOptions = {},
): CommandSafety {
  const { cwd, shell } = action.meta;
  const { allowlist, loopbackPorts } = config;
  return evaluateInShell(action.args, shell, {
    ...options,
    allowlist,
    loopbackPorts,
    ...(cwd === undefined ? {} : { cwd }),
  });
}

function rulingOf(config: ExecApprovalConfig, safety: CommandSafety, effect: Effect): Ruling {
  const { riskLevel, reasons, rewrite } = safety;
  const [worst] = reasons;
  const isClosed = config.security === "deny";
  const ruleId = isClosed ? "exec.security-deny" : `exec.${worst?.ruleId ?? "safe"}`;
  return Object.freeze({
    effect,
    ruleId,
    reason: isClosed
      ? "commands may not run at all"
      : `${reasonOf(riskLevel, reasons)}${rewrite === undefined ? "" : insteadOf(rewrite)}`,
    level: LEVELS[riskLevel],
    ...(effect === "ask" ? { ask: { timeoutMs: config.timeoutMs } } : {}),
  });
}

/** What an agent may write in its place. */
function insteadOf({ command }: CommandRewrite): string {
  return `; safe in its place: ${command}`;
}

function reasonOf(riskLevel: CommandRisk, reasons: readonly SafetyReason[]): string {
  if (riskLevel === "safe") return "the command is safe: it only reads, or is listed";
  return `the command ${riskLevel === "dangerous" ? "is dangerous" : "needs review"}: ${reasons.map(({ message }) => message).join("; ")}`;
}
