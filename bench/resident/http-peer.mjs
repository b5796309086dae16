// A hostile client of the resident over HTTP: `acp proxy http`, a program that asks through it, and
// the host that answers the worst there is. Linux.
import { spawn } from "node:child_process";
import { connect, createServer } from "node:net";
import { ACP, env } from "./process.mjs";

const HINT = "HTTP/1.1 103 Early Hints\r\nLink: </a>; rel=preload\r\n\r\n".repeat(1_000);
const EVENT = `data: ${"x".repeat(100)}\n\n`.repeat(500);
const STREAM =
  "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";
const CHUNK = `${EVENT.length.toString(16)}\r\n${EVENT}\r\n`;
/** What a host begins with, and what it sends for ever. */
const ANSWERS = { hints: ["", HINT], events: [STREAM, CHUNK] };

/** A host that sends as fast as it is read. */
async function listenAs(how) {
  const [head, more] = ANSWERS[how];
  const server = createServer((socket) => {
    const send = () => {
      while (!socket.destroyed && socket.write(more));
      socket.once("drain", send);
    };
    socket.on("error", () => undefined).once("data", () => (socket.write(head), send()));
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return server.address().port;
}

/** The port of a proxy that is a client of the resident. */
async function startProxy({ home, at, agent }) {
  const words = ["proxy", "http", "--home", home, "--agent", agent, "--port", "0", "--json"];
  const child = spawn(process.execPath, [ACP, ...words], {
    env,
    cwd: at,
    stdio: ["ignore", "pipe", "ignore"],
  });
  const text = await new Promise((resolve) => {
    child.stdout.setEncoding("utf8").once("data", resolve);
  });
  const end = () => new Promise((resolve) => void child.on("close", resolve).kill("SIGKILL"));
  return { port: Number(new URL(JSON.parse(text).url).port), end };
}

/**
 * Asks through the proxy, anew whenever an answer ends, until `isOver` says so.
 *
 * @param reads - Whether what comes is read.
 */
export async function startHttpPeer(how, reads, where) {
  const host = await listenAs(how);
  const proxy = await startProxy(where);
  const ask = () =>
    new Promise((resolve) => {
      const socket = connect(proxy.port, "127.0.0.1");
      socket.on("error", () => undefined).on("close", resolve);
      socket.write(`GET http://127.0.0.1:${host}/ HTTP/1.1\r\nHost: 127.0.0.1:${host}\r\n\r\n`);
      if (reads) socket.resume();
    });
  const loop = async (isOver) => {
    while (!isOver()) await ask();
  };
  return { loop, end: proxy.end };
}
