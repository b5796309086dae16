/**
 * Git repository: which one a call of git finds. The project's own is the person's; below it a
 * clone can hold one as plain files, whose settings name programs that `git status` runs.
 */
import { textOf } from "../safe/argument.js";
import type { Argument, ProgramCall } from "../safe/argument.js";
import type { Edit } from "../findings.js";
import { GUARDING, areAllGuards } from "../config/git-guards.js";
import { resolveInside } from "../safe/paths.js";
import type { RunPlace } from "../config/run-place.js";
import { say } from "./judged-call.js";
import type { JudgedCall } from "./judged-call.js";

/** Subcommands that look for no repository. */
const ALONE: ReadonlySet<string> = new Set(["version", "check-ref-format"]);
const WHY = "may find a repository that came as files of the project, whose settings run programs";

const BARRED =
  "keeps git out of repositories that came as files, and from running hooks, file monitors and pagers that one names";

/**
 * Reports a call that may work in another repository than the project's own, and runs what that one
 * names.
 */
export function checkRepository(
  { args, span }: Pick<ProgramCall, "args" | "span">,
  of: JudgedCall,
): void {
  const { place } = of;
  if (place.isGuarded === true) return;
  const { subcommand, settings, inside } = readGlobal(args, place);
  if (
    subcommand === undefined ||
    ALONE.has(textOf(subcommand) ?? "") ||
    inside === "" ||
    areAllGuards(settings)
  )
    return;
  const guards: Edit = {
    at: span.start + of.program.length,
    behind: of.program,
    text: ` ${GUARDING}`,
    reason: BARRED,
  };
  say(of, { topic: "exec", text: WHY }, { span, edits: [guards] });
}

interface GlobalFlags {
  readonly subcommand: Argument | undefined;
  /** Values of `-c`. */
  readonly settings: ReadonlySet<string>;
  /** Where it works, below the project's root; undefined where that is not known. */
  readonly inside: string | undefined;
}

/** What stands before the subcommand. A word that is not known may be anything, `-C` too. */
function readGlobal(args: readonly Argument[], place: RunPlace): GlobalFlags {
  const settings = new Set<string>();
  const { projectRoot, trustedWorkspace } = place;
  let { inside } = place;
  let at = 0;
  for (; at < args.length; at += 1) {
    const text = textOf(args[at]);
    if (text?.startsWith("-") !== true) break;
    if (text !== "-C" && text !== "-c") continue;
    at += 1;
    const value = textOf(args[at]);
    if (text === "-c") settings.add(value ?? "");
    else
      inside =
        value === undefined
          ? undefined
          : resolveInside(value, { projectRoot, trustedWorkspace, inside });
  }
  return { subcommand: args[at], settings, inside };
}
