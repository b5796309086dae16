/**
 * Judge: what the exec engine and the profile say about the command of a hook's event, and which
 * text would be safe in its stead.
 */
import { isAbsolute, normalize } from "node:path";
import { shellAction } from "@acp/core";
import type { Ruling, ShellAction } from "@acp/core";
import type { CommandLine, Io } from "../command.js";
import { readExecProfile } from "../exec/exec-profile.js";
import type { HookTerms } from "./gate.js";
import { broken } from "./protocols.js";
import type { HookCall } from "./protocols.js";
import type { CommandPlace } from "../exec/command-place.js";

/** Whose hook it is: its own command line, environment and directory, whoever answers for it. */
export interface HookCaller extends Pick<CommandLine, "values" | "operands"> {
  readonly io: Pick<Io, "env" | "cwd"> & { readonly stdin: AsyncIterable<unknown> };
}

/** A command, judged. */
export interface Judged {
  readonly action: ShellAction;
  readonly terms: HookTerms;
  readonly ruling: Ruling;
  /** A text that says the same and would be safe. */
  readonly rewrite?: { readonly command: string; readonly reason: string };
}

/**
 * Judges a command.
 *
 * @throws ConsentError where the profile does not load or the event cannot be judged.
 */
export async function judgeCall(caller: HookCaller, call: HookCall): Promise<Judged> {
  const { evaluateCommandSafety, evaluateShellAction, execSafety } = await import("@acp/core/exec");
  const { config, file } = await readExecProfile(caller);
  // The engine takes no system's folder and no home for a project, though the agent was opened
  // there: everything in it would be the project's.
  const isProject = (folder: string): boolean =>
    evaluateCommandSafety("cat a", { cwd: folder }).riskLevel === "safe";
  const { cwd, ...project } = placeOf(call, caller, isProject);
  const judge = (command: string): Omit<Judged, "terms"> => {
    const action = shellAction(command, {
      cwd,
      ...(call.shell === undefined ? {} : { shell: call.shell }),
    });
    const ruling = execSafety(config, project).judge(action, { agent: { id: "hook" }, nowMs: 0 });
    if (ruling === undefined) throw broken("nothing judges it");
    if (ruling.effect === "allow") return { action, ruling };
    const { rewrite } = evaluateShellAction(action, config, project);
    return { action, ruling, ...(rewrite === undefined ? {} : { rewrite }) };
  };
  const { rewrite, ...judged } = judge(call.command);
  // What the engine offers counts only if it passes by itself.
  const holds = rewrite !== undefined && judge(rewrite.command).ruling.effect === "allow";
  return {
    ...judged,
    terms: { config, isTimed: file !== undefined, ...project },
    ...(holds ? { rewrite } : {}),
  };
}

function placeOf(
  call: HookCall,
  { values, io }: HookCaller,
  isProject: (folder: string) => boolean,
): CommandPlace {
  const cwd = normalize(call.cwd ?? call.roots[0] ?? io.cwd);
  if (!isAbsolute(cwd)) throw broken(`its directory "${cwd}" is not an absolute path`);
  const roots = call.roots.filter((each) => !isAbsolute(each) || isProject(normalize(each)));
  const root =
    values.project ?? roots.find((each) => isAbsolute(each) && isBelow(cwd, each)) ?? roots[0];
  if (root === undefined) return { cwd };
  if (!isAbsolute(root)) throw broken(`the project "${root}" is not an absolute path`);
  return { cwd, projectRoot: normalize(root) };
}

function isBelow(path: string, root: string): boolean {
  const [inner, outer] = [normalize(`${path}/`), normalize(`${root}/`)];
  return inner.startsWith(outer);
}
