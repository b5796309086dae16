// What one client or server of the resident gate costs the others: the time of a call of one client
// while another one, or its server, does its worst. Run it after a build: `node bench/resident-peer.mjs`.
import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { ACP, PARAMS, env } from "./resident/process.mjs";

const SERVER = fileURLToPath(new URL("./resident/server.mjs", import.meta.url));
const CALLS = 200;
const PAUSE_MS = 20;
const POLICY = `version: "1"
default_action: allow
`;

const at = mkdtempSync(join(tmpdir(), "acp-bench-"));
const home = join(at, "h");
mkdirSync(home, { mode: 0o700 });
writeFileSync(join(home, "policy.yml"), POLICY, { mode: 0o600 });

/** A client that has its answer to `initialize`. */
async function start(how, agent) {
  const words = [
    "mcp",
    "--resident",
    "--home",
    home,
    "--agent",
    agent,
    "--",
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
  return { call, ask, end };
}

/** What the hostile one does until it is told to stop. */
const WORST = {
  "nobody else": async () => undefined,
  "schemas that compile slowly": (peer) => callAll(peer),
  "patterns that backtrack": (peer) => callAll(peer, { text: `${"a".repeat(60)}!` }),
  "large plain schemas": (peer) => callAll(peer, { p1: "z" }),
  "arguments of 9 MB": (peer) => callAll(peer, { text: "x".repeat(9_000_000) }, 4),
  "arguments of 9 MB, many members": (peer) =>
    callAll(peer, { list: Array.from({ length: 900_000 }, (_, n) => n) }, 4),
  "results of 9 MB": (peer) => callAll(peer, {}, 4),
  "a server that floods stdout": async () => undefined,
  "a server that floods stderr": async () => undefined,
  "256 calls at once": (peer) => callAll(peer, {}, 256),
};
const HOW = {
  "schemas that compile slowly": "compile",
  "patterns that backtrack": "check",
  "large plain schemas": "large",
  "results of 9 MB": "results",
  "a server that floods stdout": "stdout",
  "a server that floods stderr": "stderr",
};

let isOver = false;
async function callAll({ call }, args = {}, atOnce = 8) {
  let n = 0;
  const loop = async () => {
    while (!isOver) await call(`act${n++ % 200}`, args);
  };
  await Promise.race([Promise.all(Array.from({ length: atOnce }, loop)), until(() => isOver)]);
}
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
async function until(holds) {
  while (!holds()) await pause(50);
}

const rss = (pid) =>
  Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))[1]) / 1024;
const acp = (...args) =>
  execFileSync(process.execPath, [ACP, ...args, "--home", home], { env, encoding: "utf8" });
const only = process.argv[2];

for (const [name, worst] of Object.entries(WORST)) {
  if (only !== undefined && !name.includes(only)) continue;
  isOver = false;
  const victim = await start("calm", "victim");
  await victim.call("act0");
  const peer = await start(HOW[name] ?? "calm", "peer");
  const running = worst(peer);
  const times = [];
  for (let count = 0; count < CALLS; count++) {
    const startMs = performance.now();
    await victim.call("act1");
    times.push(performance.now() - startMs);
    await pause(PAUSE_MS);
  }
  isOver = true;
  await running;
  const { pid } = JSON.parse(acp("resident", "status", "--json"));
  times.sort((a, b) => a - b);
  const part = (of) =>
    times[Math.min(times.length - 1, Math.floor(of * times.length))].toFixed(1).padStart(7);
  console.log(
    `${name.padEnd(34)} p50 ${part(0.5)}  p99 ${part(0.99)}  max ${part(1)} ms  peak ${rss(pid).toFixed(0).padStart(4)} MB`,
  );
  await Promise.all([victim.end(), peer.end()]);
  try {
    acp("resident", "stop");
  } catch {}
}
rmSync(at, { recursive: true, force: true });
