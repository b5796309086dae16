/**
 * Own address: whether a client's settings name the address at which `acp mcp serve` of this home
 * listens.
 */
import { existsSync } from "node:fs";
import type { Invocation } from "../command.js";
import { readHomeConfig } from "../gate/config.js";
import { homeOf, homePath } from "../home/home-source.js";

/** Where nothing names a port: that of the specification's own example. */
export const DEFAULT_PORT = 8443;

const OWN_HOSTS: ReadonlySet<string> = new Set(["127.0.0.1", "localhost"]);
const OWN_PATHS: ReadonlySet<string> = new Set(["/mcp", "/sse"]);

/**
 * Makes the test of an address. Without a home nothing listens.
 *
 * @throws ConsentError what a configuration throws that does not load.
 */
export async function ownAddressTest(invocation: Invocation): Promise<(url: string) => boolean> {
  if (!existsSync(homePath(invocation)) && invocation.values.config === undefined)
    return () => false;
  const { config } = await readHomeConfig(await homeOf(invocation), invocation);
  const own = String(config?.port ?? DEFAULT_PORT);
  return (text) => {
    if (!URL.canParse(text)) return false;
    const { protocol, hostname, port, pathname } = new URL(text);
    const isHere = protocol === "http:" && OWN_HOSTS.has(hostname) && port === own;
    return isHere && OWN_PATHS.has(pathname);
  };
}
