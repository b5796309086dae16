/** @acp/cli: the command line. A library only for those who run it inside another program. */
export type { Command, CommandLine, Invocation, Io, Run } from "./command.js";
export { COMMANDS } from "./commands.js";
export { EXIT_CODES } from "./exit-codes.js";
export type { Exit } from "./exit-codes.js";
export { main } from "./main.js";
export type { Option, OptionName } from "./options.js";
export type { Printer, Tone } from "./printer.js";
export { runProcess } from "./run-process.js";
