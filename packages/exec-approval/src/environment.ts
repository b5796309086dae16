/**
 * Environment: the variables that an approved command runs with, and their digest, which stands in
 * the Action: other variables, other question. What could make the judged text mean something else
 * is dropped. Format: spec/exec-approval.md.
 */
import { realpath } from "node:fs/promises";
import { delimiter, isAbsolute, relative, resolve } from "node:path";
import { sha256Digest } from "@acp/core";
import {
  DROPPED_NAMES,
  DROPPED_PREFIXES,
  FALLBACK_PATH,
  SET_VARIABLES,
} from "./environment-names.js";
import { gitOverrides } from "./executor/git-config.js";

/** Environment variables by name; `undefined` means that there is no such variable. */
export type Variables = Readonly<Record<string, string | undefined>>;

/** What an environment is made of. */
export interface EnvironmentSource {
  readonly variables: Variables;
  /** The directory in which the command runs; absolute, without symbolic links. */
  readonly cwd: string;
  /** No program of this directory is found by its name; absolute, without symbolic links. */
  readonly projectRoot: string;
}

/** The environment of one run. */
export interface ExecEnvironment {
  readonly variables: Readonly<Record<string, string>>;
  /** `sha256:<hex>` over the variables as canonical JSON, sorted by name. */
  readonly digest: string;
}

const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

function isKept(name: string): boolean {
  return (
    NAME.test(name) &&
    !DROPPED_NAMES.has(name) &&
    !DROPPED_PREFIXES.some((prefix) => name.startsWith(prefix))
  );
}

/** The variables without those that change what a command means; `PATH` is not looked at. */
export function scrubVariables(variables: Variables): Readonly<Record<string, string>> {
  const kept = Object.entries(variables).flatMap(([name, value]) =>
    value !== undefined && isKept(name) && !value.includes("\u0000")
      ? [[name, value] as const]
      : [],
  );
  return { ...Object.fromEntries(kept), ...SET_VARIABLES };
}

function isInside(path: string, root: string): boolean {
  const way = relative(root, path);
  return way === "" || !(way === ".." || way.startsWith("../") || isAbsolute(way));
}

/**
 * Whether a directory of the search path is the system's or the user's, and not one that the agent
 * works in.
 */
async function isOutside(entry: string, root: string): Promise<boolean> {
  if (!isAbsolute(entry) || isInside(resolve(entry), root)) return false;
  // What does not exist leads nowhere; what cannot be looked at may lead into the project.
  const real = await realpath(entry).catch((error: NodeJS.ErrnoException) =>
    error.code === "ENOENT" ? entry : root,
  );
  return !isInside(real, root);
}

/** The search path with its absolute directories outside the project, in their order. */
export async function scrubPath(path: string | undefined, projectRoot: string): Promise<string> {
  const entries = (path ?? "").split(delimiter);
  const outside = await Promise.all(entries.map((entry) => isOutside(entry, projectRoot)));
  const kept = entries.filter((_entry, at) => outside[at] === true);
  return kept.length === 0 ? FALLBACK_PATH : kept.join(delimiter);
}

/**
 * Makes the environment of one run. Made again from the same source it has the same digest, unless
 * something changed meanwhile.
 */
export async function makeEnvironment({
  variables,
  cwd,
  projectRoot,
}: EnvironmentSource): Promise<ExecEnvironment> {
  const scrubbed = {
    ...scrubVariables(variables),
    PATH: await scrubPath(variables["PATH"], projectRoot),
  };
  const overrides = await gitOverrides({ cwd, variables: scrubbed });
  const all = { ...scrubbed, ...overrides };
  const sorted = Object.fromEntries(Object.entries(all).sort(([a], [b]) => (a < b ? -1 : 1)));
  return { variables: Object.freeze(sorted), digest: sha256Digest(sorted) };
}
