// What one client or server of the resident gate costs the others: the time of a call of one client
// while another one, or its server, does its worst, and how long the resident held its event loop at
// a time: by its own work, and where others had the processor. Run it after a build:
// `node bench/resident-peer.mjs`, with a part of a case's name for that case alone.
import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { startHttpPeer } from "./resident/http-peer.mjs";
import { ACP, PARAMS, env } from "./resident/process.mjs";

const HOLDS = new URL("./resident/holds.mjs", import.meta.url).href;
const SERVER = fileURLToPath(new URL("./resident/server.mjs", import.meta.url));
/** What is measured is the resident, and not who gets a processor of this machine. */
const LAST = ["nice", "-n", "19"];
/** A folder for profiles of the resident, which the event loop is held by a little more then. */
const { ACP_BENCH_PROFILES } = process.env;
const PROFILED =
  ACP_BENCH_PROFILES === undefined ? [] : ["--cpu-prof", `--cpu-prof-dir=${ACP_BENCH_PROFILES}`];
const CALLS = 200;
const PAUSE_MS = 20;
const POLICY = `version: "1"
default_action: allow
rules:
  - name: questions
    match: { tool: ask }
    action: ask
`;
const CONFIG = `version: "1"
proxy: { private_hosts: ["127.0.0.1"] }
`;

/** The hostile one is a process of its own, so that it costs the other's measure nothing. */
const [, , only, asPeer, scratch] = process.argv;
const at = scratch ?? mkdtempSync(join(tmpdir(), "acp-bench-"));
const home = join(at, "h");

/** A resident whose event loop is watched. */
async function serve() {
  const holds = join(at, "holds.json");
  rmSync(holds, { force: true });
  const words = [...PROFILED, "--import", HOLDS, ACP, "resident", "serve", "--home", home];
  const child = spawn(process.execPath, words, {
    env: { ...env, ACP_BENCH_HOLDS: holds },
    cwd: "/",
    stdio: ["ignore", "ignore", "pipe"],
  });
  const ended = new Promise((resolve) => void child.on("close", resolve));
  await new Promise((resolve) => {
    child.stderr.setEncoding("utf8").on("data", (text) => text.includes("Serving") && resolve());
  });
  const { pid } = child;
  return {
    /** Holds count from the first time on until the second. */
    count: () => process.kill(pid, "SIGUSR2"),
    async end() {
      const peak = rss(pid);
      try {
        acp("resident", "stop");
      } catch {}
      await ended;
      return { peak, ...JSON.parse(readFileSync(holds, "utf8")) };
    },
  };
}

const NICE = asPeer === undefined ? [] : LAST;
/** A client that has its answer to `initialize`. */
async function start(how, agent) {
  const words = [
    "mcp",
    "--home",
    home,
    "--agent",
    agent,
    "--",
    ...NICE,
    process.execPath,
    SERVER,
    how,
  ];
  const child = spawn(process.execPath, [ACP, ...words], {
    env,
    cwd: at,
    stdio: ["pipe", "pipe", "ignore"],
  });
  const waiting = new Map();
  let rest = "";
  child.stdin.on("error", () => undefined);
  child.stdout.setEncoding("utf8").on("data", (text) => {
    rest += text;
    for (let end = rest.indexOf("\n"); end !== -1; end = rest.indexOf("\n")) {
      const id =
        /"id":(\d+)/.exec(rest.slice(0, Math.min(end, 60)))?.[1] ??
        /"id":(\d+)/.exec(rest.slice(Math.max(0, end - 60), end))?.[1];
      waiting.get(Number(id))?.();
      rest = rest.slice(end + 1);
    }
  });
  let id = 0;
  const ask = (method, params) =>
    new Promise((resolve) => {
      const own = id++;
      waiting.set(own, resolve);
      child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id: own, method, params })}\n`);
    });
  await ask("initialize", PARAMS);
  child.stdin.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n');
  const call = (name, args = {}) => ask("tools/call", { name, arguments: args });
  const end = () => new Promise((resolve) => void child.on("close", resolve).kill("SIGKILL"));
  /** Writes as fast as it is read. */
  const flood = async (line) => {
    while (!isOver)
      if (!child.stdin.write(line))
        await Promise.race([new Promise((go) => child.stdin.once("drain", go)), until(isDone)]);
  };
  return { call, ask, end, flood };
}

const NOTE = { jsonrpc: "2.0", method: "notifications/x" };
const NUMBERS = Array.from({ length: 900_000 }, (_, n) => n);
/** What the hostile one does until it is told to stop. */
const WORST = {
  "nobody else": async () => undefined,
  "schemas that compile slowly": (peer) => callAll(peer),
  "patterns that backtrack": (peer) => callAll(peer, { text: `${"a".repeat(60)}!` }),
  "large plain schemas": (peer) => callAll(peer, { p1: "z" }),
  "arguments of 1 MB": (peer) => callAll(peer, { text: "x".repeat(1_000_000) }, 4),
  "arguments of 1 MB, a long path": (peer) => callAll(peer, { text: "a/".repeat(500_000) }, 4),
  "arguments of 1 MB, many members": (peer) =>
    callAll(peer, { list: NUMBERS.slice(0, 150_000) }, 4),
  "arguments of 9 MB": (peer) => callAll(peer, { text: "x".repeat(9_000_000) }, 4),
  "arguments of 9 MB, many members": (peer) => callAll(peer, { list: NUMBERS }, 4),
  "lines of 64 MB": (peer) => peer.flood(`"${"x".repeat(64_000_000)}"\n`),
  "notifications of the client": (peer) => peer.flood(`${JSON.stringify(NOTE)}\n`.repeat(100)),
  "notifications of 9 MB, many members": (peer) =>
    peer.flood(`${JSON.stringify({ ...NOTE, params: { list: NUMBERS } })}\n`),
  "results of 9 MB": (peer) => callAll(peer, {}, 4),
  "results of 9 MB, many members": (peer) => callAll(peer, {}, 4),
  "a server that floods stdout": async () => undefined,
  "a server that floods stderr": async () => undefined,
  "256 calls at once": (peer) => callAll(peer, {}, 256),
  "10,000 questions": (peer) => askAll(peer, 10_000),
};
/** The same over HTTP: what the host sends, and whether the program reads it. */
const OVER_HTTP = {
  "early hints over HTTP": ["hints", true],
  "early hints over HTTP, unread": ["hints", false],
  "events over HTTP": ["events", true],
  "events over HTTP, unread": ["events", false],
};
const HTTP_AT_ONCE = 8;
const HOW = {
  "schemas that compile slowly": "compile",
  "patterns that backtrack": "check",
  "large plain schemas": "large",
  "results of 9 MB": "results",
  "results of 9 MB, many members": "members",
  "a server that floods stdout": "stdout",
  "a server that floods stderr": "stderr",
};

let isOver = false;
process.stdin.on("end", () => (isOver = true));
const isDone = () => isOver;
async function callAll({ call }, args = {}, atOnce = 8) {
  let n = 0;
  const loop = async () => {
    while (!isOver) await call(`act${n++ % 199}`, args);
  };
  await Promise.race([Promise.all(Array.from({ length: atOnce }, loop)), until(isDone)]);
}
async function askAll({ call }, count) {
  while (!isOver)
    await Promise.race([
      Promise.all(Array.from({ length: count }, (_, n) => call("ask", { n }))),
      until(isDone),
    ]);
}
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
async function until(holds) {
  while (!holds()) await pause(50);
}

const rss = (pid) =>
  Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))[1]) / 1024;
const acp = (...args) =>
  execFileSync(process.execPath, [ACP, ...args, "--home", home], { env, encoding: "utf8" });
/** The part of all from the smallest up to which it is asked for; 0 where there is none. */
const part = (all, of) =>
  all.toSorted((a, b) => a - b)[Math.min(all.length - 1, Math.floor(of * all.length))] ?? 0;
const shown = (number, width) => number.toFixed(number < 100 ? 1 : 0).padStart(width);

/** The hostile one, ready, and what it does. */
async function ready(name) {
  if (name in WORST) {
    const peer = await start(HOW[name] ?? "calm", "peer");
    return { work: () => WORST[name](peer), end: peer.end };
  }
  const peer = await startHttpPeer(...OVER_HTTP[name], { home, at, agent: "peer" });
  const loops = () => Array.from({ length: HTTP_AT_ONCE }, () => peer.loop(isDone));
  return { work: () => Promise.race([Promise.all(loops()), until(isDone)]), end: peer.end };
}

/** Runs as the hostile one until its input ends. */
async function beHostile(name) {
  process.stdin.resume();
  const { work, end } = await ready(name);
  process.stdout.write("ready");
  await work();
  await until(isDone);
  await end();
  // Hosts and programs of its own may still be connected.
  process.exit();
}

async function startHostile(name) {
  const [nice, ...words] = [...LAST, process.execPath, fileURLToPath(import.meta.url)];
  const child = spawn(nice, [...words, name, "as-peer", at], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const ended = new Promise((resolve) => void child.on("close", resolve));
  await new Promise((resolve) => child.stdout.once("data", resolve));
  return { end: () => (child.stdin.end(), ended) };
}

async function measure(name) {
  const resident = await serve();
  const victim = await start("calm", "victim");
  await victim.call("act0");
  resident.count();
  const hostile = await startHostile(name);
  const times = [];
  for (let count = 0; count < CALLS; count++) {
    const startMs = performance.now();
    await victim.call("act1");
    times.push(performance.now() - startMs);
    await pause(PAUSE_MS);
  }
  resident.count();
  await Promise.all([victim.end(), hostile.end()]);
  const { peak, own, others } = await resident.end();
  console.log(
    `${name.padEnd(36)} call p50 ${shown(part(times, 0.5), 6)}  p99 ${shown(part(times, 0.99), 6)}  max ${shown(part(times, 1), 6)} ms  ` +
      `held by own work max ${shown(part(own, 1), 6)} ms, ${String(own.filter((ms) => ms > 10).length).padStart(4)} above 10 ms; ` +
      `by others max ${shown(part(others, 1), 6)} ms  peak ${peak.toFixed(0).padStart(4)} MB`,
  );
}

if (asPeer === undefined) {
  mkdirSync(home, { mode: 0o700 });
  writeFileSync(join(home, "policy.yml"), POLICY, { mode: 0o600 });
  writeFileSync(join(home, "config.yml"), CONFIG, { mode: 0o600 });
  for (const name of [...Object.keys(WORST), ...Object.keys(OVER_HTTP)])
    if (only === undefined || name.includes(only)) await measure(name);
  rmSync(at, { recursive: true, force: true });
} else await beHostile(only);
