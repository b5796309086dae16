// An allowed tools/call of an agent over HTTP to a server over stdio: added latency, and requests a
// second with 64 calls in flight, through the smallest bridge that can do it, `acp mcp serve` with
// the home that `acp init` makes, an SDK Server+Client hop, and the two bridges that people use from
// npm, interleaved in one run.
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { connectHttp } from "./mcp/http-client.mjs";
import { compare, tell } from "./mcp/measure.mjs";
import { peer } from "./mcp/peers.mjs";

const at = (file) => fileURLToPath(new URL(`mcp/${file}`, import.meta.url));
const SIZES = {
  rounds: Number(process.env.ROUNDS ?? 6),
  calls: Number(process.env.CALLS ?? 200),
  burst: Number(process.env.BURST ?? 1_000),
};

const echo = [process.execPath, at("echo-server.mjs")];
const children = [];

/** Starts a program that says its address itself. */
async function saying(args) {
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  children.push(child);
  for await (const chunk of child.stdout) return String(chunk).trim();
  throw new Error(`${args[0]} said no address`);
}

/** Starts a program that is told its port, and waits until somebody answers there. */
async function listening(args, port) {
  const child = spawn(process.execPath, args, { stdio: ["ignore", "ignore", "inherit"] });
  children.push(child);
  const url = `http://127.0.0.1:${port}/mcp`;
  for (let tries = 0; tries < 200; tries++) {
    const isUp = await fetch(url).then(
      () => true,
      () => new Promise((resolve) => setTimeout(resolve, 100, false)),
    );
    if (isUp) return url;
  }
  throw new Error(`nobody listens at ${url}`);
}

/** A port that nobody has. */
async function freePort() {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

const acp = fileURLToPath(new URL("../packages/cli/bin/acp.cjs", import.meta.url));
const scratch = mkdtempSync(join(tmpdir(), "acp-bench-"));
const home = join(scratch, "home");
delete process.env.ACP_ALONE;

/** Runs `acp` to its end. */
function run(...args) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [acp, ...args, "--home", home]);
  if (status !== 0) throw new Error(String(stderr));
  return String(stdout).trim();
}

/** Our gate, and the token of its client. */
async function gate() {
  run("init");
  const rule = "{ match: { tool: echo }, action: allow }";
  const policy = `version: "1"\ndefault_action: deny\nrules:\n  - ${rule}\n`;
  writeFileSync(join(home, "policy.yml"), policy, { mode: 0o600 });
  const token = run("mcp", "token", "bench");
  const words = ["mcp", "serve", "--port", "0", "--home", home, "--server", "echo", "--", ...echo];
  // A resident is not started from a folder with its own code.
  const stdio = ["ignore", "pipe", "ignore"];
  const child = spawn(process.execPath, [acp, ...words], { cwd: scratch, stdio });
  children.push(child);
  for await (const line of createInterface({ input: child.stdout })) {
    const [url] = /http:\/\/127\.0\.0\.1:\d+\/mcp/u.exec(line) ?? [];
    if (url !== undefined) return [url, { headers: { authorization: `Bearer ${token}` } }];
  }
  throw new Error("acp mcp serve said no address");
}

const npmProxy = peer("mcp-proxy");
const gateway = peer("supergateway");
const starts = {
  "raw bridge": () => saying([at("http-bridge.mjs"), echo[1]]),
  "acp mcp serve": gate,
  "SDK Server+Client hop": () => saying([at("http-sdk-hop.mjs"), echo[1]]),
  ...(npmProxy !== undefined && {
    "npm mcp-proxy": async () => {
      const port = await freePort();
      const where = ["--host", "127.0.0.1", "--port", String(port), "--server", "stream"];
      return await listening([npmProxy, ...where, "--", ...echo], port);
    },
  }),
  ...(gateway !== undefined && {
    "npm supergateway": async () => {
      const port = await freePort();
      const form = ["--outputTransport", "streamableHttp", "--stateful", "--logLevel", "none"];
      return await listening(
        [gateway, "--stdio", echo.join(" "), ...form, "--port", String(port)],
        port,
      );
    },
  }),
};

const connects = Object.fromEntries(
  Object.entries(starts).map(([name, start]) => [
    name,
    async () => {
      const [url, options] = [await start()].flat();
      return await connectHttp(url, options);
    },
  ]),
);
try {
  tell(await compare(connects, SIZES), "raw bridge", process.argv.includes("--json"));
} finally {
  for (const child of children) child.kill();
  run("resident", "stop");
  rmSync(scratch, { recursive: true, force: true });
}
