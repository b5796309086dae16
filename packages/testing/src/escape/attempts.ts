/** Every attempt of the kit. */
import type { EscapeAttempt } from "./attempt.js";
import { HOST_ATTEMPTS } from "./attempts-host.js";
import { NETWORK_ATTEMPTS } from "./attempts-network.js";
import { PROCESS_ATTEMPTS } from "./attempts-processes.js";
import { PROGRAM_ATTEMPTS } from "./attempts-programs.js";
import { PROXY_ATTEMPTS } from "./attempts-proxy.js";

/** Every attempt to get out of a sandbox, as data; {@link runEscapeKit} makes them. */
export const escapeAttempts: readonly EscapeAttempt[] = [
  ...NETWORK_ATTEMPTS,
  ...PROGRAM_ATTEMPTS,
  ...HOST_ATTEMPTS,
  ...PROCESS_ATTEMPTS,
  ...PROXY_ATTEMPTS,
];
