/**
 * Agent id: what an MCP server is called where it asks for the network, which no agent may be called. On the way of every start: it loads nothing else.
 */
import { ConsentError } from "@acp/core";

const PREFIX = "server:";

/** What a server is called where it asks for the network. */
export function serverAgentId(name: string): string {
  return `${PREFIX}${name}`;
}

/**
 * Checks that an agent is not called as a server is.
 *
 * @throws ConsentError `options_invalid`.
 */
export function checkAgentId(id: string): void {
  if (!id.startsWith(PREFIX)) return;
  throw new ConsentError("options_invalid", `Cannot call an agent "${id}": names that begin with "${PREFIX}" are those of MCP servers`);
}
