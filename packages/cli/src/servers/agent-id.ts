/**
 * Agent id: what an MCP server is called where it asks for the network, which no agent may be
 * called. On the way of every start: it loads nothing else.
 */
import { ConsentError } from "@acp/core";

const PREFIX = "server:";

/** What a server is called where it asks for the network. */
export function serverAgentId(name: string): string {
  return `${PREFIX}${name}`;
}

/** What no screen shows as it is: control and format characters, line and paragraph separators. */
const UNSEEN = /[\p{C}\p{Zl}\p{Zp}]/u;

/**
 * Checks that an agent is not called as a server is, and that people can read its name.
 *
 * @throws ConsentError `options_invalid`.
 */
export function checkAgentId(id: string): void {
  if (id.trim() === "" || UNSEEN.test(id))
    throw new ConsentError(
      "options_invalid",
      `Cannot call an agent ${JSON.stringify(id)}: it is empty or has invisible characters`,
    );
  if (!id.startsWith(PREFIX)) return;
  throw new ConsentError(
    "options_invalid",
    `Cannot call an agent "${id}": names that begin with "${PREFIX}" are those of MCP servers`,
  );
}
