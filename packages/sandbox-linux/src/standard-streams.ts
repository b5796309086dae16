/** Standard streams: which of an agent's are pipes of the manager's. */
import type { SandboxSpawnOptions } from "@acp/core";

/** Standard input, output and error. */
export type StandardStreams = readonly ["pipe" | "inherit", "pipe" | "inherit", "pipe" | "inherit"];

/** As the caller wants them; those of the manager unless said. */
export function standardStreams({
  stdio = "inherit",
  stderr = "inherit",
}: Pick<SandboxSpawnOptions, "stdio" | "stderr">): StandardStreams {
  return [stdio, stdio, stderr];
}
