import { EventEmitter } from "node:events";
import type { ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { manualClock } from "@acp/testing";
import { expect, it } from "vitest";
import { openStateless } from "./stateless.js";

it("answers a request by its very id only", async () => {
  let connection: Duplex | undefined;
  const stateless = openStateless({
    clock: manualClock(),
    serve: (served) => void (connection = served),
    onAnswer: () => {},
    onEnd: () => {},
    log: () => {},
  });
  const said: string[] = [];
  const response = Object.assign(new EventEmitter(), {
    headersSent: false,
    writeHead: () => {},
    write: (body: Buffer) => said.push(body.toString()),
    end: () => {},
  }) as unknown as ServerResponse;
  const line = Buffer.from('{"jsonrpc":"2.0","id":5,"method":"vendor/x","params":{}}\n');
  stateless.post({ kind: "request", id: 5, method: "vendor/x", params: {}, line }, response, {});
  connection?.write('{"jsonrpc":"2.0","id":1,"result":{"coerced":true}}\n');
  connection?.write('{"jsonrpc":"2.0","id":"1","result":{"own":true}}\n');
  await expect.poll(() => said.length).toBe(1);
  expect(said).toEqual(['{"jsonrpc":"2.0","id":5,"result":{"own":true}}']);
  stateless.end();
});
