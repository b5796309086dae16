// The memory that `acp mcp` takes: resident set of its processes with 1 and with 10 MCP servers, in
// the ways that people have them: a client for each server, and one client that has all. By the
// resident gate, whose home is that of `acp init`; the servers, which are the same without ACP,
// apart. After one call of each server. ACP_BENCH_SERVERS=1,10. Linux.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { connect } from "./mcp/line-client.mjs";
import { ACP, SERVER } from "./resident/process.mjs";
import { fixed } from "./samples.mjs";

const isJson = process.argv.includes("--json");
if (process.platform !== "linux") {
  console.log(isJson ? "null" : "  left out: Linux only");
  process.exit(0);
}
const COUNTS = (process.env.ACP_BENCH_SERVERS ?? "1,10").split(",").map(Number);
/** What a start left is collected by then, or stays. */
const SETTLE_MS = 5_000;
const POLICY = `version: "1"
default_action: deny
rules:
  - { id: echo, match: { tool: echo }, action: allow }
`;
delete process.env.ACP_ALONE;

/** What a process has in memory, and what of that no other one shares, in MB. */
function memoryMb(pid) {
  const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, "utf8");
  const kb = (name) => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, "m").exec(rollup)?.[1] ?? 0);
  return { rss: kb("Rss") / 1024, own: (kb("Private_Dirty") + kb("Private_Clean")) / 1024 };
}

function childrenOf(pid) {
  const tasks = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim();
  return tasks === "" ? [] : tasks.split(" ").map(Number);
}

const acp = (home, ...words) => spawnSync(process.execPath, [ACP, ...words, "--home", home]);

const WAYS = {
  "a client for each server": (home, count) =>
    Array.from({ length: count }, () => [
      ACP,
      "mcp",
      "--home",
      home,
      "--",
      process.execPath,
      SERVER,
    ]),
  "one client for all servers": (home, count) => {
    const list = Array.from(
      { length: count },
      (_, at) =>
        `    - { name: s${at}, command: ${JSON.stringify(`${process.execPath} ${SERVER}`)} }\n`,
    );
    const config = `version: "1"\nproxy:\n  upstream_servers:\n${list.join("")}`;
    writeFileSync(join(home, "config.yml"), config, { mode: 0o600 });
    return [[ACP, "mcp", "--home", home]];
  },
};

async function measure(way, count) {
  const scratch = mkdtempSync(join(process.env.ACP_BENCH_DIR ?? tmpdir(), "acp-bench-"));
  const home = join(scratch, "h");
  const clients = [];
  try {
    const { status, stderr } = acp(home, "init");
    if (status !== 0) throw new Error(String(stderr));
    writeFileSync(join(home, "policy.yml"), POLICY, { mode: 0o600 });
    for (const words of WAYS[way](home, count))
      clients.push(await connect(words, { cwd: scratch }));
    for (const { call, tools } of clients) for (const tool of tools) await call("hello", tool);
    await wait(SETTLE_MS);
    const { pid } = JSON.parse(String(acp(home, "resident", "status", "--json").stdout));
    const servers = childrenOf(pid).map(memoryMb);
    const sum = (all, what) => all.reduce((total, each) => total + each[what], 0);
    const parts = { resident: [memoryMb(pid)], clients: clients.map((each) => memoryMb(each.pid)) };
    return {
      way,
      servers: count,
      started: servers.length,
      residentMb: sum(parts.resident, "rss"),
      clientsMb: sum(parts.clients, "rss"),
      clientsOwnMb: sum(parts.clients, "own"),
      serversMb: sum(servers, "rss"),
    };
  } finally {
    await Promise.all(clients.map(({ end }) => end()));
    acp(home, "resident", "stop");
    rmSync(scratch, { recursive: true, force: true });
  }
}

const results = [];
for (const way of Object.keys(WAYS))
  for (const count of COUNTS) results.push(await measure(way, count));
if (isJson) console.log(JSON.stringify({ unit: "MB", results }));
else
  for (const { way, servers, started, ...mb } of results)
    console.log(
      `  ${way.padEnd(27)} ${String(servers).padStart(3)} (${started} processes)  resident ${fixed(mb.residentMb)} MB, ` +
        `clients ${fixed(mb.clientsMb)} MB (${fixed(mb.clientsOwnMb)} of their own), servers ${fixed(mb.serversMb)} MB`,
    );
