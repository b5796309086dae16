/**
 * Serve: the three things that a client can ask of a proxy: a request, a tunnel, and a request that
 * wants to go over to another protocol.
 */
import { type IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { isHttpAction } from "@acp/core";
import { type Exchange, forward, type Passed } from "./forward.js";
import { endToEnd } from "./headers.js";
import {
  type Arrived,
  checkUpgrade,
  type Job,
  type Judged,
  run,
  type ServeParts,
} from "./judging.js";
import { refusalBytes, sendRefusal } from "./refusals.js";
import { type Carried, carry, holdAhead } from "./tunnel.js";

const ESTABLISHED = "HTTP/1.1 200 Connection Established\r\n\r\n";

function countBytes(
  { count }: ServeParts,
  kind: Job["kind"],
  { up, down }: Passed | Carried,
): void {
  if (up > 0) count({ name: "bytes_up", by: up, labels: { kind } });
  if (down > 0) count({ name: "bytes_down", by: down, labels: { kind } });
}

/**
 * Reads what is left of a refused request's body, within bounds: many clients write all of it
 * before they read.
 */
function readRest({ limits, watch }: ServeParts, request: IncomingMessage): Promise<void> {
  if (request.complete || request.destroyed || request.headers.expect !== undefined)
    return Promise.resolve();
  return new Promise((resolve) => {
    let left = limits.lingerBytesMax;
    const stop = (): void => {
      unwatch();
      request.off("data", take).off("end", stop).off("close", stop);
      resolve();
    };
    const take = (chunk: Uint8Array): void => {
      left -= chunk.byteLength;
      if (left < 0) stop();
    };
    const unwatch = watch.add({ progress: () => 0, idleMs: limits.lingerMs, onOver: stop });
    request.on("error", () => {});
    request.on("data", take).once("end", stop).once("close", stop);
    request.resume();
  });
}

/** Serves a request that is no CONNECT and wants no other protocol. */
export async function serveRequest(
  parts: ServeParts,
  { request, connection }: Arrived,
  response: ServerResponse,
): Promise<void> {
  await run(parts, {
    kind: "requests",
    request,
    connection,
    async perform(judged, release) {
      const passed = await forward(parts, exchangeOf(request, response, judged), release);
      if ("up" in passed) countBytes(parts, "requests", passed);
    },
    async refuse(refusal) {
      if (refusal === undefined) return void response.destroy();
      if (!response.headersSent) await readRest(parts, request);
      sendRefusal(response, refusal);
    },
  });
}

function exchangeOf(
  request: IncomingMessage,
  response: ServerResponse,
  { checked, action, caller, signal }: Judged,
): Exchange {
  return { request, response, checked, action, sharer: caller.agent.id, signal };
}

/**
 * Serves a CONNECT; from here on its socket is ours. A tunnel lives long: of its request only what
 * is read of it is kept.
 */
export function serveConnect(
  parts: ServeParts,
  { request, connection }: Arrived,
  head: Buffer,
): Promise<void> {
  const { socket } = connection;
  const { method, url, httpVersion, rawHeaders } = request;
  // An answer of an earlier request is still on its way.
  if (connection.load() > 0) {
    socket.destroy();
    return Promise.resolve();
  }
  const { limits, watch } = parts;
  const takeAhead = holdAhead(socket, head, limits.aheadBytesMax);
  let isOpen = false;
  return run(parts, {
    kind: "tunnels",
    request: { method, url, httpVersion, rawHeaders },
    connection,
    async perform({ signal }, { action }) {
      if (!isHttpAction(action)) throw new Error("the released action is of another kind");
      const { host, port } = action.meta;
      const upstream = await parts.dial({ host, port }, signal);
      isOpen = true;
      socket.write(ESTABLISHED);
      const hello = { host, requireSni: parts.requireSni };
      countBytes(
        parts,
        "tunnels",
        await carry({ client: socket, upstream }, { limits, watch, ahead: takeAhead(), hello }),
      );
    },
    async handOver(service, caller) {
      const gone = new Promise<void>((resolve) => void socket.once("close", resolve));
      const ahead = takeAhead();
      isOpen = true;
      socket.write(ESTABLISHED);
      if (ahead.length > 0) socket.unshift(ahead);
      service(socket, caller);
      await gone;
    },
    refuse(refusal) {
      if (refusal === undefined) return void socket.destroy();
      if (!isOpen) socket.write(refusalBytes(refusal));
      socket.destroySoon();
    },
  });
}

/** The head of the answer that goes over to another protocol. */
function switchHead({ rawHeaders }: IncomingMessage, upgrade: string): string {
  const kept = [
    ...endToEnd(rawHeaders, { kind: "none" }),
    "Connection",
    "Upgrade",
    "Upgrade",
    upgrade,
  ];
  const lines = kept.map((value, index) => (index % 2 === 0 ? `${value}: ` : `${value}\r\n`));
  return `HTTP/1.1 101 Switching Protocols\r\n${lines.join("")}\r\n`;
}

/** Serves a request that wants to go over to another protocol; from here on its socket is ours. */
export async function serveUpgrade(
  parts: ServeParts,
  { request, connection }: Arrived,
  head: Buffer,
): Promise<void> {
  const { socket } = connection;
  if (connection.load() > 0) return void socket.destroy();
  const { limits, watch } = parts;
  const takeAhead = holdAhead(socket, head, limits.aheadBytesMax);
  const response = answerOn(socket, request);
  await run(parts, {
    kind: "requests",
    request,
    connection,
    async perform(judged, release) {
      if (isHttpAction(release.action)) checkUpgrade(parts, release.action);
      const passed = await forward(parts, exchangeOf(request, response, judged), release);
      if ("up" in passed) return countBytes(parts, "requests", passed);
      const { answer, socket: upstream, head: first } = passed;
      response.detachSocket(socket);
      socket.write(switchHead(answer, judged.checked.upgrade ?? ""), "latin1");
      if (first.length > 0) socket.write(first);
      countBytes(
        parts,
        "tunnels",
        await carry({ client: socket, upstream }, { limits, watch, ahead: takeAhead() }),
      );
    },
    refuse(refusal) {
      if (refusal === undefined) return void socket.destroy();
      sendRefusal(response, refusal);
    },
  });
}

/** A place for an answer on a socket that is parsed no more; the connection ends with it. */
function answerOn(socket: Socket, request: IncomingMessage): ServerResponse {
  const response = new ServerResponse(request);
  response.shouldKeepAlive = false;
  response.assignSocket(socket);
  response.once("finish", () => socket.destroySoon());
  return response;
}
