import { PassThrough, Readable } from "node:stream";
import { describe, expect, it } from "vitest";
import { BYTES_AT_ONCE, LINES_AT_ONCE, SHARED_LINES_AT_ONCE } from "./limits.js";
import { createLoopTurns, readInTurns } from "./loop-turns.js";

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const count = (bytes: string): number => bytes.split("\n").length - 1;

/**
 * What is taken from mark to mark, one a turn of the loop: that is what a stream brings in a turn, and
 * what waited for it.
 */
async function taken(stream: Readable): Promise<readonly string[]> {
  const all: string[] = [];
  let isOver = false;
  stream.on("end", () => (isOver = true));
  readInTurns(stream, createLoopTurns(), (bytes) => void all.push(bytes.toString()));
  while (!isOver) {
    await turn();
    all.push("|");
  }
  return all.join("").split("|");
}

describe("readInTurns()", () => {
  it("takes few lines of a chunk in one turn of the loop, all of them in order, and then the end", async () => {
    const lines = Array.from({ length: 10 * LINES_AT_ONCE + 1 }, (_, n) => `${n}\n`);
    const turns = await taken(Readable.from([Buffer.from(`${lines.join("")}rest`)]));
    expect(turns.join("")).toBe(`${lines.join("")}rest`);
    expect(Math.max(...turns.map(count))).toBeLessThanOrEqual(2 * LINES_AT_ONCE);
  });

  it("counts the lines of a turn, in however many chunks they come", async () => {
    const stream = new PassThrough();
    for (let n = 0; n < 5 * LINES_AT_ONCE; n++) stream.push(`${n}\n`);
    stream.end();
    const turns = (await taken(stream)).map(count);
    expect(Math.max(...turns)).toBeLessThanOrEqual(2 * LINES_AT_ONCE);
  });

  it("takes few bytes of a long line in one turn of the loop", async () => {
    const line = `${"x".repeat(10 * BYTES_AT_ONCE)}\n`;
    const turns = await taken(Readable.from([Buffer.from(line)]));
    expect(turns.join("")).toBe(line);
    expect(Math.max(...turns.map((each) => each.length))).toBeLessThanOrEqual(2 * BYTES_AT_ONCE);
  });

  it("takes nothing while it is paused, also what waited for its turn", async () => {
    const stream = new PassThrough();
    const all: string[] = [];
    const reading = readInTurns(stream, createLoopTurns(), (bytes) => void all.push(String(bytes)));
    stream.write("a\n".repeat(3 * LINES_AT_ONCE));
    await turn();
    expect(reading.isResting()).toBe(true);
    reading.pause(true);
    const before = all.length;
    for (let n = 0; n < 5; n++) await turn();
    expect(all).toHaveLength(before);
    reading.pause(false);
    while (count(all.join("")) < 3 * LINES_AT_ONCE) await turn();
  });

  it("takes all as it comes once it is free", async () => {
    const stream = new PassThrough();
    const all: string[] = [];
    readInTurns(stream, createLoopTurns(), (bytes) => void all.push(String(bytes))).free();
    stream.push("a\n".repeat(100));
    await turn();
    expect(count(all.join(""))).toBe(100);
  });
});

it("readInTurns() takes fewer lines of one stream at once where clients share the process", async () => {
  const stream = new PassThrough();
  const turns: number[] = [];
  readInTurns(
    stream,
    createLoopTurns(() => SHARED_LINES_AT_ONCE),
    (bytes) => turns.push(count(String(bytes))),
  );
  stream.write("a\n".repeat(10 * SHARED_LINES_AT_ONCE));
  await expect.poll(() => turns.reduce((sum, lines) => sum + lines, 0)).toBe(20);
  expect(Math.max(...turns)).toBeLessThanOrEqual(SHARED_LINES_AT_ONCE);
});

describe("createLoopTurns()", () => {
  it("does one piece in each turn of the loop, and of several proxies one in turn", async () => {
    const log: string[] = [];
    const [many, one] = [createLoopTurns(), createLoopTurns()];
    for (let n = 0; n < 5; n++) many.later(() => void log.push(`many ${n}`));
    one.later(() => void log.push("one"));
    for (let n = 0; n < 8; n++) {
      await turn();
      log.push("|");
    }
    const turns = log.join(" ").split(" | ");
    expect(log.filter((each) => each !== "|")).toEqual([
      "many 0",
      "one",
      "many 1",
      "many 2",
      "many 3",
      "many 4",
    ]);
    for (const each of turns) expect(each.match(/many \d|one/g) ?? []).not.toHaveLength(2);
  });
});
