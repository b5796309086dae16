import { PassThrough } from "node:stream";
import { expect, it } from "vitest";
import { createTurns, readByChunks } from "./turns.js";

it("createTurns() lets so many in at once, the others in their order, and passes over who gave up", async () => {
  const turns = createTurns(2);
  const log: string[] = [];
  const all = ["a", "b", "c", "d", "e"].map((name) => {
    const turn = turns.of();
    return { turn, taken: turn.take().then(() => void log.push(name)) };
  });
  const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  await settle();
  expect(log).toEqual(["a", "b"]);
  all[2]?.turn.give();
  all[0]?.turn.give();
  all[0]?.turn.give();
  await settle();
  // c gave up while it waited: its turn was d's at once.
  expect(log).toEqual(["a", "b", "c", "d"]);
  all[1]?.turn.give();
  all[3]?.turn.give();
  await Promise.all(all.map(({ taken }) => taken));
  all[4]?.turn.give();
  const [one, two] = [turns.of(), turns.of()];
  await Promise.all([one.take(), two.take()]);
  turns.of().give();
  const third = turns.of();
  let isIn = false;
  void third.take().then(() => (isIn = true));
  await settle();
  expect(isIn).toBe(false);
  two.give();
  await settle();
  expect(isIn).toBe(true);
});

it("createTurns() lets in as many as may be at the moment, and lets in more once they may", async () => {
  let atOnce = 3;
  const turns = createTurns(() => atOnce);
  let count = 0;
  const all = Array.from({ length: 9 }, () => {
    const turn = turns.of();
    void turn.take().then(() => count++);
    return turn;
  });
  const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  await settle();
  expect(count).toBe(3);
  atOnce = 1;
  for (const turn of all.slice(0, 2)) turn.give();
  await settle();
  expect(count).toBe(3);
  all[2]?.give();
  await settle();
  expect(count).toBe(4);
  atOnce = 3;
  all[3]?.give();
  await settle();
  expect(count).toBe(7);
});

it("readByChunks() takes one chunk in each turn of the event loop, and all in the end", async () => {
  const stream = new PassThrough({ readableObjectMode: true });
  const log: string[] = [];
  let isOver = false;
  stream.on("end", () => (isOver = true));
  readByChunks(stream, (chunk) => void log.push(String(chunk)));
  for (const each of ["a", "b", "c", "d"]) stream.write(each);
  stream.end();
  while (!isOver) {
    await new Promise((resolve) => setImmediate(resolve));
    log.push("|");
  }
  expect(log.filter((each) => each !== "|").join("")).toBe("abcd");
  // One that the stream brings in a turn, and one that waited for it.
  expect(
    Math.max(
      ...log
        .join("")
        .split("|")
        .map((each) => each.length),
    ),
  ).toBeLessThanOrEqual(2);
});

it("readByChunks() leaves the stream to whoever has it next, as that one wants it", async () => {
  const stream = new PassThrough({ readableObjectMode: true });
  const log: string[] = [];
  const stop = readByChunks(stream, (chunk) => {
    log.push(String(chunk));
    stop();
    stream.pause();
  });
  stream.write("a");
  stream.write("b");
  for (let n = 0; n < 5; n++) await new Promise((resolve) => setImmediate(resolve));
  expect(log).toEqual(["a"]);
  expect(stream.isPaused()).toBe(true);
  expect(String(stream.read())).toBe("b");
});
