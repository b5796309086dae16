/**
 * Open the HTTP proxy of a gate, on 127.0.0.1 alone.
 */
import { ConsentError } from "@acp/core";
import type { Agent, ConsentGate } from "@acp/core";
import { createHttpConsentProxy } from "@acp/proxy-http";
import type { HttpConsentProxy, HttpConsentProxyOptions } from "@acp/proxy-http";
import type { Invocation } from "../command.js";
import { onFile } from "../failure.js";
import type { HomeConfig } from "../gate/config.js";
import type { HomeKeys } from "../gate/home-keys.js";
import type { GateInUse } from "../gate/with-gate.js";
import { createProxyLog } from "./proxy-log.js";
import { proxyOptions } from "./settings.js";

/** Parts of the proxy. */
export interface HttpProxyParts {
  readonly invocation: Invocation;
  readonly source: HomeConfig;
  readonly homeKeys: HomeKeys;
  readonly inUse: GateInUse;
  /** Who asks without credentials; `undefined`: nobody may. */
  readonly agent: Agent | undefined;
  /** Decides instead of the gate in use, with what it was asked before. */
  readonly gate?: HttpConsentProxyOptions["gate"];
  /** What stands before the gate in use, and before those of agents with policies of their own. */
  readonly around?: (gate: ConsentGate) => ConsentGate;
  readonly count?: HttpConsentProxyOptions["count"];
  /** Ports on which somebody else listens for the proxy. */
  readonly ownPorts?: HttpConsentProxyOptions["ownPorts"];
  /** Takes what is to be said; on stderr unless given. */
  readonly log?: NonNullable<HttpConsentProxyOptions["log"]>;
  /** Names that a CONNECT of an attached socket reaches. */
  readonly internal?: HttpConsentProxyOptions["internal"];
}

/**
 * Makes the proxy of a gate; it listens nowhere.
 *
 * @throws ConsentError `config_invalid` or `options_invalid`, naming the file.
 */
export async function makeHttpProxy(parts: HttpProxyParts): Promise<HttpConsentProxy> {
  const { invocation, source, homeKeys, inUse, agent, count, internal, ownPorts } = parts;
  const { around = (given) => given } = parts;
  const gate = parts.gate ?? around(inUse.gate);
  const options = await proxyOptions({
    source,
    keys: homeKeys.keys,
    agent,
    gateWith: async (file) => around(await inUse.gateWith(file)),
  });
  const log =
    parts.log ?? createProxyLog({ print: invocation.print, stderr: invocation.io.stderr });
  const more = {
    ...(count !== undefined && { count }),
    ...(internal !== undefined && { internal }),
    ...(ownPorts !== undefined && { ownPorts }),
  };
  return onFile(source.file, () => createHttpConsentProxy({ ...options, gate, log, ...more }));
}

/**
 * Has it listen; where it cannot, it is closed.
 *
 * @returns The port.
 * @throws ConsentError `options_invalid`; {@link isTaken} tells whether somebody else has the port.
 */
export async function listenAt(proxy: HttpConsentProxy, port: number): Promise<number> {
  try {
    return (await proxy.listen({ port })).port;
  } catch (cause) {
    await proxy.close();
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new ConsentError("options_invalid", `Cannot listen on 127.0.0.1 port ${port}: ${why}`, {
      cause,
    });
  }
}

/** Whether listening failed because somebody else does already. */
function isTaken(error: unknown): boolean {
  const cause: unknown = error instanceof Error ? error.cause : undefined;
  return cause instanceof Error && "code" in cause && cause.code === "EADDRINUSE";
}

/**
 * Opens it beside `acp mcp`, where config.yml has a port for it. Every client starts a gate of its
 * own: the first has the port, and that is no reason for the others not to start.
 */
export async function openHttpBeside(parts: HttpProxyParts): Promise<AsyncDisposable> {
  const { source, inUse } = parts;
  const { httpPort, http } = source.config ?? {};
  const nothing = { [Symbol.asyncDispose]: (): Promise<void> => Promise.resolve() };
  if (httpPort === undefined) return nothing;
  try {
    const agent = http?.agents === undefined ? parts.agent : undefined;
    const proxy = await makeHttpProxy({ ...parts, agent });
    const port = await listenAt(proxy, httpPort);
    await inUse.notices.say("http_proxy", `The HTTP proxy listens on http://127.0.0.1:${port}`);
    return { [Symbol.asyncDispose]: () => proxy.close() };
  } catch (error) {
    if (!isTaken(error)) throw error;
    await inUse.notices.say(
      "http_proxy",
      `This gate has no HTTP proxy: another program is listening on port ${httpPort}`,
    );
    return nothing;
  }
}
