/**
 * Server identity: what the pins of an MCP server belong to. Another command, or another address,
 * is another server, whatever the configuration calls it. Format: spec/tool-pins.md §2.
 */
import type { UpstreamServer } from "@acp/home";
import { pinOf } from "@acp/proxy-mcp";
import { plainAddress } from "../servers/plain-address.js";

/**
 * The identity, `sha256:<hex>`: of its name and the words of its command, or of its address without
 * query and fragment, which is what an OAuth token for it is bound to. Variables, headers and
 * directories are none of it: secrets change.
 */
export function serverIdentity(server: UpstreamServer): string {
  if ("command" in server) return pinOf({ command: [...server.command], name: server.name }).pin;
  return pinOf({ url: plainAddress(server.url) }).pin;
}
