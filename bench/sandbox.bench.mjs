// What a sandbox costs: the time from the call until the program inside prints its first byte, for
// each backend and for the bare pieces; then a request's time and the throughput from inside to a
// server of this process, beside plain loopback and beside a socat forwarder, each as its ratio to
// plain loopback of the same round. All of it in a network namespace of its own, since one backend
// sets firewall rules.
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createLinuxSandbox } from "@acp/sandbox-linux";
import { fixed, summary } from "./samples.mjs";
import { makeStarts, makeWays } from "./sandbox/contestants.mjs";
import { makeServer } from "./sandbox/server.mjs";

const isJson = process.argv.includes("--json");
const STARTS = Number(process.env.STARTS ?? 20);
const ROUNDS = Number(process.env.ROUNDS ?? 5);
const requests = Number(process.env.REQUESTS ?? 2_000);
const megabytes = Number(process.env.MEGABYTES ?? 512);
const BASE = "plain loopback";
/**
 * The kernel lists closed connections for a minute, and one backend looks for each new one in that
 * list: as many as on a machine with some work.
 */
const NETWORK = 'ip link set lo up && echo 500 >/proc/sys/net/ipv4/tcp_max_tw_buckets && exec "$@"';

if (process.platform !== "linux") {
  console.log(isJson ? "null" : "  left out: Linux only");
  process.exit(0);
}
if (!process.argv.includes("--inside")) {
  const self = [
    process.execPath,
    ...process.execArgv,
    fileURLToPath(import.meta.url),
    "--inside",
    ...process.argv.slice(2),
  ];
  // Who is not root is for a moment root of a user namespace, to make the network, and then nobody
  // special in one below it.
  const isRoot = process.getuid() === 0;
  const before = isRoot ? [] : ["--user", "--map-root-user"];
  const after = isRoot ? [] : ["unshare", "--user", "--map-user=1000", "--map-group=1000", "--"];
  const argv = [...before, "--net", "--", "sh", "-c", NETWORK, "sh", ...after, ...self];
  const { status } = spawnSync("unshare", argv, { stdio: "inherit" });
  process.exit(status ?? 1);
}

const scratch = mkdtempSync(join(tmpdir(), "acp-bench-"));
const socketPath = join(scratch, "server.sock");
const [web, behindSocat] = [makeServer(), makeServer()];
await Promise.all([
  once(web.listen(0, "127.0.0.1"), "listening"),
  once(behindSocat.listen(socketPath), "listening"),
]);

/** What cannot run here, by name, with the reason. */
const absent = {};
for (const name of ["namespace", "uid", "landlock", "preload", "env"]) {
  const { isAvailable, reason } = await createLinuxSandbox(name, { user: 61_002 }).probe();
  if (!isAvailable) absent[name] = reason;
}
const here = (contestants) =>
  Object.entries(contestants).filter(([name]) => !(name.split(",")[0] in absent));

const ratioOf = (values, base) => {
  const ratios = values.map((value, round) => value / base[round]);
  return { p50: summary(ratios).p50, min: Math.min(...ratios), max: Math.max(...ratios) };
};

/** Milliseconds until the first byte. */
async function measureStarts() {
  const samples = {};
  for (let round = -1; round < STARTS; round++)
    for (const [name, start] of here(makeStarts(web))) {
      const { said, firstMs } = await start(["/bin/sh", "-c", "echo here"]);
      if (said !== "here\n") throw new Error(`${name} printed ${JSON.stringify(said)}`);
      // The first round compiles and warms.
      if (round >= 0) (samples[name] ??= []).push(firstMs);
    }
  return Object.fromEntries(
    Object.entries(samples).map(([name, values]) => [
      name,
      { p50: summary(values).p50, min: Math.min(...values), max: Math.max(...values) },
    ]),
  );
}

/** What the client measured, by contestant and figure: a value for each round. */
async function measureWays() {
  const ways = here(makeWays(web, { port: web.address().port, socketPath, requests, megabytes }));
  const samples = {};
  for (let round = -1; round < ROUNDS; round++)
    for (const [name, way] of ways) {
      const measured = JSON.parse((await way()).said);
      if (round >= 0)
        for (const [what, value] of Object.entries(measured))
          ((samples[name] ??= {})[what] ??= []).push(value);
    }
  const row = ([what, values], base) => [
    what,
    { p50: summary(values).p50, ratio: ratioOf(values, base[what]) },
  ];
  return Object.fromEntries(
    Object.entries(samples).map(([name, own]) => [
      name,
      Object.fromEntries(Object.entries(own).map((each) => row(each, samples[BASE]))),
    ]),
  );
}

let [starts, ways] = [{}, {}];
try {
  starts = await measureStarts();
  ways = await measureWays();
} finally {
  for (const server of [web, behindSocat]) {
    server.closeAllConnections();
    server.close();
  }
  rmSync(scratch, { recursive: true, force: true });
}

const UNITS = {
  keptMicros: "µs a request, kept connection",
  newMicros: "µs a request, new connection",
  megabytesPerSecond: "MB/s",
};
const times = (ratio) => `${ratio.toFixed(2)}×`;
if (isJson)
  console.log(
    JSON.stringify({ asRoot: process.getuid() === 0, startMs: starts, base: BASE, ways, absent }),
  );
else {
  console.log("  ms until the program's first byte");
  for (const [name, { p50, min, max }] of Object.entries(starts))
    console.log(`    ${name.padEnd(36)} ${fixed(p50).padStart(6)} (${fixed(min)}–${fixed(max)})`);
  for (const [what, unit] of Object.entries(UNITS)) {
    console.log(`  ${unit}`);
    for (const [name, { [what]: value }] of Object.entries(ways)) {
      const { ratio } = value;
      console.log(
        `    ${name.padEnd(36)} ${fixed(value.p50).padStart(6)}  ${times(ratio.p50)} (${times(ratio.min)}–${times(ratio.max)})`,
      );
    }
  }
  for (const [name, reason] of Object.entries(absent))
    console.log(`  ${name}: left out, ${reason}`);
}
process.exit(0);
