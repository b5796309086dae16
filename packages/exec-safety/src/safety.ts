/**
 * Safety: what evaluateCommandSafety() takes and says.
 */
import type { Allowlist } from "./config/allowlist.js";
import type { BinaryTable } from "./tables/table.js";
import type { Span } from "./parse/tree.js";

/** Every risk of a command, ascending. */
export const COMMAND_RISKS = ["safe", "needs-review", "dangerous"] as const;

/** Risk of a command, ascending: advice, never a decision. */
export type CommandRisk = (typeof COMMAND_RISKS)[number];

/** Every layer of the analysis, in the order in which they are applied. */
export const SAFETY_LAYERS = [
  "allowlist",
  "shell-syntax",
  "safe-binaries",
  "dangerous-patterns",
] as const;

/** One of the four {@link SAFETY_LAYERS}. */
export type SafetyLayer = (typeof SAFETY_LAYERS)[number];

/** Why a command is not safe. */
export interface SafetyReason {
  /** Stable: `<topic>.<what>`, e.g. `find.exec`, `redirect.file`, `rm.outside-project`. */
  readonly ruleId: string;
  /** How severe it is: `needs-review` or `dangerous`. */
  readonly level: Exclude<CommandRisk, "safe">;
  /** Which part of the analysis found it. */
  readonly layer: SafetyLayer;
  /** Where in the command it is. */
  readonly span: Span;
  /** What is wrong and why, in plain words: "`find -exec` runs another program on every match". */
  readonly message: string;
}

/** One simple command that the line would run. */
export interface ParsedCommand {
  /** Where in the text it is written. */
  readonly span: Span;
  /** The program; absent where it is known only when the command runs. */
  readonly program?: string;
  /** The decoded arguments; `undefined` for one that is known only when the command runs. */
  readonly args: readonly (string | undefined)[];
  /** The allowlist pattern that lifted its review; absent where none did. */
  readonly allowedBy?: string;
}

/** A safe text in place of a command that needs review. */
export interface CommandRewrite {
  /** The text, which does what the command was meant to do. */
  readonly command: string;
  /** What is different about it, for a person. */
  readonly reason: string;
}

/** What is known about a command before it runs. */
export interface CommandSafety {
  /** The most severe level of all reasons; `safe` if there are none. */
  readonly riskLevel: CommandRisk;
  /** Most severe first, at most 8; at least one for every level but `safe`. */
  readonly reasons: readonly SafetyReason[];
  /** Every simple command of the text, in its order, including those in substitutions. */
  readonly commands: readonly ParsedCommand[];
  /** The layers that contributed to the result. */
  readonly layers: readonly SafetyLayer[];
  /**
   * A text that is `safe` in place of this command; only where the command is `needs-review`. Judge
   * it again before you run it, and show it.
   */
  readonly rewrite?: CommandRewrite;
}

/**
 * Bounds of the analysis; a command beyond one of them is `needs-review`. You can lower them, not
 * raise them.
 */
export interface SafetyLimits {
  /** Length of the text in UTF-16 units. */
  readonly charsMax: number;
  /** How deep substitutions, subshells and commands within commands may go. */
  readonly nestingMax: number;
  /** Number of simple commands, including those in substitutions. */
  readonly commandsMax: number;
}

/** Options of {@link evaluateCommandSafety}. */
export interface SafetyOptions {
  /** Commands that the operator approved beforehand; none unless given. */
  readonly allowlist?: Allowlist;
  /** Working directory, absolute; the project's root unless given. */
  readonly cwd?: string;
  /**
   * The project's directory, absolute; `cwd` unless given. Without both, relative paths that stay
   * below the start count as inside.
   */
  readonly projectRoot?: string;
  /** Programs in addition to the built-in ones; a built-in program cannot be replaced. */
  readonly extraBinaries?: BinaryTable;
  /**
   * Whether the repository's own configuration is trusted; true unless given. If false, no git
   * command is safe, because git runs what that configuration names.
   */
  readonly trustedWorkspace?: boolean;
  /**
   * True if the command's environment has git's guards ({@link GIT_GUARDS}), so that git enters no
   * repository that came as files of the project, and also `NO_UPDATE_NOTIFIER` and
   * `PIP_DISABLE_PIP_VERSION_CHECK`. False unless given: then such commands are safe only with
   * options that do the same.
   */
  readonly isGuarded?: boolean;
  /**
   * True if standard input is empty and there is no terminal, so that a pager shows its file and
   * ends. False unless given.
   */
  readonly noInput?: boolean;
  /**
   * True if the command runs at a terminal where whoever writes the command may type, so that a
   * pager that git starts takes commands. False unless given, which fits an agent's shell whose
   * output is a pipe or whose environment names `cat` as pager.
   */
  readonly atTerminal?: boolean;
  /**
   * Ports of this machine that a person lets `curl` send requests to; none unless given. Never name
   * the port of an inbox or a proxy of ACP.
   */
  readonly loopbackPorts?: readonly number[];
  /** Bounds lower than the built-in ones. */
  readonly limits?: Partial<SafetyLimits>;
}
