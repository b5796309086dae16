/**
 * The exec layer: judges shell commands by their risk and the configuration; abstains for everything else. Pure.
 * Format of the configuration: spec/exec-config.md.
 */
import { isShellAction } from "../action/action.js";
import type { Action, ShellAction } from "../action/action.js";
import type { Effect, Layer, RiskLevel, Ruling } from "../layers.js";
import type { ExecApprovalConfig } from "./config.js";
import { evaluateCommandSafety } from "./evaluate.js";
import { REASONS_MAX } from "./limits.js";
import { execEffect, fallbackEffect } from "./requires-approval.js";
import { isSameInZsh } from "./zsh.js";
import type { CommandRisk, CommandSafety, CommandRewrite, SafetyOptions, SafetyReason } from "./safety.js";

/** Options of {@link execSafety}. */
export interface ExecSafetyOptions
  extends Pick<SafetyOptions, "extraBinaries" | "trustedWorkspace" | "isGuarded" | "noInput" | "atTerminal" | "limits"> {
  /**
   * Absolute. Without it the directory that an action names counts as the project, unless it is a system's or a home: give it wherever the
   * agent chooses the directory.
   */
  readonly projectRoot?: string;
}

const LEVELS: Readonly<Record<CommandRisk, RiskLevel>> = { safe: "low", "needs-review": "medium", dangerous: "critical" };
/** Verdicts kept: a gate judges an action when it comes, before a grant is used and when its permit is redeemed. */
const MEMO_MAX = 64;
const BASH = /^(?:\/(?:usr\/(?:local\/)?)?bin\/)?bash$/;
const ZSH = /^(?:\/(?:usr\/(?:local\/)?|opt\/homebrew\/)?bin\/)?zsh$/;

/** Judges commands as the configuration says while a person can be asked. */
export function execSafety(config: ExecApprovalConfig, options: ExecSafetyOptions = {}): Layer {
  return layerOf(config, options, (safety) => execEffect(config, safety));
}

/**
 * Judges commands about which nobody answered in time (`askFallback`): never asks, and denies everything dangerous. A second gate is made
 * with it, so that guards and the operator's rules count there too.
 */
export function execFallback(config: ExecApprovalConfig, options: ExecSafetyOptions = {}): Layer {
  return layerOf(config, options, (safety) => fallbackEffect(config, safety));
}

function layerOf(config: ExecApprovalConfig, options: ExecSafetyOptions, effectOf: (safety: CommandSafety) => Effect): Layer {
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
 * The safety of a shell action under a configuration; at least `needs-review` for any shell but bash, whose grammar is all we know, and for what
 * zsh may read in another way.
 */
export function evaluateShellAction(action: ShellAction, config: ExecApprovalConfig, options: ExecSafetyOptions = {}): CommandSafety {
  const { cwd, shell } = action.meta;
  const { allowlist, loopbackPorts } = config;
  const safety = evaluateCommandSafety(action.args, { ...options, allowlist, loopbackPorts, ...(cwd === undefined ? {} : { cwd }) });
  if (shell === undefined || BASH.test(shell)) return safety;
  if (!ZSH.test(shell)) return withReason(safety, otherShell(action.args));
  const { rewrite, ...others } = isSameInZsh(action.args) ? safety : withReason(safety, otherInZsh(action.args));
  return rewrite !== undefined && isSameInZsh(rewrite.command) ? { ...others, rewrite } : others;
}

function otherShell(command: string): SafetyReason {
  return {
    ruleId: "shell.not-bash",
    level: "needs-review",
    layer: "shell-syntax",
    span: { start: 0, end: command.length },
    message: "it would run in another shell than bash, which may read it in another way",
  };
}

function otherInZsh(command: string): SafetyReason {
  return { ...otherShell(command), ruleId: "shell.zsh", message: "it would run in zsh, which may read it in another way than bash" };
}

function withReason(safety: CommandSafety, reason: SafetyReason): CommandSafety {
  const { commands, riskLevel, reasons, layers } = safety;
  // Another shell's text cannot be made safe here.
  return {
    commands,
    riskLevel: riskLevel === "safe" ? reason.level : riskLevel,
    reasons: [...reasons.slice(0, REASONS_MAX - 1), reason],
    layers: layers.includes(reason.layer) ? layers : [...layers, reason.layer],
  };
}

function rulingOf(config: ExecApprovalConfig, safety: CommandSafety, effect: Effect): Ruling {
  const { riskLevel, reasons, rewrite } = safety;
  const [worst] = reasons;
  const isClosed = config.security === "deny";
  const ruleId = isClosed ? "exec.security-deny" : `exec.${worst?.ruleId ?? "safe"}`;
  return Object.freeze({
    effect,
    ruleId,
    reason: isClosed ? "commands may not run at all" : `${reasonOf(riskLevel, reasons)}${rewrite === undefined ? "" : insteadOf(rewrite)}`,
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
