// What a resident gate costs that nobody uses: processor time a minute and memory of the process, with
// no client and with clients that have said hello and wait. From /proc/PID/stat, after a while in which
// it settles. ACP_BENCH_IDLE_CLIENTS=0,5, ACP_BENCH_IDLE_MINUTES=1. Linux.
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { ACP, PARAMS, SERVER, cpuMs, env } from "./resident/process.mjs";
import { fixed } from "./samples.mjs";

const isJson = process.argv.includes("--json");
if (process.platform !== "linux") {
  console.log(isJson ? "null" : "  left out: Linux only");
  process.exit(0);
}
const CLIENTS = (process.env.ACP_BENCH_IDLE_CLIENTS ?? "0,5").split(",").map(Number);
const MINUTES = Number(process.env.ACP_BENCH_IDLE_MINUTES ?? 1);
/** The first look at the past of the logs is a minute after the start. */
const SETTLE_MS = Number(process.env.ACP_BENCH_IDLE_SETTLE_MS ?? 75_000);
const HELLO = `${JSON.stringify({ jsonrpc: "2.0", id: 0, method: "initialize", params: PARAMS })}\n`;

/** How often it slept and woke. */
function wakeUps(pid) {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return Number(/^voluntary_ctxt_switches:\s+(\d+)/m.exec(status)?.[1]);
}

const memoryMb = (pid) =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024;

async function startClient(home) {
  const args = ["mcp", "--resident", "--home", home, "--", process.execPath, SERVER];
  const child = spawn(process.execPath, [ACP, ...args], { env, stdio: ["pipe", "pipe", "ignore"] });
  child.stdin.write(HELLO);
  await new Promise((resolve) => child.stdout.once("data", resolve));
  return child;
}

async function measure(home, count) {
  const resident = spawn(process.execPath, [ACP, "resident", "serve", "--stay", "--home", home], {
    env,
    stdio: ["ignore", "ignore", "pipe"],
  });
  await new Promise((resolve) => resident.stderr.once("data", resolve));
  const children = [];
  for (let each = 0; each < count; each++) children.push(await startClient(home));
  await wait(SETTLE_MS);
  const [ms, wakes, client] = [cpuMs(resident.pid), wakeUps(resident.pid), children[0]];
  const clientMs = client === undefined ? 0 : cpuMs(client.pid);
  await wait(MINUTES * 60_000);
  const figures = {
    clients: count,
    cpuMsAMinute: (cpuMs(resident.pid) - ms) / MINUTES,
    wakeUpsAMinute: (wakeUps(resident.pid) - wakes) / MINUTES,
    memoryMb: memoryMb(resident.pid),
    clientCpuMsAMinute: client === undefined ? 0 : (cpuMs(client.pid) - clientMs) / MINUTES,
    load: loadavg()[0],
  };
  const ended = [resident, ...children].map(
    (child) => new Promise((end) => child.once("close", end)),
  );
  for (const child of children) child.stdin.end();
  resident.kill("SIGTERM");
  await Promise.all(ended);
  return figures;
}

const scratch = mkdtempSync(join(process.env.ACP_BENCH_DIR ?? tmpdir(), "acp-bench-idle-"));
try {
  const given = process.env.ACP_BENCH_HOME;
  const home = given ?? join(scratch, "h");
  if (given === undefined)
    execFileSync(process.execPath, [ACP, "init", "--home", home], { env, stdio: "ignore" });
  const all = [];
  for (const count of CLIENTS) all.push(await measure(home, count));
  if (isJson) console.log(JSON.stringify({ minutes: MINUTES, all }));
  else
    for (const each of all)
      console.log(
        `  ${each.clients} clients: ${fixed(each.cpuMsAMinute)} ms CPU and ${fixed(each.wakeUpsAMinute)} wake-ups a minute, ${fixed(each.memoryMb)} MB; a client ${fixed(each.clientCpuMsAMinute)} ms CPU a minute (load ${fixed(each.load)})`,
      );
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
