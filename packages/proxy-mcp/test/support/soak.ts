/**
 * Soak: a client with many calls under way to many servers, of which some are killed at random, as are
 * its connections. Every call is told apart by a number that its server notes when it runs.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { fileURLToPath } from "node:url";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { createConsentGate } from "@acp/core";
import type { AuditSink } from "@acp/core";
import { parsePolicy } from "@acp/core/policy";
import { createMcpProxy } from "../../src/index.js";
import type { McpProxy } from "../../src/index.js";

export interface SoakPlan {
  readonly folder: string;
  readonly servers: number;
  readonly tools: number;
  readonly atOnce: number;
  readonly calls: number;
  /** Calls between two kills of a server, and of the connection. */
  readonly serverKillEvery: number;
  readonly connectionKillEvery: number;
  /** A number from 0 to 1. */
  readonly random: () => number;
}

/** What the client was told of a call. */
export type Told = "done" | "not executed" | "not known" | "both" | "no answer" | "error";

export interface Soaked {
  readonly told: readonly Told[];
  /** How often each call ran. */
  readonly ran: ReadonlyMap<number, number>;
  readonly listed: number;
  /** While nothing is under way, after a part of the calls each. */
  readonly sizes: readonly {
    readonly heap: number;
    readonly rss: number;
    readonly files: number;
  }[];
}

interface Connection {
  /** Settles when `initialize` is answered. */
  readonly ready: Promise<unknown>;
  request(method: string, params: object): Promise<Record<string, unknown> | undefined>;
  end(): Promise<void>;
}

const SERVER = fileURLToPath(new URL("./soak-server.mjs", import.meta.url));
const PARTS = 4;
const INIT = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "soak" } };

/** Nothing is kept: what grows is not the log. */
const NOWHERE: AuditSink = { append: () => Promise.resolve({ eventIds: [] } as never) };

function connect({ folder, servers, tools }: SoakPlan): Connection {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const waiting = new Map<number, (message: Record<string, unknown> | undefined) => void>();
  let nextId = 1;
  let rest = "";
  output.setEncoding("utf8");
  output.on("data", (chunk: string) => {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      const message = JSON.parse(line) as { id?: number };
      if (message.id === undefined) continue;
      waiting.get(message.id)?.(message);
      waiting.delete(message.id);
    }
  });
  output.on("end", () => {
    for (const settle of waiting.values()) settle(undefined);
    waiting.clear();
  });
  const proxy: McpProxy = createMcpProxy({
    gate: createConsentGate({
      policy: parsePolicy({ version: "1", default: "allow" }),
      channel: { name: "nobody", deliver: () => Promise.reject(new Error("nobody")) },
      audit: NOWHERE,
    }),
    agent: { id: "agent" },
    upstreams: Array.from({ length: servers }, (_, at) => ({
      name: `s${at}`,
      command: [process.execPath, SERVER, folder, `s${at}`, String(tools)],
    })),
    input,
    output,
    log: () => {},
  });
  const request: Connection["request"] = (method, params) =>
    new Promise((resolve) => {
      if (output.readableEnded) return resolve(undefined);
      const id = nextId++;
      waiting.set(id, resolve);
      input.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
    });
  return {
    ready: request("initialize", INIT),
    request,
    async end() {
      input.end();
      await proxy.done;
    },
  };
}

async function open(plan: SoakPlan): Promise<{ connection: Connection; listed: number }> {
  const connection = connect(plan);
  await connection.ready;
  let listed = 0;
  let cursor: unknown;
  do {
    const params = cursor === undefined ? {} : { cursor };
    const answer = await connection.request("tools/list", params);
    const { tools = [], nextCursor } = (answer?.result ?? {}) as Record<string, unknown>;
    listed += (tools as readonly unknown[]).length;
    cursor = nextCursor;
  } while (cursor !== undefined);
  return { connection, listed };
}

/** What an answer says; it may say one thing only. */
function toldBy(answer: Record<string, unknown> | undefined): Told {
  if (answer === undefined) return "no answer";
  const text = JSON.stringify(answer);
  const isNot = /not executed/iu.test(text);
  const isUnknown = /not known/iu.test(text);
  if (isNot && isUnknown) return "both";
  if (isNot) return "not executed";
  if ("error" in answer) return "error";
  return isUnknown ? "not known" : "done";
}

export async function soak(plan: SoakPlan): Promise<Soaked> {
  const { calls, atOnce, servers, tools, random } = plan;
  const told: Told[] = [];
  const sizes: Soaked["sizes"][number][] = [];
  const kills = new Set<Promise<void>>();
  const { listed, ...opened } = await open(plan);
  let { connection } = opened;
  let next = 0;
  const killConnection = (): void => {
    const old = connection;
    connection = connect(plan);
    const gone = old.end();
    kills.add(gone);
    void gone.finally(() => kills.delete(gone));
  };
  const work = async (until: number): Promise<void> => {
    while (next < until) {
      const n = next++;
      if (n % plan.serverKillEvery === plan.serverKillEvery - 1) killServer(plan);
      if (n % plan.connectionKillEvery === plan.connectionKillEvery - 1) killConnection();
      const to = connection;
      await to.ready;
      const name = `s${Math.floor(random() * servers)}__t${Math.floor(random() * tools)}`;
      told[n] = toldBy(await to.request("tools/call", { name, arguments: { n } }));
      // Nobody asks a server that is away all the time.
      if (told[n] !== "done") await new Promise((resolve) => setTimeout(resolve, 10));
    }
  };
  for (let part = 1; part <= PARTS; part++) {
    const until = Math.floor((calls * part) / PARTS);
    await Promise.all(Array.from({ length: atOnce }, () => work(until)));
    await Promise.all(kills);
    sizes.push(await sizeAtRest(plan));
  }
  await connection.end();
  return { told, ran: ranIn(plan.folder), listed, sizes };
}

function killServer({ folder, servers, random }: SoakPlan): void {
  const pids = readFileSync(join(folder, "pids"), "utf8").trimEnd().split("\n").slice(-servers);
  const pid = Number(pids[Math.floor(random() * pids.length)]);
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It is gone already.
  }
}

/** Once all servers are back, so that there is the same number of pipes each time. */
async function sizeAtRest({ servers }: SoakPlan): Promise<Soaked["sizes"][number]> {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  for (let tries = 0; tries < 400 && childCount() < servers; tries++)
    await new Promise((resolve) => setTimeout(resolve, 50));
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  collect();
  const { heapUsed: heap, rss } = process.memoryUsage();
  return { heap, rss, files: readdirSync("/proc/self/fd").length };
}

function childCount(): number {
  const listed = readFileSync(`/proc/self/task/${process.pid}/children`, "utf8").trim();
  return listed === "" ? 0 : listed.split(" ").length;
}

function ranIn(folder: string): ReadonlyMap<number, number> {
  const ran = new Map<number, number>();
  for (const file of readdirSync(folder).filter((name) => name.endsWith(".calls")))
    for (const line of readFileSync(join(folder, file), "utf8").trimEnd().split("\n"))
      ran.set(Number(line), (ran.get(Number(line)) ?? 0) + 1);
  return ran;
}
