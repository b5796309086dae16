/** `acp mcp token`: the token with which an agent reaches `acp mcp serve`; made where it has none. */
import type { Run } from "../command.js";
import { makeHome } from "../home/make-home.js";
import { ownHomePath } from "../home/home-source.js";
import { ensureToken, tokensPath } from "../mcp-http/tokens.js";
import { AGENT_ID } from "./mcp.js";

/** Runs it. */
export const mcpToken: Run = async (invocation) => {
  const [agent = AGENT_ID] = invocation.operands;
  const home = await makeHome(ownHomePath(invocation));
  const token = await ensureToken(tokensPath(home), agent);
  invocation.print.result({ agent, token }, () => [token]);
  return "ok";
};
