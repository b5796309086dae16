/**
 * What `acp mcp` takes from its command line and the home's configuration.
 */
import { join } from "node:path";
import { ConsentError } from "@acp/core";
import type { Approver } from "@acp/core";
import type { Home } from "@acp/home";
import type { UpstreamConfig } from "@acp/proxy-mcp";
import type { Invocation } from "../command.js";

/** Name of the one server that the command line gives, unless it says another. */
const ONLY_SERVER = "default";

/** Everything that a gate for MCP needs to know. */
export interface McpConfig {
  readonly upstreams: readonly UpstreamConfig[];
  readonly askTimeoutMs: number;
  readonly policy: { readonly file: string; readonly mustExist: boolean };
  readonly approvers?: readonly Approver[];
  readonly groups?: Readonly<Record<string, readonly string[]>>;
}

export async function readHomeConfig(home: Home, _context: Pick<Invocation, "values" | "io">): Promise<Omit<McpConfig, "upstreams">> {
  return { askTimeoutMs: 120_000, policy: { file: join(home.dir, "policy.yml"), mustExist: false } };
}

export async function readMcpConfig({ rest, values, io }: Invocation, home: Home): Promise<McpConfig> {
  if (rest.length === 0) throw new ConsentError("config_invalid", "Cannot start: no server");
  return { upstreams: [{ name: values.server ?? ONLY_SERVER, command: rest }], ...(await readHomeConfig(home, { values, io })) };
}
