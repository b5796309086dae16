import { WebSocketServer } from "ws";

/** A gateway whose words the test chooses. */
export async function saying(): Promise<{
  readonly url: string;
  say(text: string): void;
  close(): Promise<void>;
}> {
  const server = new WebSocketServer({ port: 0, host: "127.0.0.1" });
  await new Promise((resolve) => server.once("listening", resolve));
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return {
    url: `ws://127.0.0.1:${port}`,
    say: (text) => server.clients.forEach((socket) => socket.send(text)),
    close: () =>
      new Promise((resolve) => {
        server.clients.forEach((socket) => socket.terminate());
        server.close(() => resolve());
      }),
  };
}
