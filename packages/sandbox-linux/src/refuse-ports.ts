/** Refuse ports: without a network namespace, a port of the loopback is the host's. */
import { ConsentError } from "@acp/core";
import type { HoldOptions } from "./parts.js";

/**
 * Checks that no port of a loopback of its own is asked for.
 *
 * @throws ConsentError `options_invalid`.
 */
export function refusePorts(sandbox: string, { ports = [] }: Pick<HoldOptions, "ports">): void {
  if (ports.length === 0) return;
  throw new ConsentError(
    "options_invalid",
    `Cannot give an agent in "${sandbox}" ports of its loopback: it has the host's; use namespace`,
  );
}
