import { manualClock } from "@acp/testing";
import { describe, expect, it } from "vitest";
import { createKeyboard } from "../test/ui-kit.js";
import { createTypedInput } from "./typed-input.js";

const never = new AbortController().signal;

function setUp(tty = true) {
  const clock = manualClock();
  const keyboard = createKeyboard(tty);
  return { clock, keyboard, input: createTypedInput({ stream: keyboard, clock }) };
}

describe("createTypedInput() readLine()", () => {
  it.each([
    ["one\ntwo\n", ["one", "two"]],
    ["one\rtwo\r", ["one", "two"]],
    ["one\r\n\r\ntwo\n", ["one", "", "two"]],
  ])("reads the lines of %j", async (text, want) => {
    const { keyboard, input } = setUp();
    keyboard.write(text);
    for (const line of want)
      expect(await input.readLine(never)).toEqual({ kind: "line", text: line });
  });

  it("reads a character that came in two parts", async () => {
    const { clock, keyboard, input } = setUp();
    const bytes = Buffer.from("é\n");
    keyboard.write(bytes.subarray(0, 1));
    await clock.advance(0);
    keyboard.write(bytes.subarray(1));
    expect(await input.readLine(never)).toEqual({ kind: "line", text: "é" });
  });

  it("is over with its stream, and does not hand an unfinished line on", async () => {
    const { keyboard, input } = setUp();
    keyboard.end("a");
    expect(await input.readLine(never)).toEqual({ kind: "over" });
    await expect(input.over).resolves.toBeUndefined();
  });

  it("is gone with its signal, and the next one reads on", async () => {
    const { keyboard, input } = setUp();
    const stop = new AbortController();
    const waiting = input.readLine(stop.signal);
    stop.abort();
    expect(await waiting).toEqual({ kind: "gone" });
    expect(await input.readLine(stop.signal)).toEqual({ kind: "gone" });
    keyboard.write("x\n");
    expect(await input.readLine(never)).toEqual({ kind: "line", text: "x" });
  });

  it("holds a bounded amount while nobody reads", async () => {
    const { clock, keyboard, input } = setUp();
    for (let count = 0; count < 5; count++) keyboard.write("x".repeat(1024 * 1024));
    keyboard.write("\n");
    await clock.advance(0);
    const typed = await input.readLine(never);
    expect(typed.kind === "line" && typed.text.length).toBeLessThan(4 * 1024 * 1024);
  });
});

describe("createTypedInput() drain()", () => {
  it.each([
    ["", "nothing"],
    ["a\n", "lines"],
    ["a\nb", "partial"],
    ["b", "partial"],
  ])("throws %j away and calls it %s", async (text, want) => {
    const { clock, keyboard, input } = setUp();
    keyboard.press(text);
    const draining = input.drain(400, never);
    await clock.advance(400);
    await clock.advance(400);
    expect(await draining).toBe(want);
    keyboard.press("\n");
    keyboard.press("next\n");
    const typed = await input.readLine(never);
    expect(typed).toEqual({ kind: "line", text: "" });
  });

  it("starts its quiet time anew with every key", async () => {
    const { clock, keyboard, input } = setUp();
    let drained: string | undefined;
    const draining = input.drain(400, never).then((result) => (drained = result));
    for (let count = 0; count < 5; count++) {
      await clock.advance(399);
      keyboard.press("x");
      await clock.advance(0);
    }
    expect(drained).toBeUndefined();
    await clock.advance(400);
    expect(await draining).toBe("partial");
  });

  it("sets a terminal raw for its time only, and no other stream", async () => {
    const terminal = setUp();
    const draining = terminal.input.drain(400, never);
    expect(terminal.keyboard.modes).toEqual([true]);
    await terminal.clock.advance(400);
    await draining;
    expect(terminal.keyboard.modes).toEqual([true, false]);
    const pipe = setUp(false);
    const other = pipe.input.drain(400, never);
    await pipe.clock.advance(400);
    await other;
    expect(pipe.keyboard.modes).toEqual([]);
  });

  it("ends with its signal", async () => {
    const { keyboard, input } = setUp();
    const stop = new AbortController();
    const draining = input.drain(400, stop.signal);
    stop.abort();
    expect(await draining).toBe("nothing");
    expect(keyboard.modes).toEqual([true, false]);
  });
});

describe("createTypedInput() release()", () => {
  it("leaves the stream to the next input, which reads on", async () => {
    const { clock, keyboard, input } = setUp();
    input.release();
    const next = createTypedInput({ stream: keyboard, clock });
    keyboard.write("x\n");
    expect(await next.readLine(never)).toEqual({ kind: "line", text: "x" });
  });

  it("lets go of the stream, whose later error ends nothing", async () => {
    const { clock, keyboard, input } = setUp();
    input.release();
    expect(keyboard.isPaused()).toBe(true);
    keyboard.destroy(new Error("EIO"));
    await clock.advance(0);
    expect(keyboard.destroyed).toBe(true);
  });
});
