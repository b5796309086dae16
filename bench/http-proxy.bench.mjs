// What the HTTP proxy costs beside others, interleaved in one run: tunnels and plain requests a second with 16 clients and the CPU of each, a byte's
// way through a tunnel and back, bytes a second, and the memory of 1,000 idle tunnels. Each contestant is a process of its own.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { many, openTunnel, plainClient } from "./http-proxy/client.mjs";
import { cpuSeconds, residentMegabytes, startInstalled, startNode } from "./http-proxy/processes.mjs";
import { fixed, summary } from "./samples.mjs";

const isJson = process.argv.includes("--json");
const ROUNDS = Number(process.env.ROUNDS ?? 5);
const TUNNELS = Number(process.env.TUNNELS ?? 1_500);
const REQUESTS = Number(process.env.REQUESTS ?? 6_000);
const PINGS = Number(process.env.PINGS ?? 1_500);
const MEGABYTES = Number(process.env.MEGABYTES ?? 256);
const IDLE = 1_000;
const AT_ONCE = 16;

const scratch = mkdtempSync(join(tmpdir(), "acp-bench-"));
const origin = await startNode("origin.mjs");
const CONTESTANTS = {
  "plain node:http, 40 lines": () => startNode("plain.mjs"),
  "acp, log in memory": () => startNode("acp.mjs"),
  "acp, durable log": () => startNode("acp.mjs", [join(mkdtempSync(join(scratch, "log-")), "audit.jsonl")]),
  "proxy-chain": () => startNode("chain.mjs"),
  squid: () => startInstalled("squid", scratch),
  tinyproxy: () => startInstalled("tinyproxy", scratch),
};

/** Wall-clock and CPU seconds of `work`. */
async function cost({ pid }, work) {
  const [cpu, start] = [cpuSeconds(pid), performance.now()];
  await work();
  return { seconds: (performance.now() - start) / 1_000, cpu: cpuSeconds(pid) - cpu };
}

const MEASURES = {
  async tunnels(proxy) {
    const open = async () => (await openTunnel(proxy.port, origin.echo)).destroy();
    const { seconds, cpu } = await cost(proxy, () => many(TUNNELS, AT_ONCE, open));
    return { tunnelsPerSecond: TUNNELS / seconds, tunnelCpuMicros: (cpu / TUNNELS) * 1e6 };
  },
  async plain(proxy) {
    const clients = Array.from({ length: AT_ONCE }, () => plainClient(proxy.port, origin.web));
    const free = [...clients];
    const { seconds, cpu } = await cost(proxy, () =>
      many(REQUESTS, AT_ONCE, async () => {
        const client = free.pop();
        await client.get();
        free.push(client);
      }),
    );
    for (const { end } of clients) end();
    return { getsPerSecond: REQUESTS / seconds, getCpuMicros: (cpu / REQUESTS) * 1e6 };
  },
  async pings(proxy) {
    const socket = await openTunnel(proxy.port, origin.echo);
    const samples = [];
    for (let i = 0; i < PINGS; i++) {
      const start = performance.now();
      await new Promise((resolve) => socket.once("data", resolve).write("x"));
      samples.push((performance.now() - start) * 1_000);
    }
    socket.destroy();
    return { roundTripMicros: summary(samples).p50 };
  },
  async bytes(proxy) {
    const socket = await openTunnel(proxy.port, origin.source);
    const { seconds, cpu } = await cost(proxy, async () => {
      let bytes = 0;
      socket.on("data", (chunk) => (bytes += chunk.length)).write(String(MEGABYTES * 4));
      await new Promise((resolve) => socket.once("end", resolve));
      if (bytes !== MEGABYTES * 1_048_576) throw new Error(`${bytes} bytes came`);
    });
    socket.destroy();
    return { megabytesPerSecond: MEGABYTES / seconds, cpuSecondsPerGigabyte: (cpu / MEGABYTES) * 1_024 };
  },
};

/** Memory that idle tunnels take, in a process that has done nothing before. */
async function idleMegabytes(start) {
  const proxy = await start();
  const warm = await openTunnel(proxy.port, origin.echo);
  const before = residentMegabytes(proxy.pid);
  const sockets = [];
  await many(IDLE, AT_ONCE, async () => sockets.push(await openTunnel(proxy.port, origin.echo)));
  const after = residentMegabytes(proxy.pid);
  for (const socket of [warm, ...sockets]) socket.destroy();
  await proxy.end();
  return after - before;
}

const running = {};
const samples = {};
const results = {};
try {
  for (const [name, start] of Object.entries(CONTESTANTS)) {
    const proxy = await start();
    if (proxy === undefined) continue;
    running[name] = proxy;
    samples[name] = {};
  }
  for (let round = -1; round < ROUNDS; round++)
    for (const measure of Object.values(MEASURES))
      for (const [name, proxy] of Object.entries(running)) {
        const measured = await measure(proxy);
        // The first round warms everything up.
        if (round >= 0) for (const [what, value] of Object.entries(measured)) (samples[name][what] ??= []).push(value);
      }
  for (const [name, kept] of Object.entries(samples)) {
    results[name] = Object.fromEntries(Object.entries(kept).map(([what, values]) => [what, summary(values).p50]));
    results[name].idleMegabytes = await idleMegabytes(CONTESTANTS[name]);
  }
} finally {
  await Promise.all([origin, ...Object.values(running)].map(({ end }) => end()));
  rmSync(scratch, { recursive: true, force: true });
}

if (isJson) console.log(JSON.stringify({ results, absent: Object.keys(CONTESTANTS).filter((name) => !(name in running)) }));
else {
  for (const [name, row] of Object.entries(results)) {
    const cells = [
      `${fixed(row.tunnelsPerSecond)} tunnels/s, ${fixed(row.tunnelCpuMicros)} µs CPU`,
      `${fixed(row.getsPerSecond)} GET/s, ${fixed(row.getCpuMicros)} µs CPU`,
      `round trip ${fixed(row.roundTripMicros)} µs`,
      `${fixed(row.megabytesPerSecond)} MB/s, ${row.cpuSecondsPerGigabyte.toFixed(2)} CPU s/GB`,
      `${row.idleMegabytes.toFixed(1)} MB for ${IDLE} idle tunnels`,
    ];
    console.log(`  ${name.padEnd(26)} ${cells.join("  ")}`);
  }
  for (const name of Object.keys(CONTESTANTS)) if (!(name in running)) console.log(`  ${name.padEnd(26)} is not installed here`);
}
