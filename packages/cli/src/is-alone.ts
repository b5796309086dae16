/**
 * Is alone: whether somebody chose a gate of this process's own, beside the resident of the home.
 */
import type { Invocation } from "./command.js";

/** By an option, or by the environment. */
export const isAlone = ({ io, flags }: Pick<Invocation, "io" | "flags">): boolean =>
  flags.has("alone") || (io.env["ACP_ALONE"] === "1" && !flags.has("resident"));
