/**
 * HubCommand: a command and its circumstances as an Action, bound to the bytes, the real directory,
 * the shell and the environment it would run with.
 */
import { realpath, stat } from "node:fs/promises";
import { isAbsolute, relative, resolve } from "node:path";
import { type Denied, quoteText, type ShellAction, shellAction } from "@acp/core";
import { isHarmlessVariable } from "@acp/core/exec";
import { makeEnvironment, type Variables } from "./environment.js";
import { BASH } from "./executor/run-shell.js";
import { refuse } from "./hub-refusal.js";
import type { ExecContext } from "./hub-options.js";
import type { ApprovedSource } from "./run-approved.js";

/** What commands of a hub share. */
export interface CommandTerms {
  /** Absolute, without symbolic links; `undefined` where each call's directory is its project. */
  readonly projectRoot: string | undefined;
  readonly variables: () => Variables;
}

/** A command that can be judged. */
export interface PreparedCommand {
  readonly action: ShellAction;
  readonly source: ApprovedSource;
}

const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);
const DIRECTORY_REMEDY = "Call again with a directory of the project that exists";

function isBelow(path: string, root: string): boolean {
  const way = relative(root, path);
  return way !== ".." && !way.startsWith("../") && !isAbsolute(way);
}

/** The real directory, or why the command cannot run there. */
async function directoryOf(
  cwd: string | undefined,
  projectRoot: string | undefined,
): Promise<string | Denied> {
  const refuseDirectory = (why: string): Denied =>
    refuse(
      "action_invalid",
      cwd === undefined ? why : `the working directory ${quoteText(cwd)} ${why}`,
      DIRECTORY_REMEDY,
    );
  if (projectRoot === undefined && (cwd === undefined || !isAbsolute(cwd)))
    return cwd === undefined
      ? refuseDirectory("no working directory is named")
      : refuseDirectory("is not absolute");
  if (cwd?.includes("\u0000") === true) return refuseDirectory("has a NUL character");
  const wanted = resolve(projectRoot ?? "/", cwd ?? ".");
  const real = await realpath(wanted).catch(() => undefined);
  if (real === undefined) return refuseDirectory("does not exist or cannot be entered");
  if (projectRoot !== undefined && !isBelow(real, projectRoot))
    return refuseDirectory(`is outside the project ${quoteText(projectRoot)}`);
  const found = await stat(real).catch(() => undefined);
  return found?.isDirectory() === true ? real : refuseDirectory("is not a directory");
}

/**
 * Why a call's own variables cannot be taken, where they cannot. Whoever sets `PATH` or `HOME` says
 * what a safe command runs; before the command, in its text, a variable is judged and shown.
 */
function variablesProblem(env: Variables): Denied | undefined {
  const name = Object.keys(env).find(
    (each) => env[each] !== undefined && !isHarmlessVariable(each, env[each]),
  );
  if (name === undefined) return undefined;
  const remedy =
    "Write it before the command, as in NAME=value command, so that it is judged and shown";
  return refuse(
    "action_invalid",
    `the variable ${quoteText(name)} may change what the command does`,
    remedy,
  );
}

async function prepare(
  command: string,
  { cwd, shell = BASH, env = {} }: ExecContext,
  { projectRoot, variables }: CommandTerms,
): Promise<PreparedCommand | Denied> {
  if (shell !== BASH)
    return refuse(
      "action_invalid",
      `commands are judged for ${BASH}, not for ${quoteText(shell)}`,
      `Write the command for ${BASH}`,
    );
  const problem = variablesProblem(env);
  if (problem !== undefined) return problem;
  const directory = await directoryOf(cwd, projectRoot);
  if (typeof directory !== "string") return directory;
  const source: ApprovedSource = () => ({
    variables: { ...variables(), ...env },
    projectRoot: projectRoot ?? directory,
  });
  const { digest } = await makeEnvironment({ ...source(), cwd: directory });
  return { action: shellAction(command, { cwd: directory, shell, envDigest: digest }), source };
}

/** Binds a command to its circumstances. Never rejects: what cannot be bound is denied. */
export async function prepareCommand(
  command: string,
  context: ExecContext,
  terms: CommandTerms,
): Promise<PreparedCommand | Denied> {
  try {
    return await prepare(command, context, terms);
  } catch (error) {
    return refuse(
      "action_invalid",
      messageOf(error),
      "Call again with a command that is plain text of at least one character",
    );
  }
}
