// An allowed tools/call of an agent over HTTP to a server over stdio: added latency, and requests a
// second with 64 calls in flight, through the smallest bridge that can do it, an SDK Server+Client
// hop, and the two bridges that people use from npm, interleaved in one run.
import { spawn } from "node:child_process";
import { createServer } from "node:http";
import { fileURLToPath } from "node:url";
import { connectHttp } from "./mcp/http-client.mjs";
import { IN_FLIGHT, latency, throughput } from "./mcp/measure.mjs";
import { peer } from "./mcp/peers.mjs";
import { fixed, summary } from "./samples.mjs";

const at = (file) => fileURLToPath(new URL(`mcp/${file}`, import.meta.url));
const isJson = process.argv.includes("--json");
const ROUNDS = Number(process.env.ROUNDS ?? 6);
const CALLS = Number(process.env.CALLS ?? 200);
const BURST = Number(process.env.BURST ?? 1_000);

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

const npmProxy = peer("mcp-proxy");
const gateway = peer("supergateway");
const starts = {
  "raw bridge": () => saying([at("http-bridge.mjs"), echo[1]]),
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

const clients = {};
const samples = {};
const rates = {};
try {
  for (const [name, start] of Object.entries(starts)) {
    clients[name] = await connectHttp(await start());
    samples[name] = [];
    rates[name] = [];
    await latency(clients[name], CALLS);
  }
  for (let round = 0; round < ROUNDS; round++) {
    for (const [name, client] of Object.entries(clients))
      samples[name].push(...(await latency(client, CALLS)));
    for (const [name, client] of Object.entries(clients))
      rates[name].push(await throughput(client, BURST));
  }
} finally {
  await Promise.all(Object.values(clients).map(({ end }) => end()));
  for (const child of children) child.kill();
}

const floor = summary(samples["raw bridge"]);
const results = Object.fromEntries(
  Object.entries(samples).map(([name, list]) => {
    const { p50, p99 } = summary(list);
    return [name, { p50, p99, addedP50: p50 - floor.p50, perSecond: summary(rates[name]).p50 }];
  }),
);
if (isJson) console.log(JSON.stringify({ unit: "µs", results }));
else {
  for (const [name, { p50, p99, addedP50, perSecond }] of Object.entries(results)) {
    console.log(
      `  ${name.padEnd(22)} p50 ${fixed(p50).padStart(5)} µs  p99 ${fixed(p99).padStart(6)} µs  added ${fixed(addedP50).padStart(5)} µs  ${fixed(perSecond).padStart(7)} requests/s at ${IN_FLIGHT} in flight`,
    );
  }
}
