/**
 * A proxy that asks nobody and keeps what it is told: what programs send to a proxy is looked at
 * here.
 */
import { type IncomingMessage, createServer, request } from "node:http";
import { type AddressInfo, type Server, type Socket, connect } from "node:net";
import type { Duplex } from "node:stream";

/** A plain proxy, listening. */
export interface PlainProxy extends AsyncDisposable {
  readonly port: number;
  /** `METHOD target credentials` of each request. */
  readonly seen: readonly string[];
  /** Connections that wait for the answer to their CONNECT. */
  readonly held: () => number;
}

/** How CONNECT to a host is answered; `undefined` opens the tunnel, `"hold"` never answers. */
export type ConnectAnswer = (
  authority: string,
) => { readonly status: number; readonly body: string } | "hold" | undefined;

/** Listens on a free port of this machine. */
export async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return (server.address() as AddressInfo).port; // listening on a port, not on a pipe
}

/** Starts one. Every name is this machine. */
export async function startPlainProxy(
  answerTo: ConnectAnswer = () => undefined,
): Promise<PlainProxy> {
  const seen: string[] = [];
  const sockets = new Set<Socket>();
  let held = 0;
  const note = ({ method, url, headers }: IncomingMessage): unknown =>
    seen.push(
      [method, url, headers["proxy-authorization"] ?? "", headers.host ?? ""].join(" ").trim(),
    );
  const forward = (incoming: IncomingMessage, upgrade?: Duplex): ReturnType<typeof request> => {
    const { port, pathname, search } = new URL(incoming.url ?? "");
    const { "proxy-authorization": _own, ...headers } = incoming.headers;
    const sent = request({
      host: "127.0.0.1",
      port,
      path: `${pathname}${search}`,
      method: incoming.method ?? "",
      headers,
      agent: false,
    });
    sent.on("error", () => (upgrade ?? incoming.socket).destroy());
    return sent;
  };
  const server = createServer((incoming, outgoing) => {
    note(incoming);
    if (!URL.canParse(incoming.url ?? ""))
      return void outgoing.writeHead(400).end("it is not absolute");
    const sent = forward(incoming).on("response", (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    return void incoming.pipe(sent);
  });
  server.on("connection", (socket) => {
    sockets.add(socket.on("error", () => undefined).on("close", () => sockets.delete(socket)));
  });
  server.on("upgrade", (incoming, socket) => {
    note(incoming);
    const sent = forward(incoming, socket).on("upgrade", (answer, upstream, head) => {
      socket.write(`HTTP/1.1 101 Switching Protocols\r\n${pairs(answer.rawHeaders)}\r\n`);
      socket.write(head);
      upstream
        .on("error", () => socket.destroy())
        .pipe(socket)
        .pipe(upstream);
    });
    sent.end();
  });
  server.on("connect", (incoming, socket) => {
    note(incoming);
    const answer = answerTo(incoming.url ?? "");
    if (answer === "hold") {
      held++;
      socket.on("close", () => held--).resume();
    } else if (answer === undefined) {
      const upstream = connect(
        { host: "127.0.0.1", port: Number(incoming.url?.replace(/.*:/, "")) },
        () => {
          socket.write("HTTP/1.1 200 Connection established\r\n\r\n");
          upstream.pipe(socket).pipe(upstream);
        },
      );
      upstream.on("error", () => socket.destroy());
    } else
      socket.end(
        `HTTP/1.1 ${answer.status} No\r\ncontent-length: ${answer.body.length}\r\n\r\n${answer.body}`,
      );
  });
  return {
    port: await listen(server),
    seen,
    held: () => held,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function pairs(raw: readonly string[]): string {
  return raw.map((text, index) => (index % 2 === 0 ? `${text}: ` : `${text}\r\n`)).join("");
}
