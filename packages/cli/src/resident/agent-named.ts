/**
 * Agent named: who acts in a session, as its client's command line says it.
 */
import { AGENT_ID } from "../commands/mcp.js";
import { HTTP_AGENT_ID } from "../commands/proxy-http.js";
import { RUN_AGENT_ID } from "../run/run-gate.js";
import { valueOf } from "./places.js";

/** The agent of a command line of `acp mcp`, `acp proxy http`, `acp run` or a hook. */
export const agentNamed = (argv: readonly string[]): string =>
  valueOf(argv, "--agent") ??
  (argv[0] === "run" ? RUN_AGENT_ID : argv.includes("proxy") ? HTTP_AGENT_ID : AGENT_ID);
