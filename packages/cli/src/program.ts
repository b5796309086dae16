/**
 * Program: the whole command line, built as one file with every package and library in it, because
 * finding and opening each file by itself is most of what a start takes. See start-run.ts.
 */
export { runProcess } from "./run-process.js";
