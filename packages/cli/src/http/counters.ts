/**
 * Counters: what the proxy counts, as text that Prometheus reads, on a port of this machine.
 */
import { createServer } from "node:http";
import type { Server } from "node:http";
import { listenOnLoopback } from "@acp/host";
import type { ProxyCount } from "@acp/proxy-http";

/** Counters since the start. */
export interface Counters {
  readonly count: (count: ProxyCount) => void;
  /** Prometheus text format 0.0.4. */
  render(): string;
}

const HELP: Readonly<Record<ProxyCount["name"], string>> = {
  requests: "Requests other than CONNECT",
  tunnels: "CONNECT requests",
  internal: "CONNECT requests to services of this process",
  refusals: "Requests that were refused, by code",
  bytes_up: "Bytes from agents to hosts",
  bytes_down: "Bytes from hosts to agents",
  connections: "Connections of agents",
};

/** Makes them. */
export function createCounters(): Counters {
  const totals = new Map<ProxyCount["name"], Map<string, number>>();
  return {
    count({ name, by, labels }) {
      const series = Object.entries(labels)
        .map(([label, value]) => `${label}="${value.replaceAll(/[\\"\n]/g, "_")}"`)
        .join(",");
      const ofName = totals.get(name) ?? new Map<string, number>();
      totals.set(name, ofName.set(series, (ofName.get(series) ?? 0) + by));
    },
    render() {
      const lines = [...totals].flatMap(([name, ofName]) => [
        `# HELP acp_http_${name}_total ${HELP[name]}`,
        `# TYPE acp_http_${name}_total counter`,
        ...[...ofName].map(
          ([series, value]) =>
            `acp_http_${name}_total${series === "" ? "" : `{${series}}`} ${value}`,
        ),
      ]);
      return lines.map((line) => `${line}\n`).join("");
    },
  };
}

/** Answers requests for /metrics; it listens nowhere. */
export const counterServer = (counters: Counters): Server =>
  createServer(({ method, url }, answer) => {
    if (method !== "GET" || url !== "/metrics") return void answer.writeHead(404).end();
    answer
      .writeHead(200, { "content-type": "text/plain; version=0.0.4; charset=utf-8" })
      .end(counters.render());
  });

/**
 * Serves them at /metrics of 127.0.0.1.
 *
 * @throws ConsentError `options_invalid` where the port cannot be had.
 */
export async function serveCounters(
  counters: Counters,
  port: number,
): Promise<AsyncDisposable & { readonly port: number }> {
  const server = counterServer(counters);
  return {
    port: await listenOnLoopback(server, port),
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
