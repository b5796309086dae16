/**
 * Safety: what evaluateCommandSafety() takes and says.
 */
import type { Allowlist } from "./config/allowlist.js";
import type { BinaryTable } from "./tables/table.js";
import type { Span } from "./parse/tree.js";

/** Every risk of a command, ascending. */
export const COMMAND_RISKS = ["safe", "needs-review", "dangerous"] as const;

/** Risk of a command, ascending: advice, never a decision (S3). */
export type CommandRisk = (typeof COMMAND_RISKS)[number];

/** Every layer of S3, in the order in which a reader meets them. */
export const SAFETY_LAYERS = [
  "allowlist",
  "shell-syntax",
  "safe-binaries",
  "dangerous-patterns",
] as const;

/** The four layers of S3. */
export type SafetyLayer = (typeof SAFETY_LAYERS)[number];

/** Why a command is not safe. */
export interface SafetyReason {
  /** Stable: `<topic>.<what>`, e.g. `find.exec`, `redirect.file`, `rm.outside-project`. */
  readonly ruleId: string;
  readonly level: Exclude<CommandRisk, "safe">;
  readonly layer: SafetyLayer;
  /** Where in the command it is. */
  readonly span: Span;
  /** What and why in plain words: "`find -exec` runs another program on every match". */
  readonly message: string;
}

/** One simple command that the line would run. */
export interface ParsedCommand {
  readonly span: Span;
  /** Absent where it is known only when it runs. */
  readonly program?: string;
  /** The decoded arguments; `undefined` where one is known only when it runs. */
  readonly args: readonly (string | undefined)[];
  /** The pattern of the allowlist that lifted it. */
  readonly allowedBy?: string;
}

/** Another text for a command that is not safe. */
export interface CommandRewrite {
  /** Does what the command was meant to do. */
  readonly command: string;
  /** For a person: what is different about it. */
  readonly reason: string;
}

/** What is known of a command before it runs. */
export interface CommandSafety {
  readonly riskLevel: CommandRisk;
  /** Most severe first, at most 8; at least one for every level but `safe`. */
  readonly reasons: readonly SafetyReason[];
  /** Every simple command, those in substitutions included, in order of the text. */
  readonly commands: readonly ParsedCommand[];
  /** Which layers spoke. */
  readonly layers: readonly SafetyLayer[];
  /**
   * Only where the command is `needs-review` and this text is `safe` in its place. Whoever runs it
   * judges it again, and shows it.
   */
  readonly rewrite?: CommandRewrite;
}

/**
 * Bounds of the analysis; beyond each of them the answer is `needs-review`. Lower ones than ours
 * may be given, not higher.
 */
export interface SafetyLimits {
  readonly charsMax: number;
  readonly nestingMax: number;
  readonly commandsMax: number;
}

/** Options of evaluateCommandSafety(). */
export interface SafetyOptions {
  readonly allowlist?: Allowlist;
  /** Absolute; without it, the project's root. */
  readonly cwd?: string;
  /**
   * Absolute; without it, `cwd`. Without both, relative paths that stay below the start count as
   * inside.
   */
  readonly projectRoot?: string;
  /** More programs than the built-in ones; a built-in one cannot be replaced. */
  readonly extraBinaries?: BinaryTable;
  /**
   * `false`: git runs what the repository's own configuration names, so that no git command is
   * safe. Default `true`.
   */
  readonly trustedWorkspace?: boolean;
  /**
   * The run's environment carries git's guards (`GIT_GUARDS`), so that git enters no repository
   * that came as files of the project, and `NO_UPDATE_NOTIFIER` and
   * `PIP_DISABLE_PIP_VERSION_CHECK`. Default `false`: such commands are safe with options that say
   * the same.
   */
  readonly isGuarded?: boolean;
  /**
   * Nothing can follow on standard input, and there is no terminal: a pager shows its file and
   * ends. Default `false`.
   */
  readonly noInput?: boolean;
  /**
   * It runs at a terminal, and whoever writes the command may type there: a pager that git starts
   * takes commands. Default `false`, for an agent's shell whose output is a pipe, or whose
   * environment names `cat` as pager.
   */
  readonly atTerminal?: boolean;
  /**
   * Ports of this machine that `curl` may ask, as a person has named them. Default none. Never
   * those of an inbox or a proxy of ACP's own.
   */
  readonly loopbackPorts?: readonly number[];
  readonly limits?: Partial<SafetyLimits>;
}
