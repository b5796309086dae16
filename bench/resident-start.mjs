// What a client of the resident gate takes: the time from exec to the answer to `initialize`, with a
// warm resident and with none, and memory, beside bare Node and `acp mcp --alone`. Run it after a
// build: `node bench/resident-start.mjs`.
import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const BIN = fileURLToPath(new URL("../packages/cli/bin/acp.cjs", import.meta.url));
const RUNS = 15;
const CLIENTS = 20;
const INITIALIZE = `${JSON.stringify({ jsonrpc: "2.0", id: 0, method: "initialize", params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "bench", version: "1" } } })}\n`;

const at = mkdtempSync(join(tmpdir(), "acp-bench-"));
const home = join(at, "h");
mkdirSync(home, { mode: 0o700 });
// It notes when the handshake reaches it: what comes after is the server's own time.
const server = join(at, "server.cjs");
const NOTE = "process.stderr.write(`AT ${Date.now()}\\n`)";
writeFileSync(
  server,
  `process.stdin.once("data", () => { ${NOTE}; process.stdout.write('{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{"name":"b","version":"1"}}}\\n'); });`,
);

const env = { PATH: process.env.PATH, HOME: process.env.HOME, ACP_RESIDENT_SECONDS: "60" };
const acp = (...args) => {
  try {
    return execFileSync(process.execPath, [BIN, ...args, "--home", home], { env, stdio: "pipe" });
  } catch (error) {
    return error.stdout;
  }
};

/** Starts a client; resolves when it has its answer, with the milliseconds until the server heard. */
function start(isResident, words = [process.execPath, server]) {
  const startMs = Date.now();
  const args = ["mcp", ...(isResident ? [] : ["--alone"]), "--home", home, "--", ...words];
  const child = spawn(process.execPath, [BIN, ...args], { env, cwd: at });
  child.stdin.write(INITIALIZE);
  return new Promise((resolve) => {
    let heardMs;
    child.stderr.on(
      "data",
      (text) => (heardMs ??= Number(/AT (\d+)/.exec(text)?.[1]) || undefined),
    );
    child.stdout.once("data", () =>
      setTimeout(() => resolve({ child, ms: (heardMs ?? Date.now()) - startMs }), 5),
    );
  });
}

const end = (child) =>
  new Promise((resolve) => {
    child.on("close", resolve);
    child.stdin.end();
  });

async function times(once) {
  const all = [];
  for (let run = 0; run < RUNS; run++) all.push(await once());
  return all.sort((a, b) => a - b)[RUNS >> 1];
}

/** Until a child that does nothing is there and gone. */
const bare = () =>
  new Promise((resolve) => {
    const startMs = Date.now();
    spawn(process.execPath, ["-e", "0"], { env }).on("close", () => resolve(Date.now() - startMs));
  });
/** The same, up to the first line of a server: what every start of one takes by itself. */
const serverAlone = () =>
  new Promise((resolve) => {
    const startMs = Date.now();
    const child = spawn(process.execPath, [server], { env });
    child.stdin.write(INITIALIZE);
    child.stdout.once("data", () => resolve(Date.now() - startMs));
    child.stdout.once("data", () => child.kill());
  });
const client = async (isResident) => {
  const { child, ms } = await start(isResident);
  await end(child);
  return ms;
};

const rss = (pid) =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))[1]) / 1024;
const show = (name, value, unit) =>
  console.log(`${name.padEnd(44)} ${value.toFixed(unit === "ms" ? 0 : 1)} ${unit}`);

try {
  show("node -e 0", await times(bare), "ms");
  show("the server by itself, to its answer", await times(serverAlone), "ms");
  show("acp mcp --alone, to the forwarded initialize", await times(() => client(false)), "ms");
  await client(true);
  show("acp mcp, resident warm", await times(() => client(true)), "ms");
  show(
    "acp mcp, none running",
    await times(async () => {
      acp("resident", "stop");
      return client(true);
    }),
    "ms",
  );
  const all = [];
  for (let count = 0; count < CLIENTS; count++) all.push((await start(true)).child);
  const { pid } = JSON.parse(acp("resident", "status", "--json"));
  const sizes = all.map((each) => rss(each.pid)).sort((a, b) => a - b);
  const idle = spawn(process.execPath, ["-e", "process.stdin.on('data',()=>0)"], { env });
  await new Promise((resolve) => setTimeout(resolve, 500));
  show("RSS of node waiting on stdin", rss(idle.pid), "MB");
  show("RSS of a client, median of 20", sizes[CLIENTS >> 1], "MB");
  show("RSS of the resident with 20 clients", rss(pid), "MB");
  idle.kill();
  await Promise.all(all.map(end));
  const alone = await start(false);
  show("RSS of acp mcp --alone", rss(alone.child.pid), "MB");
  await end(alone.child);
} finally {
  acp("resident", "stop");
  rmSync(at, { recursive: true, force: true });
}
