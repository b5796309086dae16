/**
 * Program inside: a command that this machine has and the sandbox does not show would end with 127
 * and no reason. Found out before anything starts.
 */
import {
  accessSync,
  closeSync,
  constants,
  openSync,
  readSync,
  readlinkSync,
  realpathSync,
  statSync,
} from "node:fs";
import { dirname, join, resolve } from "node:path";
import { ConsentError, escapeText } from "@acp/core";
import { systemPaths } from "@acp/sandbox-linux";
import type { Io } from "../command.js";
import type { RunPlan } from "./plan.js";

/** What decides whether a program is there. */
export interface ProgramParts {
  readonly plan: Pick<RunPlan, "argv" | "sandboxes" | "workspace" | "readable">;
  readonly io: Pick<Io, "env" | "cwd">;
}

/** Sandboxes that show a part of this machine. */
const SELECTIVE: readonly string[] = ["namespace", "landlock"];
const LINKS_MAX = 16;
const FIRST_LINE_BYTES = 256;

/**
 * Checks that what is to run is shown, with the links that lead to it and the interpreter that its
 * first line names.
 *
 * @throws ConsentError `options_invalid`, naming the `--read` that is missing. What is nowhere is
 *   left to the shell, which says so.
 */
export function checkProgramInside({ plan, io }: ProgramParts): void {
  const [program = ""] = plan.argv;
  if (!plan.sandboxes.every((name) => SELECTIVE.includes(name))) return;
  const shown = [
    ...systemPaths(),
    ...plan.readable,
    ...(plan.workspace === undefined ? [] : [plan.workspace.path]),
  ].flatMap(withReal);
  const isShown = (path: string): boolean =>
    shown.some((each) => path === each || path.startsWith(`${each}/`));
  // What is not shown is not found inside, and the next of that name is.
  const all = findAll(program, { plan, io }).map((path) =>
    stepsTo(path).filter((step) => !isShown(step)),
  );
  const [missing] = all;
  if (missing === undefined || all.some((each) => each.length === 0)) return;
  const folders = [...new Set(missing.map(folderOf))];
  const names = folders
    .filter((each) => !folders.some((other) => each.startsWith(`${other}/`)))
    .map((each) => escapeText(each));
  throw new ConsentError(
    "options_invalid",
    `Cannot run "${escapeText(program)}": the sandbox does not show it; add --read ${names.join(",")}`,
  );
}

/** As a shell inside looks for it: by the same PATH, in this order. */
function findAll(program: string, { plan, io }: ProgramParts): readonly string[] {
  const candidates = program.includes("/")
    ? [resolve(plan.workspace?.path ?? io.cwd, program)]
    : (io.env["PATH"] ?? "")
        .split(":")
        .flatMap((directory) => (directory.startsWith("/") ? [join(directory, program)] : []));
  return candidates.filter(isProgram);
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/**
 * Every path that the kernel goes through: links, what they lead to, and the interpreter of a
 * script.
 */
function stepsTo(path: string): readonly string[] {
  const links = linksFrom(path, LINKS_MAX);
  const real = realpathSync(path);
  const interpreter = interpreterOf(real);
  return [
    ...links,
    real,
    ...(interpreter === undefined || !isProgram(interpreter)
      ? []
      : [interpreter, realpathSync(interpreter)]),
  ];
}

function linksFrom(path: string, left: number): readonly string[] {
  const target = left === 0 ? undefined : linkAt(path);
  return target === undefined
    ? [path]
    : [path, ...linksFrom(resolve(dirname(path), target), left - 1)];
}

function linkAt(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined; // no link
  }
}

/** The path behind `#!`; `/usr/bin/env` looks by PATH, as a shell would. */
function interpreterOf(path: string): string | undefined {
  let fd: number | undefined;
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const bytes = Buffer.alloc(FIRST_LINE_BYTES);
    const length = readSync(fd, bytes, 0, bytes.length, 0);
    return /^#![ \t]*(\/[^\s]*)/u.exec(bytes.subarray(0, length).toString("utf8"))?.[1];
  } catch {
    return undefined; // nobody may read it: then it is no script
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

function withReal(path: string): readonly string[] {
  try {
    return [path, realpathSync(path)];
  } catch {
    return [path];
  }
}

/** What to show: a virtual environment of Python as a whole, else the directory. */
function folderOf(path: string): string {
  const folder = dirname(path);
  return isFile(join(dirname(folder), "pyvenv.cfg")) ? dirname(folder) : folder;
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}
