"use strict";
/**
 * First stage: runs inside the boundary as the process that the agent is about to replace, with the
 * agent's own rights. It opens the proxy's listener and hands it out (or connects to the
 * manager's), tries what must not work, reports, and waits for the word to go. It ends with 0 only
 * after that word; 70: something broke, 71: the manager is gone. Types: src/parts.ts.
 */
const dgram = require("node:dgram");
const fs = require("node:fs");
const net = require("node:net");

/**
 * How long a silent place counts as open. Loopback answers before the call returns, so this only
 * bounds a barrier that drops.
 */
const SILENCE_MS = 1000;
const MANAGER_CHECK_MS = 20;

process.on("disconnect", () => process.exit(71));
// Node keeps that event back for as long as a handle that it sent was not acknowledged, and a
// manager that is gone never does.
setInterval(() => process.connected || process.exit(71), MANAGER_CHECK_MS);
process.on("uncaughtException", (error) => end(error));
process.on("unhandledRejection", (error) => end(error));
process.once("message", (orders) => void run(orders));

/** @param {unknown} error */
function end(error) {
  const text = error instanceof Error ? error.message : String(error);
  if (!process.connected) process.exit(70);
  process.send?.({ kind: "failed", text }, undefined, {}, () => process.exit(70));
}

/**
 * @param {{ mode: "listen" | "connect", port: number, ports: readonly number[], nonce: string,
 * canaries: { tcpPort: number, udpPort: number, path: string, abstract: string }, places: readonly
 * string[] }} orders
 */
async function run({ mode, port, ports, nonce, canaries, places }) {
  if (mode === "listen") for (const each of [port, ...ports]) await handOut(each);
  const findings = {
    privileges: privileges(),
    proxy: (await visit({ host: "127.0.0.1", port }, nonce, true)) ?? "reached",
    tcp: await visit({ host: "127.0.0.1", port: canaries.tcpPort }, nonce, false),
    udp: await datagram(canaries.udpPort, nonce),
    pathSocket: await visit({ path: canaries.path }, nonce, false),
    abstractSocket: await visit({ path: `\0${canaries.abstract}` }, nonce, false),
  };
  const go = nextMessage("go");
  process.send?.({ kind: "report", findings, ids: places.map(idOf) });
  await go;
  process.exit(0);
}

/**
 * Opens the listener and gives it away; ours is closed before anything connects, so that only the
 * manager accepts.
 * @param {number} port
 */
async function handOut(port) {
  const server = net.createServer({ pauseOnConnect: true });
  await new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen({ host: "127.0.0.1", port, backlog: 511, exclusive: true }, () =>
      resolve(undefined),
    );
  });
  const taken = nextMessage("taken");
  process.send?.({ kind: "listener", port }, server);
  await taken;
  await new Promise((resolve) => server.close(resolve));
}

/** @param {string} kind */
function nextMessage(kind) {
  return new Promise((resolve) => {
    /** @param {{ kind?: string }} message */
    const look = (message) => {
      if (message.kind !== kind) return;
      process.off("message", look);
      resolve(undefined);
    };
    process.on("message", look);
  });
}

/**
 * Connects and leaves the nonce. Resolves to why it was not reached, or to nothing where it was.
 * @param {net.NetConnectOpts} place
 * @param {string} nonce
 * @param {boolean} wantsEcho - Whether it is reached only when it sends the nonce back.
 * @returns {Promise<string | undefined>}
 */
function visit(place, nonce, wantsEcho) {
  return new Promise((resolve) => {
    let socket;
    try {
      socket = net.connect(place);
    } catch (error) {
      resolve(reasonOf(error));
      return;
    }
    let answer = "";
    let isConnected = false;
    const timer = setTimeout(
      () => setImmediate(() => setImmediate(() => settle(`no answer within ${SILENCE_MS} ms`))),
      wantsEcho ? 30_000 : SILENCE_MS,
    );
    /** @param {string | undefined} reason */
    const settle = (reason) => {
      clearTimeout(timer);
      socket.destroy();
      resolve(isConnected && !wantsEcho ? undefined : reason);
    };
    socket.on("error", (error) => settle(reasonOf(error)));
    socket.on("close", () => settle("closed"));
    socket.on("connect", () => {
      isConnected = true;
      socket.write(nonce, () => !wantsEcho && settle(undefined));
    });
    socket.setEncoding("latin1").on("data", (chunk) => {
      answer += chunk;
      if (wantsEcho && answer === nonce) settle(undefined);
    });
  });
}

/**
 * Sends the nonce. That the call succeeds does not say that it arrived: the manager knows whether
 * it did.
 * @param {number} port
 * @param {string} nonce
 * @returns {Promise<string>}
 */
function datagram(port, nonce) {
  return new Promise((resolve) => {
    try {
      const socket = dgram.createSocket("udp4");
      socket.on("error", (error) => resolve(reasonOf(error)));
      socket.send(nonce, port, "127.0.0.1", (error) => {
        resolve(
          error === null || error === undefined ? "sent, but did not arrive" : reasonOf(error),
        );
        socket.close();
      });
    } catch (error) {
      resolve(reasonOf(error));
    }
  });
}

/** @param {unknown} error */
function reasonOf(error) {
  return error instanceof Error
    ? "code" in error && typeof error.code === "string"
      ? error.code
      : error.message
    : String(error);
}

/**
 * Which file a path leads to, whatever its name: device and inode. Its last step is no link.
 * @param {string} path
 */
function idOf(path) {
  try {
    const { dev, ino } = fs.lstatSync(path, { bigint: true });
    return `${dev}:${ino}`;
  } catch (error) {
    return reasonOf(error);
  }
}

/** What the kernel says about this process. */
function privileges() {
  const status = fs.readFileSync("/proc/self/status", "utf8");
  /** @param {string} name */
  const field = (name) => new RegExp(`^${name}:\\s*(\\S+)`, "mu").exec(status)?.[1] ?? "";
  return {
    uid: process.getuid?.() ?? 0,
    hasNoCapabilities: ["CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"].every((name) =>
      /^0+$/u.test(field(name)),
    ),
    hasNoNewPrivileges: field("NoNewPrivs") === "1",
    hasSeccompFilter: field("Seccomp") === "2",
  };
}
