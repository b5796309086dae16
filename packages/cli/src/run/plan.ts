/**
 * Plan: what the options of `acp run` ask for, checked before anything is opened.
 */
import { realpathSync } from "node:fs";
import { relative, resolve } from "node:path";
import { ConsentError, nearest } from "@acp/core";
import type { SandboxLevel } from "@acp/core";
import { LINUX_SANDBOXES } from "@acp/sandbox-linux";
import type { LinuxSandboxName, Workspace } from "@acp/sandbox-linux";
import type { Invocation } from "../command.js";
import { readMemorySize } from "./memory-size.js";

/** Levels that hold something, best first. */
export const BARRIERS: readonly SandboxLevel[] = ["full", "uid", "partial"];

/** What to start, and in what. */
export interface RunPlan {
  readonly argv: readonly string[];
  /** Backends to try, in this order. */
  readonly sandboxes: readonly LinuxSandboxName[];
  /** The least level; left out where the command line names a backend and no level. */
  readonly requiredLevel?: SandboxLevel;
  readonly speaksMcp: boolean;
  /** Left out: the command works in its user's home. */
  readonly workspace?: Workspace;
  readonly readable: readonly string[];
  readonly user?: string;
  /** Whose home holds that of acp, as in ACP v0.3 §7.2. */
  readonly openclawUser?: string;
  /** Names of further variables for the agent. */
  readonly env: readonly string[];
  readonly unixSockets: "none" | "private";
  readonly dns: "closed" | "system";
  /** Ports of this machine that are open to the agent. */
  readonly hostPorts: readonly number[];
  /** Name of a home that stays; left out: it is gone when the command has ended. */
  readonly privateHome?: string;
  /** Bytes of memory: of all processes together where this host can limit that, else of each. */
  readonly memoryBytes?: number;
  /** Where the command's model answers; left out: what its name and its variables tell. */
  readonly modelHosts?: readonly string[];
}

/** What of a command line a plan needs. */
export type PlanContext = Pick<Invocation, "values" | "flags" | "rest" | "io">;

/**
 * Reads it.
 *
 * @throws ConsentError `options_invalid`, saying what to write instead.
 */
export function readPlan({ values, flags, rest, io }: PlanContext): RunPlan {
  if (rest.length === 0 || rest[0] === "")
    throw usage('Cannot run: there is no command; write "acp run -- COMMAND"');
  const { user: named, "openclaw-user": openclawUser } = values;
  const sandbox =
    oneOf("sandbox", values.sandbox, ["auto", ...LINUX_SANDBOXES]) ??
    (openclawUser === undefined ? "auto" : "uid");
  const user = openclawUser ?? named;
  const dns = oneOf("dns", values.dns, ["system"]) ?? "closed";
  checkTogether({ sandbox, dns }, values);
  if (flags.has("review")) checkReview(sandbox, flags, values);
  const requiredLevel =
    oneOf("require", values.require, BARRIERS) ?? (sandbox === "auto" ? "partial" : undefined);
  const access = flags.has("review")
    ? "overlay"
    : flags.has("read-only")
      ? "read-only"
      : "read-write";
  const workspace = values.workspace ?? (openclawUser === undefined ? "." : undefined);
  return {
    argv: rest,
    // Not uid: that one changes the rules of the host's network, which a person must have said.
    sandboxes:
      sandbox === "auto"
        ? access === "overlay"
          ? ["namespace"]
          : ["namespace", "landlock"]
        : [sandbox],
    ...(requiredLevel !== undefined && { requiredLevel }),
    speaksMcp: oneOf("mcp", values.mcp, ["stdio"]) !== undefined,
    ...(workspace !== undefined && {
      workspace: readWorkspace(realOf(resolve(io.cwd, workspace)), access, values.write),
    }),
    readable: listOf("read", values.read).map((path) => resolve(io.cwd, path)),
    ...(user !== undefined && { user }),
    ...(openclawUser !== undefined && { openclawUser }),
    env: listOf("env", values.env),
    unixSockets: flags.has("unix-sockets") ? "private" : "none",
    dns,
    hostPorts: [...new Set(listOf("host-port", values["host-port"]).map(readPort))],
    ...(values["private-home"] !== undefined && { privateHome: readName(values["private-home"]) }),
    ...(values.memory !== undefined && { memoryBytes: readMemorySize(values.memory) }),
    ...(values["model-host"] !== undefined && { modelHosts: readModelHosts(values["model-host"]) }),
  };
}

function readName(text: string): string {
  if (/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/u.test(text)) return text;
  throw usage(
    `Cannot keep a home named "${text}": write letters, digits, dots, dashes and underscores, 64 at most`,
  );
}

function readModelHosts(text: string): readonly string[] {
  return text === "none" ? [] : listOf("model-host", text);
}

function readPort(text: string): number {
  const port = /^[1-9][0-9]{3,4}$/u.test(text) ? Number(text) : Number.NaN;
  if (port >= 1024 && port <= 65_535) return port;
  throw usage(`Cannot open port "${text}": write a number from 1024 to 65535, such as 5432`);
}

/**
 * Inside, links above a workspace are not there: it works, and is named, where it really is. What
 * is not there is refused later, by this name.
 */
function realOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

function readWorkspace(
  path: string,
  access: Workspace["access"],
  write: string | undefined,
): Workspace {
  if (write === undefined) return { path, access };
  if (access === "read-only")
    throw usage("Cannot use --write with --read-only: nothing is written then");
  const writable = listOf("write", write).map((each) => resolve(path, each));
  const outside = writable.find((each) => relative(path, each).startsWith(".."));
  if (outside !== undefined)
    throw usage(`Cannot make "${outside}" writable: it is not in the workspace "${path}"`);
  return { path, access, writable };
}

/** What says two things at once is refused. */
function checkTogether(
  { sandbox, dns }: Pick<RunPlan, "dns"> & { readonly sandbox: string },
  values: PlanContext["values"],
): void {
  if (dns === "system" && sandbox !== "uid")
    throw usage("Cannot use --dns: it belongs to --sandbox uid");
  if (values["host-port"] !== undefined && !["auto", "namespace"].includes(sandbox))
    throw usage(
      `Cannot use --host-port with --sandbox ${sandbox}: only in namespace localhost is the command's own`,
    );
  if (values["private-home"] !== undefined && !["auto", "namespace", "landlock"].includes(sandbox))
    throw usage(
      `Cannot use --private-home with --sandbox ${sandbox}: the command has its user's home there`,
    );
  if (values.memory !== undefined && !["auto", "namespace", "landlock"].includes(sandbox))
    throw usage(
      `Cannot use --memory with --sandbox ${sandbox}: only namespace and landlock limit it`,
    );
  if (values["openclaw-user"] === undefined) return;
  if (values.write !== undefined && values.workspace === undefined)
    throw usage("Cannot use --write without a workspace: name one with --workspace");
  if (sandbox !== "uid")
    throw usage(`Cannot use --openclaw-user with --sandbox ${sandbox}: it runs in sandbox uid`);
  for (const name of ["user", "home"] as const)
    if (values[name] !== undefined)
      throw usage(
        `Cannot use --openclaw-user with --${name}: it says both who runs and where the home is`,
      );
}

/** Only namespace has an overlay, and it is of the whole workspace. */
function checkReview(
  sandbox: string,
  flags: PlanContext["flags"],
  values: PlanContext["values"],
): void {
  if (flags.has("read-only"))
    throw usage("Cannot use --review with --read-only: nothing is written then");
  if (values.write !== undefined)
    throw usage("Cannot use --review with --write: nothing of the workspace is written");
  if (!["auto", "namespace"].includes(sandbox))
    throw usage(`Cannot use --review with --sandbox ${sandbox}: only namespace has an overlay`);
}

function usage(message: string, suggestion?: string): ConsentError {
  return new ConsentError(
    "options_invalid",
    message,
    suggestion === undefined ? {} : { suggestion },
  );
}

/** A word of a closed list. */
function oneOf<const T extends string>(
  option: string,
  text: string | undefined,
  words: readonly T[],
): T | undefined {
  if (text === undefined) return undefined;
  const word = words.find((each) => each === text);
  if (word === undefined)
    throw usage(
      `Cannot read --${option} "${text}": write ${words.join(", ")}`,
      nearest(text, words),
    );
  return word;
}

function listOf(option: string, text: string | undefined): readonly string[] {
  const entries = text?.split(",") ?? [];
  if (entries.includes("")) throw usage(`Cannot read --${option} "${text}": an entry is empty`);
  return entries;
}
