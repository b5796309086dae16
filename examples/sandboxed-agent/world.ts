/**
 * The demo's world, all of it on this machine: a listener at the end of each way, a home with a
 * policy, and the agent's directory with a file that nobody else is to see.
 */
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { chmod, copyFile, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { createServer as createTcpServer } from "node:net";
import type { Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { WAYS } from "./ways.js";
import type { Way } from "./ways.js";

/** A running demo. */
export interface World extends AsyncDisposable {
  readonly home: string;
  /** The agent's directory. */
  readonly work: string;
  /** At which port each way ends. */
  readonly ports: Readonly<Record<string, number>>;
  /** How often the end of a way was reached, with or without the file. */
  reached(way: string): number;
}

const CUSTOMERS = "name,card\nAda,4000 0000 0000 0002\nGrace,4000 0000 0000 0010\n";
const at = (file: string): string => fileURLToPath(new URL(file, import.meta.url));

/** Opens it. */
export async function createWorld(): Promise<World> {
  const root = await mkdtemp(join(tmpdir(), "acp-sandbox-demo-"));
  const closers: (() => unknown)[] = [
    (): Promise<void> => rm(root, { recursive: true, force: true }),
  ];
  const close = async (): Promise<void> => {
    for (const each of closers.toReversed()) await each();
  };
  try {
    const [counts, ports] = [new Map<string, number>(), new Map<string, number>()];
    for (const { name, listener, address } of WAYS) {
      const { port, end } = await LISTENERS[listener](address, () =>
        counts.set(name, (counts.get(name) ?? 0) + 1),
      );
      closers.push(end);
      ports.set(name, port);
    }
    const [home, work] = [join(root, "home"), join(root, "work")];
    await makeHome(home, ports);
    await makeWork(root, work);
    return {
      home,
      work,
      ports: Object.fromEntries(ports),
      reached: (way) => counts.get(way) ?? 0,
      [Symbol.asyncDispose]: close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

interface Listening {
  readonly port: number;
  end(): unknown;
}

async function listen(server: Server, address: string): Promise<Listening> {
  await once(server.listen(0, address), "listening");
  const place = server.address();
  if (place === null || typeof place === "string") throw new Error("a listener has no port");
  return { port: place.port, end: () => new Promise((resolve) => server.close(resolve)) };
}

/**
 * What listens at the ends. A connection counts as much as the file: whoever gets one through gets
 * the other through.
 */
const LISTENERS: Readonly<
  Record<Way["listener"], (address: string, arrived: () => void) => Promise<Listening>>
> = {
  tcp: (address, arrived) =>
    listen(
      createTcpServer((socket) => socket.on("error", () => undefined).resume()).on(
        "connection",
        arrived,
      ),
      address,
    ),
  http: (address, arrived) =>
    listen(
      createServer((incoming, outgoing) =>
        incoming.resume().on("end", () => outgoing.end("taken")),
      ).on("connection", arrived),
      address,
    ),
  udp: async (address, arrived) => {
    const socket = createSocket("udp4", arrived);
    await once(socket.bind(0, address), "listening");
    return { port: socket.address().port, end: () => socket.close() };
  },
};

/**
 * Both hosts are on this machine, so both are named in `private_hosts`: what keeps the agent from
 * the other one is the policy.
 */
async function makeHome(home: string, ports: ReadonlyMap<string, number>): Promise<void> {
  await mkdir(home, { mode: 0o700 });
  await copyFile(at("policy.yml"), join(home, "policy.yml"));
  const config = `version: "1"\nproxy:\n  private_hosts: ["127.0.0.2:${ports.get("proxy")}", "127.0.0.3:${ports.get("allowed")}"]\n`;
  await writeFile(join(home, "config.yml"), config, { mode: 0o600 });
}

/** Where root runs the demo, the agent is somebody else: they have to get at the directory. */
async function makeWork(root: string, work: string): Promise<void> {
  await mkdir(work);
  await copyFile(at("agent.mjs"), join(work, "agent.mjs"));
  await writeFile(join(work, "customers.csv"), CUSTOMERS);
  await Promise.all([chmod(root, 0o711), chmod(work, 0o755)]);
}
