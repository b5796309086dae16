/** @acp/cli: the command line. A library only for those who run it inside another program. */
export type { InputStream, Io, OutputStream } from "./command.js";
export { EXIT_CODES } from "./exit-codes.js";
export type { Exit } from "./exit-codes.js";
export { main } from "./main.js";
export { runProcess } from "./run-process.js";
