/**
 * Evaluate in shell: the safety of a command that another shell than bash may run. Bash's grammar
 * is all we know.
 */
import { REASONS_MAX } from "./config/limits.js";
import { evaluateCommandSafety } from "./evaluate.js";
import { isSameInZsh } from "./parse/zsh.js";
import type { CommandSafety, SafetyOptions, SafetyReason } from "./safety.js";

const BASH = /^(?:\/(?:usr\/(?:local\/)?)?bin\/)?bash$/;
const ZSH = /^(?:\/(?:usr\/(?:local\/)?|opt\/homebrew\/)?bin\/)?zsh$/;

/**
 * Says how risky a command is in the shell that will run it. At least `needs-review` in a shell
 * other than bash and zsh, and where zsh may read the text differently from bash.
 *
 * @param shell - A name or an absolute path; `undefined` is bash.
 */
export function evaluateInShell(
  command: string,
  shell: string | undefined,
  options: SafetyOptions = {},
): CommandSafety {
  const safety = evaluateCommandSafety(command, options);
  if (shell === undefined || BASH.test(shell)) return safety;
  if (!ZSH.test(shell)) return withReason(safety, otherShell(command));
  const { rewrite, ...others } = isSameInZsh(command)
    ? safety
    : withReason(safety, otherInZsh(command));
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
  return {
    ...otherShell(command),
    ruleId: "shell.zsh",
    message: "it would run in zsh, which may read it in another way than bash",
  };
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
