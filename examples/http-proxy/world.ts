/**
 * The demo's world: a shop on this machine, a home with a policy and an account for each language,
 * and `acp proxy http` between them.
 */
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { randomBytes } from "node:crypto";
import { copyFile, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { LANGUAGES } from "./languages.js";

/** A running demo. */
export interface World extends AsyncDisposable {
  readonly home: string;
  /** The shop's address. */
  readonly shop: string;
  /** `METHOD body` of each request that reached the shop. */
  readonly reached: readonly string[];
  /** What the environment of an agent needs to find the proxy as this agent. */
  environment(agent: string): Readonly<Record<string, string>>;
}

const require = createRequire(import.meta.url);
const ACP = join(dirname(require.resolve("@acp/cli/package.json")), "bin/acp.cjs");

/** Opens the shop and starts the proxy. */
export async function createWorld(): Promise<World> {
  const root = await mkdtemp(join(tmpdir(), "acp-http-demo-"));
  const closers: (() => Promise<void>)[] = [
    (): Promise<void> => rm(root, { recursive: true, force: true }),
  ];
  const close = async (): Promise<void> => {
    for (const each of closers.toReversed()) await each();
  };
  try {
    const { reached, port, end } = await openShop();
    closers.push(end);
    const home = join(root, "home");
    const tokens = new Map(
      LANGUAGES.map(({ name }) => [name, randomBytes(16).toString("hex")] as const),
    );
    await writeHome(home, { shopPort: port, tokens });
    const proxy = await startProxy(home);
    closers.push(() => proxy.end());
    return {
      home,
      shop: `http://127.0.0.1:${port}`,
      reached,
      environment(agent) {
        const url = proxy.url.replace("//", `//${agent}:${tokens.get(agent) ?? ""}@`);
        return {
          HTTP_PROXY: url,
          http_proxy: url,
          HTTPS_PROXY: url,
          https_proxy: url,
          NO_PROXY: "",
          no_proxy: "",
        };
      },
      [Symbol.asyncDispose]: close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

async function openShop(): Promise<{
  readonly reached: string[];
  readonly port: number;
  readonly end: () => Promise<void>;
}> {
  const reached: string[] = [];
  const server = createServer((incoming, outgoing) => {
    void text(incoming).then((body) => {
      reached.push(`${incoming.method} ${body}`.trim());
      outgoing.end(incoming.method === "GET" ? "umbrellas: 12" : `ordered: ${body}`);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (typeof address !== "object" || address === null)
    throw new Error("the shop listens on no port");
  return {
    reached,
    port: address.port,
    end: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** The shop is on this machine: without its name in `private_hosts` nothing would reach it. */
async function writeHome(
  home: string,
  { shopPort, tokens }: { readonly shopPort: number; readonly tokens: ReadonlyMap<string, string> },
): Promise<void> {
  await mkdir(home, { mode: 0o700 });
  await copyFile(fileURLToPath(new URL("policy.yml", import.meta.url)), join(home, "policy.yml"));
  const agents = [...tokens].map(([id, token]) => `      - { id: ${id}, token: "${token}" }\n`);
  const config = `version: "1"\nproxy:\n  private_hosts: ["127.0.0.1:${shopPort}"]\n  http:\n    agents:\n${agents.join("")}`;
  await writeFile(join(home, "config.yml"), config, { mode: 0o600 });
}

async function startProxy(
  home: string,
): Promise<{ readonly url: string; readonly end: () => Promise<void> }> {
  const child = spawn(
    process.execPath,
    [ACP, "proxy", "http", "--alone", "--home", home, "--port", "0", "--json"],
    {
      stdio: ["ignore", "pipe", "pipe"],
    },
  );
  let said = "";
  child.stderr.on("data", (chunk) => (said += String(chunk)));
  const first = await new Promise<string>((resolve, reject) => {
    child.once("exit", () => reject(new Error(`acp proxy http ended: ${said}`)));
    child.stdout.setEncoding("utf8").once("data", resolve);
  });
  const [url] = /http:\/\/127\.0\.0\.1:[0-9]+/.exec(first) ?? [];
  if (url === undefined) throw new Error(`acp proxy http says no address: ${first}`);
  return { url, end: () => endChild(child) };
}

function endChild(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    if (child.exitCode !== null) resolve();
    child.once("exit", () => resolve());
    child.kill("SIGTERM");
  });
}
