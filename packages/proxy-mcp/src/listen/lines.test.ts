import { once } from "node:events";
import { expect, it } from "vitest";
import { openLines } from "./lines.js";

const unread = (ended: string[], endMsMax: number) => {
  const handlers = {
    onLine: () => {},
    pause: () => undefined,
    onEnd: () => void ended.push("end"),
  };
  const lines = openLines(handlers, endMsMax);
  // Nobody reads it.
  lines.send(Buffer.from("{}\n"));
  return lines;
};

it("end() reaches a proxy that does not read, after a while", async () => {
  const ended: string[] = [];
  const lines = unread(ended, 1);
  lines.end();
  if (!lines.connection.destroyed) await once(lines.connection, "close");
  expect(ended).toEqual(["end"]);
});

it("end() cuts off what was sent and not read, where it must", async () => {
  const ended: string[] = [];
  const lines = unread(ended, 1_000_000);
  lines.end();
  expect(lines.connection.destroyed).toBe(false);
  lines.end(true);
  expect(lines.connection.destroyed).toBe(true);
  await once(lines.connection, "close");
  expect(ended).toEqual(["end"]);
});
