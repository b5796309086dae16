/**
 * main: one command line to one exit code. Results go to stdout, everything else to stderr; nothing
 * is thrown.
 */
import { fileURLToPath } from "node:url";
import { versionOf } from "./build-of.js";
import type { Command, Io, Outcome } from "./command.js";
import { commandNamed, readCommandLine } from "./command-line.js";
import { COMMANDS } from "./commands.js";
import { EXIT_CODES } from "./exit-codes.js";
import { exitOfError } from "./failure.js";
import { describeCommand, renderCommandHelp, renderHelp } from "./help.js";
import { inOneForm } from "./inline-command.js";
import { createPrinter } from "./printer.js";
import type { Printer } from "./printer.js";

/** Runs one command line (the words after `acp`); resolves with its exit code. Never rejects. */
export async function main(words: readonly string[], io: Io): Promise<number> {
  const argv = inOneForm(words);
  // Looked up by hand: an unreadable command line must be reported in the asked form too.
  const json = argv
    .slice(0, argv.includes("--") ? argv.indexOf("--") : argv.length)
    .includes("--json");
  const print = createPrinter({ stdout: io.stdout, stderr: io.stderr, env: io.env, json });
  try {
    const outcome = await dispatch(argv, io, print);
    return typeof outcome === "string" ? EXIT_CODES[outcome].code : outcome.exitCode;
  } catch (error) {
    print.failure(error);
    return EXIT_CODES[commandNamed(argv, COMMANDS)?.failure ?? exitOfError(error)].code;
  }
}

async function dispatch(argv: readonly string[], io: Io, print: Printer): Promise<Outcome> {
  const { command, ...line } = readCommandLine(argv, COMMANDS);
  if (line.flags.has("help")) {
    showHelp(command, print);
    return "ok";
  }
  if (line.flags.has("version")) {
    const version = versionOf(fileURLToPath(new URL("./index.js", import.meta.url)));
    print.result({ version }, () => [version]);
    return "ok";
  }
  if (command === undefined) {
    io.stderr.write(`${renderHelp(COMMANDS).join("\n")}\n`);
    return "usage";
  }
  const run = await command.load();
  return run({ ...line, io, print });
}

function showHelp(command: Command | undefined, print: Printer): void {
  if (command !== undefined)
    print.result(describeCommand(command), () => renderCommandHelp(command));
  else
    print.result({ commands: COMMANDS.map(describeCommand), exits: EXIT_CODES }, () =>
      renderHelp(COMMANDS),
    );
}
