/**
 * Start run: loads the whole program for `acp run` from one file, compiled as an earlier run left
 * it where that can be trusted. See run/kept-code.ts.
 */
import { closeSync, fstatSync, openSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { Script } from "node:vm";
import { codeDirectory } from "@acp/sandbox-linux";
import { openKeptCode } from "./run/kept-code.js";
import type { KeptCode, ProgramFile } from "./run/kept-code.js";

const PROGRAM: string = fileURLToPath(new URL("./program.cjs", import.meta.url));

/** What program.ts exports. */
interface Program {
  readonly runProcess: () => Promise<void>;
}

/**
 * Runs the process's own arguments, which are those of `acp run`, and sets its exit code.
 *
 * @throws Error where the built program is not there.
 */
export function startRun(): Promise<void> {
  const { text, ...program } = readProgram();
  const kept = (): KeptCode | undefined => {
    const directory = codeDirectory();
    return directory === undefined ? undefined : openKeptCode(directory, program);
  };
  const code = kept()?.code;
  const script = new Script(`(function (exports, require, module, __filename) {${text}\n})`, {
    filename: PROGRAM,
    ...(code !== undefined && { cachedData: code }),
  });
  // Only after a run has V8 compiled what the next one needs, and the first run makes the place.
  if (script.cachedDataRejected !== false)
    process.once("exit", (exitCode) => {
      if (exitCode === 0 && startsCommand(process.argv.slice(2))) kept()?.keep(script);
    });
  const evaluate: unknown = script.runInThisContext();
  const module: { exports: Partial<Program> } = { exports: {} };
  if (isWrapped(evaluate)) evaluate(module.exports, createRequire(PROGRAM), module, PROGRAM);
  const { runProcess } = module.exports;
  if (runProcess === undefined) throw new Error(`Cannot start: "${PROGRAM}" is not the program`);
  return runProcess();
}

/** A program in CommonJS, in the function that gives it its names. */
type Wrapped = (...given: readonly [object, NodeJS.Require, object, string]) => void;

function isWrapped(value: unknown): value is Wrapped {
  return typeof value === "function";
}

/** Text of one byte a character: the build has left no other. */
function readProgram(): ProgramFile & { readonly text: string } {
  const fd = openSync(PROGRAM, "r");
  try {
    const stats = fstatSync(fd, { bigint: true });
    return { path: PROGRAM, stats, text: readFileSync(fd, "latin1") };
  } finally {
    closeSync(fd);
  }
}

/** Whether it was more than a question for help. */
function startsCommand(argv: readonly string[]): boolean {
  const end = argv.indexOf("--");
  return end !== -1 && !argv.slice(0, end).some((word) => /^(?:-h|--help|--version)$/u.test(word));
}
