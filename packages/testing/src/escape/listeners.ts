/**
 * Listeners: services of the host that an agent is not to reach, and what they and those outside
 * have heard.
 */
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { EscapeArrival } from "./attempt.js";
import { type Companion, type CompanionOptions, startCompanion } from "./companions.js";
import { textOf } from "./layout.js";
import { linesOf } from "./lines.js";

const PATIENCE_MS = 120_000;
/**
 * Where the kit itself sends: to know that all before it was heard, and to see whether an attempt
 * could be made at all.
 */
const OWN_ADDRESSES = ["198.51.100.250", "198.51.100.251", "2001:db8:1::fb"] as const;
const OWN_WORDS = ["sentinel-", "escape-outside"] as const;

/** What the kit's own tries outside of a sandbox are addressed to. */
export const OUTSIDE_TRY: { readonly v4: string; readonly v6: string; readonly token: string } = {
  v4: OWN_ADDRESSES[1],
  v6: OWN_ADDRESSES[2],
  token: OWN_WORDS[1],
};

/** Opens the services of the host; what they hear goes to a log. */
export async function startListener(
  common: CompanionOptions,
  sockets: string,
  log: string,
): Promise<Companion> {
  const kinds = ["stream", "dgram", "seqpacket"];
  const unix = kinds.flatMap((kind) => [
    `${kind}=${join(sockets, kind)}`,
    `${kind}=@escape-${kind}`,
  ]);
  const internet = ["tcp=0.0.0.0,7101", "tcp=::,7101", "udp=127.0.0.1,7102", "udp=127.0.0.53,53"];
  await using output = await open(log, "w");
  const args = [
    ...internet,
    ...unix,
    "stream=/run/dbus/system_bus_socket",
    "netlink=4242",
    "call=7110",
  ];
  const listener = await startCompanion({ ...common, program: "listen", args, output: output.fd });
  await until(
    async () => (await textOf(log))?.includes('"ready"') === true,
    "the host's services listen",
  );
  return listener;
}

async function until(isSo: () => Promise<boolean>, what: string): Promise<void> {
  const endMs = performance.now() + PATIENCE_MS;
  while (!(await isSo())) {
    if (performance.now() > endMs) throw new Error(`Cannot wait any longer until ${what}`);
    await sleep(10);
  }
}

/** What stands in the logs, once a message of ours that is sent now has come to each of them. */
export async function heardSoFar(logs: readonly string[]): Promise<readonly EscapeArrival[]> {
  const word = `${OWN_WORDS[0]}${crypto.randomUUID()}`;
  const socket = createSocket("udp4");
  const send = async (port: number, address: string): Promise<void> => {
    await new Promise((sent) => {
      socket.send(word, port, address, sent);
    });
  };
  const all = async (): Promise<readonly string[]> =>
    Promise.all(logs.map(async (log) => (await textOf(log)) ?? ""));
  await Promise.all([send(7002, OWN_ADDRESSES[0]), send(7102, "127.0.0.1")]);
  await until(
    async () => (await all()).every((text) => text.includes(word)),
    "the listeners have caught up",
  );
  // A connection is heard in two steps: once more round for the second.
  await sleep(50);
  socket.close();
  await once(socket, "close");
  return (await all()).flatMap(parseArrivals);
}

function parseArrivals(log: string): readonly EscapeArrival[] {
  return linesOf(log)
    .map(({ listener = "", address = "", text = "" }) => ({ listener, address, text }))
    .filter(({ listener, address, text }) => {
      const isOwn =
        OWN_ADDRESSES.some((own) => own === address) || OWN_WORDS.some((own) => text.includes(own));
      return listener !== "ready" && !isOwn;
    });
}
