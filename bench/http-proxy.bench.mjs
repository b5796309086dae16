// What the HTTP proxy costs beside others, interleaved in one run: tunnels and plain requests a
// second with 16 clients and the CPU of each, a byte's way through a tunnel and back, bytes a
// second, and the memory of 1,000 idle tunnels. Each contestant is a process of its own. The
// machine's speed changes under us: a ratio is to the plain proxy of the same round, as the median
// of the rounds with the lowest and the highest.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { many, openTunnel, plainClient } from "./http-proxy/client.mjs";
import {
  cpuSeconds,
  residentMegabytes,
  startInstalled,
  startNode,
} from "./http-proxy/processes.mjs";
import { fixed, summary } from "./samples.mjs";

const isJson = process.argv.includes("--json");
const ROUNDS = Number(process.env.ROUNDS ?? 5);
const TUNNELS = Number(process.env.TUNNELS ?? 2_000);
const REQUESTS = Number(process.env.REQUESTS ?? 6_000);
const PINGS = Number(process.env.PINGS ?? 1_500);
const MEGABYTES = Number(process.env.MEGABYTES ?? 512);
const IDLE = 1_000;
const IDLE_ROUNDS = Number(process.env.IDLE_ROUNDS ?? 3);
const AT_ONCE = 16;

const scratch = mkdtempSync(join(tmpdir(), "acp-bench-"));
const origin = await startNode("origin.mjs");
const BASE = "plain node:http, 40 lines";
const CONTESTANTS = {
  [BASE]: () => startNode("plain.mjs"),
  "acp, log in memory": () => startNode("acp.mjs"),
  "acp, durable log": () =>
    startNode("acp.mjs", [join(mkdtempSync(join(scratch, "log-")), "audit.jsonl")]),
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
    return {
      megabytesPerSecond: MEGABYTES / seconds,
      cpuSecondsPerGigabyte: (cpu / MEGABYTES) * 1_024,
    };
  },
};

/** Megabytes that a process of its own takes for idle tunnels. */
async function idleMegabytes(start) {
  const proxy = await start();
  const sockets = [];
  const open = async () => sockets.push(await openTunnel(proxy.port, origin.echo));
  try {
    // What the first tunnels load and what they leave to be collected is not what a tunnel holds.
    await many(IDLE / 10, AT_ONCE, open);
    await quiet();
    const before = residentMegabytes(proxy.pid);
    await many(IDLE, AT_ONCE, open);
    await quiet();
    return residentMegabytes(proxy.pid) - before;
  } finally {
    for (const socket of sockets) socket.destroy();
    await proxy.end();
  }
}

/** Time for a process to end what it began. */
const quiet = () => new Promise((resolve) => setTimeout(resolve, 300));

/** Median, lowest and highest of the rounds. */
const spread = (values) => ({
  p50: summary(values).p50,
  min: Math.min(...values),
  max: Math.max(...values),
});

/** What was measured of one contestant, and beside the plain proxy. */
function row(own, base) {
  const withRatio = ([what, values]) => [
    what,
    { ...spread(values), ratio: spread(values.map((value, round) => value / base[what][round])) },
  ];
  return Object.fromEntries(Object.entries(own).map(withRatio));
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
        if (round >= 0)
          for (const [what, value] of Object.entries(measured))
            (samples[name][what] ??= []).push(value);
      }
  for (let round = 0; round < IDLE_ROUNDS; round++)
    for (const name of Object.keys(running))
      (samples[name].idleMegabytes ??= []).push(await idleMegabytes(CONTESTANTS[name]));
  for (const [name, own] of Object.entries(samples)) results[name] = row(own, samples[BASE]);
} finally {
  await Promise.all([origin, ...Object.values(running)].map(({ end }) => end()));
  rmSync(scratch, { recursive: true, force: true });
}

const UNITS = {
  tunnelsPerSecond: `tunnels/s, ${AT_ONCE} at once`,
  tunnelCpuMicros: "µs CPU a tunnel",
  getsPerSecond: `GET/s, ${AT_ONCE} at once`,
  getCpuMicros: "µs CPU a GET",
  roundTripMicros: "µs there and back in a tunnel",
  megabytesPerSecond: "MB/s in a tunnel",
  cpuSecondsPerGigabyte: "CPU s/GB",
  idleMegabytes: `MB for ${IDLE} idle tunnels`,
};
const absent = Object.keys(CONTESTANTS).filter((name) => !(name in running));
const range = ({ min, max }, format) => `(${format(min)}–${format(max)})`;
const times = (ratio) => `${ratio.toFixed(2)}×`;

if (isJson) console.log(JSON.stringify({ base: BASE, results, absent }));
else {
  for (const [what, unit] of Object.entries(UNITS)) {
    console.log(`  ${unit}`);
    for (const [name, { [what]: value }] of Object.entries(results)) {
      const measured = `${fixed(value.p50).padStart(6)} ${range(value, fixed)}`;
      console.log(
        `    ${name.padEnd(26)} ${measured.padEnd(24)} ${times(value.ratio.p50)} ${range(value.ratio, times)}`,
      );
    }
  }
  for (const name of absent) console.log(`  ${name}: not installed`);
}
