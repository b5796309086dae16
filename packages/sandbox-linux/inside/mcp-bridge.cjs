"use strict";
/**
 * MCP bridge: what an agent's MCP client starts inside a sandbox as its server. It copies bytes
 * between its standard streams and the gate's MCP proxy, which is at the other end of the sandbox's
 * only way out. It knows no secret and reads no message; every call is judged out there. Exit
 * codes: 0 the session is over, 69 there is none, 74 the connection broke, 78 the proxy's port is
 * not known. Format: spec/http-proxy.md §9.
 */
const fs = require("node:fs");
const net = require("node:net");
const path = require("node:path");

const SERVICE = "mcp.acp.internal:1";
const UNAVAILABLE = 69;
const BROKEN = 74;
const CONFIGURATION = 78;
const HEAD_BYTES_MAX = 16_384;
const BODY_BYTES_MAX = 65_536;
/**
 * The proxy answers at once: nobody is asked about the connection. A machine that is loaded may
 * need a while.
 */
const ANSWER_MS = 30_000;

let isLeaving = false;

/**
 * Ends the bridge, once; only here is anything said, for stdout carries MCP and nothing else.
 * @param {number} code
 * @param {string} [why]
 */
function leave(code, why) {
  if (isLeaving) return;
  isLeaving = true;
  if (why === undefined) process.exit(code);
  process.stderr.on("error", () => process.exit(code));
  // What the other side sent is shown as text only.
  process.stderr.write(`acp-mcp-bridge: ${why.replaceAll(/[^\x20-\x7e]+/g, " ")}\n`, () =>
    process.exit(code),
  );
}

/**
 * The proxy's port: as told, else as the sandbox wrote it down beside this file, for clients pass
 * few variables on; else the variables' own.
 */
function findPort() {
  const { ACP_PROXY_PORT: told = "", HTTP_PROXY: large = "", http_proxy: small = "" } = process.env;
  const [, named = ""] =
    /^http:\/\/(?:[^/@]*@)?(?:127\.0\.0\.1|localhost):(\d+)\/?$/.exec(
      small === "" ? large : small,
    ) ?? [];
  const text = [told, written(), named].find((each) => each !== "") ?? "";
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  return port > 0 && port < 65_536 ? port : undefined;
}

function written() {
  try {
    return fs.readFileSync(path.join(__dirname, "proxy-port"), "latin1").trim();
  } catch {
    return "";
  }
}

/**
 * Why the proxy said no: its own words where they can be read.
 * @param {string} status
 * @param {string} body
 */
function refusalOf(status, body) {
  const words = wordsOf(body);
  return words.length === 0
    ? `the proxy answered ${JSON.stringify(status)}`
    : `the proxy says ${words.join("; ")}`;
}

/** @param {string} body */
function wordsOf(body) {
  try {
    /** @type {unknown} */
    const value = JSON.parse(body);
    const error =
      typeof value === "object" && value !== null && "error" in value ? value.error : undefined;
    /** @type {Map<string, unknown>} */
    const members = new Map(Object.entries(error ?? {}));
    return ["code", "reason", "remedy"]
      .map((name) => members.get(name))
      .filter((each) => typeof each === "string");
  } catch {
    return [];
  }
}

/** @param {number} port */
function open(port) {
  const socket = net.connect({ port, host: "127.0.0.1", noDelay: true });
  let answer = Buffer.alloc(0);
  const cannot = (/** @type {string} */ why) => {
    settle();
    socket.on("error", () => {}).destroy();
    leave(UNAVAILABLE, `Cannot reach the gate at port ${port}: ${why}`);
  };
  const late = setTimeout(() => cannot("it did not answer"), ANSWER_MS);
  const onData = (/** @type {Buffer} */ chunk) => {
    answer = Buffer.concat([answer, chunk]);
    read(false);
  };
  const onEnd = () => read(true);
  const onError = (/** @type {NodeJS.ErrnoException} */ error) =>
    cannot(error.code ?? "the connection broke");
  const settle = () => {
    clearTimeout(late);
    socket.off("data", onData).off("end", onEnd).off("error", onError).pause();
  };
  const read = (/** @type {boolean} */ isOver) => {
    const end = answer.indexOf("\r\n\r\n");
    if (end === -1 && !isOver && answer.length <= HEAD_BYTES_MAX) return;
    const [, status] =
      /^HTTP\/1\.[01] (\d{3}(?: [^\r\n]*)?)\r\n/.exec(
        answer.toString("latin1", 0, HEAD_BYTES_MAX),
      ) ?? [];
    if (end === -1 || status === undefined)
      return cannot(isOver ? "it closed the connection" : "it is no HTTP proxy");
    const body = answer.subarray(end + 4);
    if (status.startsWith("200")) {
      settle();
      if (body.length > 0) socket.unshift(body);
      copy(socket);
    } else if (isOver || body.length > BODY_BYTES_MAX) cannot(refusalOf(status, body.toString()));
  };
  socket.on("error", onError).on("end", onEnd).on("data", onData);
  socket.write(`CONNECT ${SERVICE} HTTP/1.1\r\nHost: ${SERVICE}\r\n\r\n`);
}

/**
 * Copies both ways, each no faster than it is read, until the gate has said its last.
 * @param {import("node:net").Socket} socket
 */
function copy(socket) {
  const { stdin, stdout } = process;
  let isClientDone = false;
  const clientDone = () => {
    isClientDone = true;
    socket.end();
  };
  // Everything before it is written when the callback is called.
  const flushed = (/** @type {number} */ code, /** @type {string | undefined} */ why) =>
    stdout.write("", () => leave(code, why));
  // Whoever started us reads no more: there is nobody to serve.
  stdout.on("error", () => leave(0));
  stdin.on("error", clientDone).on("end", clientDone);
  socket.on("error", () => flushed(BROKEN, "the connection to the gate broke"));
  socket.on("end", () => flushed(0, isClientDone ? undefined : "the gate ended the session"));
  stdin.pipe(socket, { end: false });
  socket.pipe(stdout);
}

const port = findPort();
if (port === undefined)
  leave(
    CONFIGURATION,
    "Cannot reach the gate: neither ACP_PROXY_PORT nor HTTP_PROXY says at which port of 127.0.0.1 it is",
  );
else open(port);
