import { PassThrough, Writable } from "node:stream";
import { expect, it } from "vitest";
import { createAnswers } from "./answers.js";
import type { Link } from "./link.js";

/** A stream that keeps each write as one piece. */
function pieces(): { readonly stream: Writable; readonly got: string[] } {
  const got: string[] = [];
  const stream = new Writable({
    write: (chunk: Buffer, _encoding, done) => (got.push(String(chunk)), done()),
    writev: (chunks, done) => (got.push(chunks.map(({ chunk }) => String(chunk)).join("")), done()),
  });
  return { stream, got };
}

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

it("createAnswers() writes the lines of a turn together", async () => {
  const { stream, got } = pieces();
  const { write } = createAnswers(stream, () => undefined);
  write("a\n");
  await Promise.resolve();
  write("b\n");
  expect(got).toEqual([]);
  await nextTurn();
  write("c\n");
  await nextTurn();
  expect(got).toEqual(["a\nb\n", "c\n"]);
});

it("createAnswers() hands out what was written before its process ends", () => {
  const { stream, got } = pieces();
  const { write, flush } = createAnswers(stream, () => undefined);
  write("last\n");
  flush();
  expect(got).toEqual(["last\n"]);
});

it("createAnswers() pauses each session while its client does not read, and resumes it once", async () => {
  const output = new PassThrough({ highWaterMark: 4 });
  const calls: string[] = [];
  const links = ["one", "two"].map((name) => ({
    pause: () => calls.push(`${name} waits`),
    resume: () => calls.push(`${name} goes on`),
  }));
  let at = 0;
  const answers = createAnswers(output, () => links[at] as unknown as Link);
  answers.follow();
  for (let n = 0; n < 20; n++) answers.write("a long line\n");
  at = 1;
  answers.follow();
  expect(calls).toEqual(["one waits", "two waits"]);
  output.resume();
  await nextTurn();
  await nextTurn();
  expect(calls).toEqual(["one waits", "two waits", "two goes on"]);
});
