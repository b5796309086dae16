// The contestants, each a process of its own, and what the kernel says that they used.
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, connect } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const at = (file) => fileURLToPath(new URL(file, import.meta.url));
const TICKS = Number(
  process.platform === "linux" ? execFileSync("getconf", ["CLK_TCK"], { encoding: "utf8" }) : 100,
);

/** Starts a program of this folder; it says where it listens in one line of JSON. */
export async function startNode(file, args = []) {
  const child = spawn(process.execPath, [at(file), ...args], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const said = await new Promise((resolve, reject) => {
    child.once("exit", () => reject(new Error(`${file} ended`)));
    child.stdout.setEncoding("utf8").once("data", (line) => resolve(JSON.parse(line)));
  });
  return { ...said, pid: child.pid, end: () => stop(child) };
}

function stop(child) {
  return new Promise((resolve) => {
    child.removeAllListeners("exit").once("exit", resolve);
    child.kill("SIGKILL");
  });
}

async function freePort() {
  const server = createServer();
  const port = await new Promise((resolve) =>
    server.listen(0, "127.0.0.1", () => resolve(server.address().port)),
  );
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Waits until it listens; it has said so by then, or is gone. */
async function answers(port, child) {
  while (child.exitCode === null && child.signalCode === null) {
    const isThere = await new Promise((resolve) => {
      const socket = connect(port, "127.0.0.1", () => resolve(true)).on("error", () =>
        resolve(false),
      );
      socket.once("connect", () => socket.destroy());
    });
    if (isThere) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error(`${child.spawnfile} ended`);
}

const CONFIGURATIONS = {
  tinyproxy: (port) => [
    `Port ${port}`,
    "Listen 127.0.0.1",
    "MaxClients 4000",
    "Timeout 600",
    "LogLevel Critical",
  ],
  squid: (port, folder) => [
    `http_port 127.0.0.1:${port}`,
    "http_access allow all",
    "cache deny all",
    "access_log none",
    "cache_log /dev/null",
    `pid_filename ${join(folder, "squid.pid")}`,
    `coredump_dir ${folder}`,
    "shutdown_lifetime 0 seconds",
  ],
};
const ARGUMENTS = { tinyproxy: (file) => ["-d", "-c", file], squid: (file) => ["-N", "-f", file] };

/**
 * Starts squid or tinyproxy, in a folder of its own for its process id; `undefined` where it is not
 * installed.
 */
export async function startInstalled(name, scratch) {
  if (spawnSync(name, ["-v"], { stdio: "ignore" }).error !== undefined) return undefined;
  const port = await freePort();
  const folder = mkdtempSync(join(scratch, name));
  const file = join(folder, `${name}.conf`);
  writeFileSync(file, `${CONFIGURATIONS[name](port, folder).join("\n")}\n`);
  const child = spawn(name, ARGUMENTS[name](file), { stdio: "ignore" });
  await answers(port, child);
  return { port, pid: child.pid, end: () => stop(child) };
}

/** CPU seconds that a process used so far; NaN where the kernel does not say. */
export function cpuSeconds(pid) {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
      .replace(/^.*\) /s, "")
      .split(" ");
    return (Number(fields[11]) + Number(fields[12])) / TICKS;
  } catch {
    return Number.NaN;
  }
}

/** Megabytes of memory that a process has. */
export function residentMegabytes(pid) {
  try {
    return (
      Number(/VmRSS:\s+([0-9]+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1_024
    );
  } catch {
    return Number.NaN;
  }
}
