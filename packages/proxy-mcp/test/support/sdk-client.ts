/** The SDK's client on one end of a pair of streams. */
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { ReadBuffer, serializeMessage } from "@modelcontextprotocol/sdk/shared/stdio.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import { PassThrough } from "node:stream";

export function streamTransport(): {
  readonly transport: Transport;
  readonly input: PassThrough;
  readonly output: PassThrough;
} {
  const input = new PassThrough();
  const output = new PassThrough();
  const buffer = new ReadBuffer();
  const transport: Transport = {
    async start(): Promise<void> {
      output.on("data", (chunk: Buffer) => {
        buffer.append(chunk);
        for (let message = buffer.readMessage(); message !== null; message = buffer.readMessage())
          transport.onmessage?.(message);
      });
      output.on("end", () => transport.onclose?.());
    },
    async send(message): Promise<void> {
      input.write(serializeMessage(message));
    },
    async close(): Promise<void> {
      input.end();
    },
  };
  return { transport, input, output };
}

export function sdkClient(): Client {
  return new Client({ name: "test", version: "1" }, { capabilities: { roots: {} } });
}
