/** Which programs of a host no agent could have written, and the one way to start them. */
export {
  hasOutput,
  type ProgramResult,
  type ReadableProcess,
  runProgram,
  type RunOptions,
  startProgram,
  type StartOptions,
} from "./start-program.js";
export { type AgentReach, type Distrust, trustedPath } from "./trusted-path.js";
export { type ProgramPlaces, trustedDirectories, trustedProgram, type TrustedProgram } from "./trusted-program.js";
