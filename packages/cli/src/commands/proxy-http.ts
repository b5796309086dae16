/**
 * `acp proxy http`: a gate between programs and the network. It listens on 127.0.0.1 until it is
 * told to end.
 */
import type { Invocation, Run } from "../command.js";
import { ownHomePath } from "../home/home-source.js";
import { createCounters, serveCounters } from "../http/counters.js";
import { openHttpProxy } from "../http/open-http-proxy.js";
import { choosePort, hostOffers, readPort } from "../http/settings.js";
import { readHomeConfig } from "../gate/config.js";
import { openHomeKeys } from "../gate/home-keys.js";
import { makeHome } from "../home/make-home.js";
import { checkAgentId } from "../servers/agent-id.js";
import { withGate } from "../gate/with-gate.js";

/** Who asks, where nobody says so. */
const AGENT_ID = "http-client";
/** How long requests that are under way have when the process is told to end. */
const DRAIN_MS = 10_000;

/** Runs the command. */
export const proxyHttp: Run = async (invocation) => {
  const { io, values } = invocation;
  const signal = io.onStop();
  const metricsPort = readPort("metrics", values.metrics);
  const home = await makeHome(ownHomePath(invocation));
  const source = await readHomeConfig(home, invocation);
  const defaultOffers = hostOffers(io.env, source);
  const wanted = choosePort(source, invocation);
  const homeKeys = await openHomeKeys(home, invocation);
  const accounts = source.config?.http?.agents ?? [];
  const agentId = values.agent ?? AGENT_ID;
  checkAgentId(agentId);
  // Programs come from anywhere on this machine, as whoever: the notice about isolation says what
  // that means.
  const common = {
    invocation,
    signal,
    home,
    source,
    homeKeys,
    host: { sharesUid: false },
    agentId,
  };
  await withGate({ ...common, ways: ["http"], defaultOffers }, async (inUse) => {
    const counters = createCounters();
    // Where agents have credentials, who has none is nobody, unless the command line says
    // otherwise.
    const agent = values.agent === undefined && accounts.length > 0 ? undefined : { id: agentId };
    const { proxy, port } = await openHttpProxy(
      { invocation, source, homeKeys, inUse, agent, count: counters.count },
      wanted,
    );
    try {
      await using metrics =
        metricsPort === undefined ? undefined : await serveCounters(counters, metricsPort);
      const usernames = accounts.map(({ id }) => id);
      tell(invocation, {
        port,
        usernames,
        isOpen: agent !== undefined,
        metricsPort: metrics?.port,
      });
      await aborted(signal);
      invocation.print.notice("ending: no new requests; those under way have 10 s");
    } finally {
      await proxy.close({ drainMs: signal.aborted ? DRAIN_MS : 0 });
    }
  });
  return "ok";
};

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

interface Listening {
  readonly port: number;
  readonly usernames: readonly string[];
  /** Whether somebody may ask without credentials. */
  readonly isOpen: boolean;
  readonly metricsPort: number | undefined;
}

/** Where it listens, and what a program's environment needs to find it. */
function tell({ print }: Invocation, { port, usernames, isOpen, metricsPort }: Listening): void {
  const url = `http://127.0.0.1:${port}`;
  const withName = (name: string): string =>
    `http://${encodeURIComponent(name)}:TOKEN@127.0.0.1:${port}`;
  const metrics = metricsPort === undefined ? undefined : `http://127.0.0.1:${metricsPort}/metrics`;
  print.result({ url, ...(metrics !== undefined && { metrics }), agents: usernames }, () => [
    `listening on ${url}`,
    ...(metrics === undefined ? [] : [`counters on ${metrics}`]),
    ...(isOpen ? exportLines(url) : []),
    ...usernames.flatMap((name) => [
      `# as ${name}; TOKEN is its token in the configuration`,
      ...exportLines(withName(name)),
    ]),
    "# Node programs also need: node --import @acp/proxy-http/fetch-patch agent.mjs",
  ]);
}

/**
 * Both spellings, because programs differ; and no exceptions that somebody else's environment has.
 */
function exportLines(url: string): readonly string[] {
  return [
    `export HTTP_PROXY='${url}' http_proxy='${url}'`,
    `export HTTPS_PROXY='${url}' https_proxy='${url}'`,
    "export NO_PROXY='' no_proxy=''",
  ];
}
