/**
 * Settings of the HTTP proxy: what of the command line, the environment and the configuration file
 * it takes.
 */
import { actionDigest, ConsentError, offerHost } from "@acp/core";
import type { Agent, ConsentGate, GateOptions, HttpAction } from "@acp/core";
import type { KeyPair } from "@acp/core/proof";
import { openHttpAgentConfig } from "@acp/home";
import type { HttpAgentConfig } from "@acp/home";
import { hostApprovalTtlMs } from "@acp/proxy-http";
import type { AgentAccount, HttpConsentProxyOptions } from "@acp/proxy-http";
import type { Invocation } from "../command.js";
import { onFile } from "../failure.js";
import type { HomeConfig } from "../gate/config.js";

/** Where nothing else is said. */
const PORT = 8788;
const PORT_MAX = 65_535;

/**
 * What a yes to a request may also cover: its host, as far as `proxy.http.host_approval` says, for
 * the time that `ACP_HTTP_HOST_APPROVAL_TTL_SEC` says.
 *
 * @throws ConsentError `options_invalid`.
 */
export function hostOffers(
  env: Invocation["io"]["env"],
  { config }: Pick<HomeConfig, "config">,
): NonNullable<GateOptions["defaultOffers"]> {
  return offerHost(
    hostApprovalTtlMs(env["ACP_HTTP_HOST_APPROVAL_TTL_SEC"]),
    config?.http?.hostApproval,
  );
}

/** A model is called for as long as its agent works. */
const MODEL_MS = 12 * 3_600_000;

/** The same, and for the tunnels of a model longer. */
export function modelOffers(
  offers: NonNullable<GateOptions["defaultOffers"]>,
  tunnels: readonly HttpAction[],
): NonNullable<GateOptions["defaultOffers"]> {
  const digests = new Set(tunnels.map((action) => actionDigest(action)));
  const longer = offerHost(MODEL_MS);
  return (action) => (digests.has(actionDigest(action)) ? longer(action) : offers(action));
}

/**
 * A port of the command line; 0 takes a free one.
 *
 * @throws ConsentError `options_invalid`.
 */
export function readPort(option: "port" | "metrics", text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (!/^(?:0|[1-9][0-9]{0,4})$/.test(text) || Number(text) > PORT_MAX)
    throw new ConsentError(
      "options_invalid",
      `Cannot read --${option} "${text}": write a whole number from 0 to ${PORT_MAX}; 0 takes a free port`,
    );
  return Number(text);
}

/** Where the proxy listens: `--port`, else the configuration's, else 8788. */
export function choosePort(
  { config }: Pick<HomeConfig, "config">,
  { values }: Pick<Invocation, "values">,
): number {
  return readPort("port", values.port) ?? config?.httpPort ?? PORT;
}

/** What {@link proxyOptions} needs besides the configuration. */
export interface ProxyOptionsParts {
  readonly source: Pick<HomeConfig, "file" | "config">;
  readonly keys: KeyPair | undefined;
  /** Who asks without credentials; `undefined`: nobody may. */
  readonly agent: Agent | undefined;
  gateWith(policyFile: string): Promise<ConsentGate>;
}

/**
 * What the proxy takes from the configuration file: agents with their tokens opened and gates of
 * their own, hosts, and what is required.
 *
 * @throws ConsentError naming the file.
 */
export function proxyOptions(
  parts: ProxyOptionsParts,
): Promise<Omit<HttpConsentProxyOptions, "gate">> {
  const { source, agent } = parts;
  return onFile(source.file, async () => {
    const { privateHosts, http = {} } = source.config ?? {};
    const { agents, attribution, requireSni, upgradeHosts } = http;
    return {
      ...(agent !== undefined && { agent }),
      ...(agents !== undefined && {
        agents: await Promise.all(agents.map((each, index) => accountOf(parts, each, index))),
      }),
      ...(attribution !== undefined && { attribution }),
      ...(privateHosts !== undefined && { privateHosts }),
      ...(requireSni !== undefined && { requireSni }),
      ...(upgradeHosts !== undefined && { upgradeHosts }),
    };
  });
}

async function accountOf(
  { keys, gateWith }: ProxyOptionsParts,
  config: HttpAgentConfig,
  index: number,
): Promise<AgentAccount> {
  const { id, token, policyPath } = openHttpAgentConfig(config, index, keys);
  const gate = policyPath === undefined ? undefined : await gateWith(policyPath);
  return { agent: { id }, username: id, token, ...(gate !== undefined && { gate }) };
}
