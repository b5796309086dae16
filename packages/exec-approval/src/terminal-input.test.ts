import { PassThrough } from "node:stream";
import { manualClock } from "@acp/testing";
import { describe, expect, it } from "vitest";
import { createTerminalInput } from "./terminal-input.js";

describe("createTerminalInput()", () => {
  it("createTerminalInput() gives lines, whatever ends them and however they come in pieces", async () => {
    const stream = new PassThrough();
    const input = createTerminalInput(stream, manualClock());
    const { signal } = new AbortController();
    for (const piece of ["o\nde", "ny\r\n", "\r"]) stream.write(piece);
    expect([
      await input.readLine(signal),
      await input.readLine(signal),
      await input.readLine(signal),
    ]).toEqual(["o", "deny", ""]);
    input.release();
  });

  it("createTerminalInput() takes the end of a line that was too long for no line", async () => {
    const stream = new PassThrough({ highWaterMark: 4 * 1024 * 1024 });
    const input = createTerminalInput(stream, manualClock());
    const { signal } = new AbortController();
    stream.write("x".repeat(1024 * 1024 + 1));
    // What comes later is a piece of its own.
    await new Promise((resolve) => setImmediate(resolve));
    stream.write("approve\nd\n");
    expect(await input.readLine(signal)).toBe("\u0000approve");
    expect(await input.readLine(signal)).toBe("d");
    input.release();
  });
});
