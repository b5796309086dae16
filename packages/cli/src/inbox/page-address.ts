/**
 * Page address: tells the gates of a home where people reach its inbox. Only an https name is told:
 * nobody else can hold it. The name of an inbox on this machine is told to nobody, because whoever
 * knows it could wait there for a passkey once the inbox has ended. Why: docs/adr/0186. Format:
 * spec/web-inbox.md §9.
 */
import { createServer } from "node:net";
import type { Socket } from "node:net";
import { makePrivateDirectory } from "@acp/home";
import { runDirectory } from "../gate/run-directory.js";
import { isTold, pageSocket } from "./answer-address.js";
import { bindSocket, shut } from "./listen.js";

/**
 * Tells the gates of a home where its inbox is, until it is disposed of.
 *
 * @throws ConsentError `options_invalid` where the socket cannot be opened.
 */
export async function announcePage(home: string, origin: string): Promise<AsyncDisposable> {
  if (!isTold(origin)) return { [Symbol.asyncDispose]: () => Promise.resolve() };
  const directory = runDirectory(home);
  await makePrivateDirectory(directory);
  const sockets = new Set<Socket>();
  const make = () =>
    createServer((socket) => {
      sockets.add(socket);
      socket.on("error", () => socket.destroy());
      socket.once("close", () => sockets.delete(socket));
      socket.end(`${origin}\n`);
      socket.resume();
    });
  const servers = await bindSocket(make, pageSocket(home));
  return {
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await Promise.all(servers.map(shut));
    },
  };
}
