// A client that costs little: raw sockets, no parser.
import { connect } from "node:net";

/** Opens a tunnel; resolves with its socket. */
export function openTunnel(proxyPort, port) {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: "127.0.0.1", port: proxyPort, noDelay: true });
    let head = "";
    socket.write(`CONNECT 127.0.0.1:${port} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`);
    socket.on("error", reject);
    socket.on("data", function read(chunk) {
      head += chunk.toString("latin1");
      if (!head.includes("\r\n\r\n")) return;
      socket.off("data", read);
      if (head.startsWith("HTTP/1.1 200") || head.startsWith("HTTP/1.0 200")) resolve(socket);
      else reject(new Error(`no tunnel: ${head}`));
    });
  });
}

/** Runs `work` so often, so many at once. */
export async function many(count, atOnce, work) {
  let left = count;
  const run = async () => {
    while (left-- > 0) await work();
  };
  await Promise.all(Array.from({ length: atOnce }, run));
}

/** Of tinyproxy every answer is the last of its connection, and it does not say so. */
const CLOSES = /^HTTP\/1\.0 |\r\nconnection: close\r\n|\r\nvia: [^\r]*tinyproxy/i;

/**
 * Sends plain requests, each when the one before was answered, over one connection where the proxy
 * keeps it: the origin's body ends in "end".
 */
export function plainClient(proxyPort, port) {
  const request = `GET http://127.0.0.1:${port}/items HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`;
  let socket;
  let answered = () => undefined;
  let failed = () => undefined;
  const open = () => {
    const opened = connect({ host: "127.0.0.1", port: proxyPort, noDelay: true });
    let text = "";
    opened.on("data", (chunk) => {
      text += chunk.toString("latin1");
      const body = text.indexOf("\r\n\r\n");
      if (body === -1 || !text.includes("end", body)) return;
      const isGood = /^HTTP\/1\.[01] 200 /.test(text);
      if (CLOSES.test(text)) end();
      text = "";
      if (isGood) answered();
      else failed(new Error("the request was not answered with 200"));
    });
    opened.on("error", (error) => opened === socket && failed(error));
    opened.on("close", () => {
      if (opened !== socket) return;
      // Between two requests nobody waits; the next one opens another.
      socket = undefined;
      failed(new Error("the connection ended"));
    });
    return opened;
  };
  const end = () => {
    socket?.destroy();
    socket = undefined;
  };
  return {
    get: () =>
      new Promise((resolve, reject) => {
        answered = resolve;
        failed = reject;
        socket ??= open();
        socket.write(request);
      }),
    end,
  };
}
