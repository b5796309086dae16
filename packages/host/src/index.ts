/** What adapters share of the machine: trusted programs, locks, terminals, web handlers. */
export { listenOnLoopback } from "./listen-on-loopback.js";
export { type FetchHandler, toNodeHandler } from "./node-handler.js";
export {
  type SocketLock,
  type SocketLockBusy,
  type SocketLockOptions,
  trySocketLock,
} from "./socket-lock.js";
export { type ProgramResult, runProgram, type RunOptions } from "./run-program.js";
export {
  hasOutput,
  type ReadableProcess,
  startProgram,
  type StartOptions,
} from "./start-program.js";
export { type AgentReach, type Distrust, trustedPath } from "./trusted-path.js";
export {
  type ProgramPlaces,
  trustedDirectories,
  trustedProgram,
  type TrustedProgram,
} from "./trusted-program.js";
export { statFields } from "./stat-fields.js";
export {
  createScreen,
  type Ink,
  type OutputStream,
  type Screen,
  type ScreenOptions,
} from "./terminal-screen.js";
