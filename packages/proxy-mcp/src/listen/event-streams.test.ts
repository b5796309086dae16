import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { EventEmitter } from "node:events";
import type { ServerResponse } from "node:http";
import { createEventStreams } from "./event-streams.js";

it("resume() goes on after an event that is kept, on its own stream, and never over a gap", async () => {
  const streams = createEventStreams({ bytes: 1_000, events: 3 });
  const [one, other] = [streams.open(), streams.open()];
  for (const text of ["a1", "a2"]) one.say(Buffer.from(`${text}\n`));
  other.say(Buffer.from("b1\n"));
  const server = createServer((request, response) => {
    const why = streams.resume(String(request.headers["last-event-id"]), response);
    if (why !== undefined) response.writeHead(400).end(why);
    else response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const after = async (id: string): Promise<string> =>
    (await fetch(`http://127.0.0.1:${port}`, { headers: { "last-event-id": id } })).text();
  const event = (id: string, data: string): string =>
    `id: ${id}\nevent: message\ndata: ${data}\n\n`;
  expect(await after("1-0")).toBe(event("1-1", "a1") + event("1-2", "a2"));
  expect(await after("1-1")).toBe(event("1-2", "a2"));
  expect(await after("2-0")).toBe(event("2-1", "b1"));
  one.say(Buffer.from("a3\r\n"));
  expect(await after("1-0")).toContain("no longer kept");
  expect(await after("1-1")).toBe(event("1-2", "a2") + event("1-3", "a3"));
  expect(await after("1-9")).toContain("no such event");
});

const fakeResponse = (): ServerResponse => {
  const nothing = (): boolean => true;
  const more = { writeHead: nothing, flushHeaders: nothing, write: nothing, end: nothing };
  return Object.assign(new EventEmitter(), more) as unknown as ServerResponse;
};

it("open() forgets streams that ended, also those that said nothing", () => {
  const streams = createEventStreams({ bytes: 1_000, events: 3 });
  const open = streams.open();
  const kept = streams.open();
  kept.say(Buffer.from("k1\n"));
  kept.end();
  for (let n = 0; n < 5; n++) streams.open().end();
  const known = [1, 2, 3, 4, 5, 6, 7].filter(
    (key) => streams.resume(`${key}-0`, fakeResponse()) === undefined,
  );
  expect([open.isConnected(), known]).toEqual([true, [1, 2, 7]]);
});
