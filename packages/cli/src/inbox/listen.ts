/**
 * Listen: the inbox on this machine's loopback addresses, for this user's own programs alone, or on
 * a Unix socket of this user's, for a reverse proxy.
 */
import { chmod, lstat, rm } from "node:fs/promises";
import { createServer as createHttpServer } from "node:http";
import type { RequestListener } from "node:http";
import { createServer } from "node:net";
import type { ListenOptions, Server, Socket } from "node:net";
import { ConsentError } from "@acp/core";
import { acceptFrom } from "@acp/sandbox-linux";
import { isRefused } from "../gate/stale-sockets.js";
import { describePortHolder } from "./port-holder.js";
import type { InboxPlace } from "./settings.js";

/** An inbox that listens. */
export interface Listening extends AsyncDisposable {
  /** 0 on a Unix socket. */
  readonly port: number;
}

/** Who listens, and who may come. */
export interface ListenParts {
  readonly place: InboxPlace;
  /**
   * Whose connections over loopback are taken; `undefined`: everybody's, because somebody else
   * stands in front.
   */
  readonly uid: number | undefined;
  /** Told where another port had to be taken. */
  readonly warn: (text: string) => void;
}

const HOST = "127.0.0.1";
/** Browsers try it too, and before the other: whoever had it alone would be opened in our place. */
const HOST_6 = "::1";
/** Codes of a machine without IPv6. */
const NO_ADDRESS: ReadonlySet<string> = new Set(["EADDRNOTAVAIL", "EAFNOSUPPORT", "EINVAL"]);
/** Free ports of one address that are tried for the other. */
const TRIES = 16;

/**
 * Bytes of a request's head: other ports may have the browser send cookies of theirs along, and
 * must not make it one that is refused.
 */
const HEAD_BYTES_MAX: number = 1024 * 1024;

const codeOf = (error: unknown): string =>
  error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";

/** @throws What the system says. */
function bind(server: Server, address: ListenOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(address, () => {
      server.off("error", reject);
      resolve();
    });
  });
}

const portOf = (server: Server): number => {
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : 0;
};

/** Resolves once it listens no more, and its connections are over. */
export const shut = (server: Server): Promise<void> =>
  new Promise((resolve) => void server.close(() => resolve()));

/** One port of both loopback addresses; of one where there is no IPv6. */
async function bindBoth(make: () => Server, port: number): Promise<readonly Server[]> {
  for (let left = TRIES; ; left -= 1) {
    const [four, six] = [make(), make()];
    await bind(four, { host: HOST, port, exclusive: true });
    try {
      await bind(six, { host: HOST_6, port: portOf(four), exclusive: true, ipv6Only: true });
      return [four, six];
    } catch (error) {
      if (NO_ADDRESS.has(codeOf(error))) return [four];
      await shut(four);
      if (port !== 0 || left === 0) throw error;
    }
  }
}

async function refusal(where: string, cause: unknown, port: number): Promise<ConsentError> {
  const why = cause instanceof Error ? cause.message : "it failed";
  const holder =
    codeOf(cause) === "EADDRINUSE" && port !== 0 ? await describePortHolder(port) : undefined;
  const named =
    holder === undefined
      ? why
      : `${holder} has it; if that is not an inbox of yours, it may be waiting for people who open the address`;
  return new ConsentError("options_invalid", `Cannot listen on ${where}: ${named}`, { cause });
}

async function bindPort(
  make: () => Server,
  { place, warn }: Pick<ListenParts, "place" | "warn">,
): Promise<readonly Server[]> {
  const { port } = place;
  try {
    return await bindBoth(make, port);
  } catch (cause) {
    const refused = await refusal(`${HOST} port ${port}`, cause, port);
    if (place.isPortMeant || codeOf(cause) !== "EADDRINUSE") throw refused;
    warn(`${refused.message}. Using another port instead`);
    return bindBoth(make, 0);
  }
}

/**
 * A server on a Unix socket of this user alone.
 *
 * @throws ConsentError `options_invalid`.
 */
export async function bindSocket(make: () => Server, path: string): Promise<readonly Server[]> {
  await removeStale(path);
  const server = make();
  try {
    await bind(server, { path });
  } catch (cause) {
    throw await refusal(path, cause, 0);
  }
  await chmod(path, 0o600);
  return [server];
}

/**
 * Listens.
 *
 * @throws ConsentError `options_invalid` where it cannot.
 */
export async function listen(
  listener: RequestListener,
  { place, uid, warn }: ListenParts,
): Promise<Listening> {
  const { socketPath } = place;
  const http = createHttpServer({ maxHeaderSize: HEAD_BYTES_MAX }, listener);
  const sockets = new Set<Socket>();
  const take = (socket: Socket): void => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
    http.emit("connection", socket);
  };
  // An agent that is not in a sandbox runs, at best, as another user: the kernel's list of sockets
  // says who opened a connection.
  const make = (): Server =>
    createServer(socketPath === undefined && uid !== undefined ? acceptFrom(uid, take) : take);
  const servers =
    socketPath === undefined
      ? await bindPort(make, { place, warn })
      : await bindSocket(make, socketPath);
  return {
    port: servers[0] === undefined ? 0 : portOf(servers[0]),
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await Promise.all(servers.map(shut));
      if (socketPath !== undefined) await rm(socketPath, { force: true });
    },
  };
}

/**
 * What an inbox left that was killed. Another one that lives, and a file that is no socket, stay.
 */
async function removeStale(path: string): Promise<void> {
  const found = await lstat(path).catch(() => undefined);
  if (found?.isSocket() === true && (await isRefused(path))) await rm(path, { force: true });
}
