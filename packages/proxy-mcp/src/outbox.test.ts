import { Writable } from "node:stream";
import { describe, expect, it } from "vitest";
import { createOutbox } from "./outbox.js";

/** A stream that keeps what it is given and takes it when the test says so. */
function slow(highWaterMark?: number): { stream: Writable; taken: string[]; release(): void } {
  const taken: string[] = [];
  let callbacks: (() => void)[] = [];
  const keep = (chunks: readonly Buffer[], done: () => void): void => {
    taken.push(Buffer.concat(chunks).toString());
    callbacks.push(done);
  };
  const stream = new Writable({
    ...(highWaterMark === undefined ? {} : { highWaterMark }),
    write: (chunk: Buffer, _encoding, done) => keep([chunk], done),
    writev: (chunks, done) =>
      keep(
        chunks.map(({ chunk }) => chunk as Buffer),
        done,
      ),
  });
  return {
    stream,
    taken,
    release(): void {
      const ready = callbacks;
      callbacks = [];
      for (const done of ready) done();
    },
  };
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe("createOutbox()", () => {
  it("writes what came in one turn of the loop together, in order", async () => {
    const { stream, taken } = slow();
    const outbox = createOutbox(stream, { onPressure: () => {} });
    for (const line of ["a\n", "b\n", "c\n"]) outbox.send(Buffer.from(line));
    expect(taken).toEqual([]);
    await turn();
    expect(taken).toEqual(["a\nb\nc\n"]);
  });

  it("writes large lines without joining them, in order", async () => {
    const { stream, taken, release } = slow(1_000_000);
    const outbox = createOutbox(stream, { onPressure: () => {} });
    const lines = ["a", "b", "c"].map((letter) => letter.repeat(40_000));
    for (const line of lines) outbox.send(Buffer.from(line));
    await turn();
    release();
    expect(taken.join("")).toBe(lines.join(""));
  });

  it("tells of pressure and of its end", async () => {
    const { stream, release } = slow(4);
    const told: boolean[] = [];
    const outbox = createOutbox(stream, { onPressure: (on) => told.push(on) });
    outbox.send(Buffer.from("too much\n"));
    await turn();
    expect(told).toEqual([true]);
    release();
    await turn();
    expect(told).toEqual([true, false]);
  });

  it("tells when too much waits, once, and when it is taken", async () => {
    const { stream, release } = slow(4);
    const told: boolean[] = [];
    const outbox = createOutbox(
      stream,
      { onPressure: () => {}, onFull: (on) => told.push(on) },
      20,
    );
    outbox.send(Buffer.from("ten bytes\n"));
    await turn();
    outbox.send(Buffer.from("ten bytes\n"));
    expect(told).toEqual([]);
    outbox.send(Buffer.from("\n"));
    await turn();
    outbox.send(Buffer.from("\n"));
    expect(told).toEqual([true]);
    for (let round = 0; round < 4; round++) {
      release();
      await turn();
    }
    expect(told).toEqual([true, false]);
  });

  it("takes nothing more after the stream failed, and holds nobody up", async () => {
    const { stream, taken } = slow(1);
    const told: boolean[] = [];
    const outbox = createOutbox(stream, { onPressure: (on) => told.push(on) });
    outbox.send(Buffer.from("a\n"));
    await turn();
    stream.destroy(new Error("EPIPE"));
    await turn();
    outbox.send(Buffer.from("b\n"));
    await turn();
    expect(taken).toEqual(["a\n"]);
    expect(told).toEqual([true, false]);
    await outbox.end();
  });

  it("writes what waits before it ends the stream", async () => {
    const { stream, taken, release } = slow();
    const outbox = createOutbox(stream, { onPressure: () => {} });
    outbox.send(Buffer.from("last\n"));
    const ended = outbox.end();
    release();
    await ended;
    expect(taken).toEqual(["last\n"]);
    expect(stream.writableFinished).toBe(true);
    await outbox.end();
  });
});
