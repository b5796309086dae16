/**
 * `acp mcp`, `acp mcp serve` and `acp proxy http` where they are no thin clients of the resident, which
 * come before this: with a gate of this process's own, or with a terminal at which a person is asked.
 */
import { ConsentError } from "@acp/core";
import { serveMcpAlone, serveMcpHttpAlone, serveProxyAlone } from "../alone/serve-alone.js";
import type { Invocation, Outcome, Run } from "../command.js";
import { isAlone } from "../is-alone.js";

/** Runs `acp mcp`. Whoever has not chosen a gate of its own gets none. */
export const mcp: Run = async (invocation) => {
  const { flags } = invocation;
  if (flags.has("resident") && flags.has("alone"))
    throw new ConsentError(
      "options_invalid",
      "Cannot use --resident with --alone, which has a gate of its own",
    );
  return isAlone(invocation) ? serveMcpAlone(invocation) : atTerminal(invocation, "mcp");
};

/** Runs `acp proxy http`, likewise. */
export const proxyHttp: Run = async (invocation) =>
  isAlone(invocation) ? serveProxyAlone(invocation) : atTerminal(invocation, "proxy http");

/** Runs `acp mcp serve`, likewise. */
export const mcpServe: Run = async (invocation) =>
  isAlone(invocation) ? serveMcpHttpAlone(invocation) : atTerminal(invocation, "mcp serve");

const FIRST = {
  mcp: "mcp as its first word",
  "mcp serve": "mcp serve as its first words",
  "proxy http": "proxy http as its first words",
};

async function atTerminal(invocation: Invocation, name: keyof typeof FIRST): Promise<Outcome> {
  if (!invocation.flags.has("tty"))
    throw new ConsentError(
      "options_invalid",
      `Cannot use the resident gate: run the program acp, with ${FIRST[name]}; or give --alone`,
    );
  const { serveAtTerminal } = await import("../resident/at-terminal.js");
  return serveAtTerminal(invocation);
}
