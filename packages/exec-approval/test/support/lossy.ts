/**
 * A stretch of network between a device and its gateway on which a test loses, doubles and delays
 * messages.
 */
import { WebSocket, WebSocketServer } from "ws";

/** `up`: from the device to the gateway. */
export type Direction = "up" | "down";

/** What comes out at the other end for what went in: nothing, once, twice, something else. */
export type Weather = (direction: Direction, text: string) => readonly string[];

/** The stretch. */
export interface Lossy extends AsyncDisposable {
  readonly url: string;
  weather: Weather;
  /** Puts a message in at one end, as if it had come late. */
  deliver(direction: Direction, text: string): void;
  /** Cuts every connection without a word. */
  cut(): void;
}

const CLEAR: Weather = (_direction, text) => [text];

/** Lays a stretch to a gateway. */
export async function createLossy(upstreamUrl: string): Promise<Lossy> {
  const server = new WebSocketServer({
    port: 0,
    host: "127.0.0.1",
    handleProtocols: (offered) => [...offered][0] ?? false,
  });
  await new Promise((resolve) => server.once("listening", resolve));
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const pairs = new Set<{ readonly device: WebSocket; readonly gateway: WebSocket }>();
  const put = (socket: WebSocket, text: string): void => {
    if (socket.readyState === socket.OPEN) socket.send(text);
    else if (socket.readyState === socket.CONNECTING) socket.once("open", () => socket.send(text));
  };
  const lossy: Lossy = {
    url: `ws://127.0.0.1:${port}`,
    weather: CLEAR,
    deliver(direction, text) {
      for (const { device, gateway } of pairs) put(direction === "up" ? gateway : device, text);
    },
    cut() {
      for (const { device, gateway } of pairs) {
        device.terminate();
        gateway.terminate();
      }
    },
    async [Symbol.asyncDispose]() {
      lossy.cut();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  server.on("connection", (device, { headers }) => {
    const gateway = new WebSocket(upstreamUrl, {
      headers: { authorization: headers.authorization ?? "" },
    });
    const pair = { device, gateway };
    pairs.add(pair);
    device.on("message", (data: Buffer) =>
      lossy.weather("up", data.toString("utf8")).forEach((text) => put(gateway, text)),
    );
    gateway.on("message", (data: Buffer) =>
      lossy.weather("down", data.toString("utf8")).forEach((text) => put(device, text)),
    );
    for (const [one, other] of [
      [device, gateway],
      [gateway, device],
    ] as const) {
      one.on("error", () => undefined);
      one.on("close", () => {
        pairs.delete(pair);
        other.terminate();
      });
    }
  });
  return lossy;
}
