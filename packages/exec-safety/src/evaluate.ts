/**
 * Evaluate: how risky a shell command is, before it runs (S3). Pure, deterministic, never throws;
 * whatever is not proven needs a person.
 */
import { census } from "./parse/census.js";
import { dangerousWalk } from "./dangerous/dangerous-walk.js";
import type { Finding, Report } from "./findings.js";
import { SAFETY_LIMITS } from "./config/limits.js";
import { parseShell } from "./parse/parse-shell.js";
import { startPlace } from "./safe/start-place.js";
import type { RunPlace } from "./config/run-place.js";
import { layersOf, levelOf, reasonsOf } from "./reasons.js";
import { rewritten } from "./rewrite.js";
import { safeWalk } from "./safe/safe-walk.js";
import type { CommandSafety, ParsedCommand, SafetyLimits, SafetyOptions } from "./safety.js";
import { startAt } from "./safe/state.js";
import { checkText } from "./parse/text-gate.js";
import type { Command, Script } from "./parse/tree.js";
import { syntax } from "./safe/walk.js";
import { visitNodes } from "./parse/visit.js";

/**
 * Says how risky a shell command is that would run as `bash -c command`. Pure, and never throws for
 * a command.
 *
 * @param command - The whole text. A value that is not a string is `needs-review`.
 * @param options - Where it would run, what the operator allows, and what else is known.
 * @returns The level with its reasons, and every simple command in the text.
 *
 * @example
 * ```ts
 * import { evaluateCommandSafety } from "@acp/exec-safety";
 *
 * evaluateCommandSafety("git log --oneline | head -5").riskLevel; // "safe"
 * evaluateCommandSafety("npm install left-pad").riskLevel; // "needs-review"
 * ```
 */
export function evaluateCommandSafety(command: string, options: SafetyOptions = {}): CommandSafety {
  try {
    const found = evaluate(command, options);
    return found.rewrite === undefined ? found : withSafeRewrite(found, options);
  } catch {
    // INVARIANT: a fault of ours or of the caller's options must never read as safe, nor stop the
    // caller's own checks.
    return unread({
      command,
      ruleId: "engine.failed",
      message: "the command could not be analyzed",
    });
  }
}

function evaluate(command: string, options: SafetyOptions): CommandSafety {
  if (typeof command !== "string")
    return unread({ command, ruleId: "text.not-text", message: "the command is not a string" });
  const limits = limitsOf(options.limits);
  const findings: Finding[] = [];
  const report: Report = (finding) => void findings.push(finding);
  const place = startPlace(options);
  const refused = checkText(command, limits);
  if (refused !== undefined) {
    report(refused);
    searchDangers(command, { limits, place, report });
    return answer({ findings, commands: [], lifted: NONE });
  }
  const parsed = parseShell(command, limits);
  if ("refused" in parsed) {
    const { partial } = parsed;
    report(parsed.refused);
    if (partial !== undefined) dangerousWalk(partial, place, report);
    return answer({
      findings,
      commands: partial === undefined ? [] : contentOf(partial).commands,
      lifted: NONE,
    });
  }
  const { script } = parsed;
  const lifted = new Map<Command, string>();
  const { commands, names } = contentOf(script);
  dangerousWalk(script, place, report);
  safeWalk(
    { report, extra: options.extraBinaries, allowlist: options.allowlist, lifted },
    script,
    startAt(place, names),
  );
  census(command, script, report);
  const safety = answer({ findings, commands, lifted });
  const rewrite = safety.riskLevel === "needs-review" ? rewritten(command, findings) : undefined;
  return rewrite === undefined ? safety : { ...safety, rewrite };
}

/**
 * What keeps names whole may show that they are those of secrets as well; more than that is another
 * command.
 */
const REWRITES_MAX = 2;

/** INVARIANT: a text is offered in place of another only where it is safe itself. */
function withSafeRewrite(
  { rewrite, ...safety }: CommandSafety,
  options: SafetyOptions,
): CommandSafety {
  const reasons: string[] = [];
  let next = rewrite;
  while (next !== undefined && reasons.length < REWRITES_MAX) {
    const { command, reason } = next;
    reasons.push(reason);
    const judged = evaluate(command, options);
    if (judged.riskLevel === "safe")
      return { ...safety, rewrite: { command, reason: reasons.join("; ") } };
    next = judged.rewrite;
  }
  return safety;
}

const NONE: ReadonlyMap<Command, string> = new Map();

/** The caller's limits, where they are lower than ours. */
function limitsOf(limits: Partial<SafetyLimits> | undefined): SafetyLimits {
  if (limits === undefined) return SAFETY_LIMITS;
  const lower = (name: keyof SafetyLimits): number => {
    const limit = limits[name];
    return limit !== undefined && limit <= SAFETY_LIMITS[name] ? limit : SAFETY_LIMITS[name];
  };
  return {
    charsMax: lower("charsMax"),
    nestingMax: lower("nestingMax"),
    commandsMax: lower("commandsMax"),
  };
}

/** What a terminal would not show. */
const UNSEEN = /[^\P{C}\t\n]|\p{Default_Ignorable_Code_Point}/gu;

/**
 * A text that is refused can still be plainly destructive: a hidden character does not hide the
 * rest.
 */
function searchDangers(
  command: string,
  {
    limits,
    place,
    report,
  }: { readonly limits: SafetyLimits; readonly place: RunPlace; readonly report: Report },
): void {
  const visible = command
    .slice(0, limits.charsMax)
    .replace(/\r/g, "\n")
    .replace(UNSEEN, "")
    .replace(/\p{Z}/gu, " ");
  // What nests too deeply stays unread.
  if (checkText(visible.replace(/\s+/g, " "), limits) !== undefined) return;
  const parsed = parseShell(visible, limits);
  // Its places are those of another text; the whole text stands for them.
  const span = { start: 0, end: command.length };
  const script = "script" in parsed ? parsed.script : parsed.partial;
  if (script !== undefined) dangerousWalk(script, place, (finding) => report({ ...finding, span }));
}

interface Content {
  /** Every simple command, in order of the text. */
  readonly commands: readonly Command[];
  /** The variables that the text itself sets, wherever that stands. */
  readonly names: ReadonlySet<string>;
}

function contentOf(script: Script): Content {
  const commands: Command[] = [];
  const names = new Set<string>();
  visitNodes(script, (node) => {
    if (node.type === "for") names.add(node.name);
    if (node.type !== "command") return;
    if (node.words.length > 0) commands.push(node);
    else for (const { name } of node.assignments) names.add(name);
  });
  return {
    commands:
      commands.length > 1
        ? commands.sort((one, other) => one.span.start - other.span.start)
        : commands,
    names,
  };
}

interface Found {
  readonly findings: readonly Finding[];
  readonly commands: readonly Command[];
  readonly lifted: ReadonlyMap<Command, string>;
}

function answer({ findings, commands, lifted }: Found): CommandSafety {
  return {
    riskLevel: levelOf(findings),
    reasons: reasonsOf(findings),
    commands: commands.map((command) => parsedCommand(command, lifted.get(command))),
    layers: layersOf(findings, lifted.size > 0),
  };
}

function parsedCommand({ span, words }: Command, allowedBy: string | undefined): ParsedCommand {
  const [program, ...args] = words.map(({ text }) => text);
  return {
    span,
    ...(program === undefined ? {} : { program }),
    args,
    ...(allowedBy === undefined ? {} : { allowedBy }),
  };
}

function unread({
  command,
  ruleId,
  message,
}: {
  readonly command: unknown;
  readonly ruleId: string;
  readonly message: string;
}): CommandSafety {
  const span = { start: 0, end: typeof command === "string" ? command.length : 0 };
  return answer({ findings: [syntax(ruleId, span, message)], commands: [], lifted: NONE });
}
