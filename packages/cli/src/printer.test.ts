import { describe, expect, it } from "vitest";
import { createPrinter, showsColour } from "./printer.js";

function sink(isTTY: boolean): { isTTY: boolean; text: string; write(text: string): void } {
  return {
    isTTY,
    text: "",
    write(text) {
      this.text += text;
    },
  };
}

describe("showsColour()", () => {
  it.each([
    [true, {}, true],
    [false, {}, false],
    [true, { NO_COLOR: "1" }, false],
    [true, { NO_COLOR: "" }, true],
    [true, { TERM: "dumb" }, false],
  ])("with a terminal %s and %j is %s", (isTTY, env, expected) => {
    expect(showsColour(sink(isTTY), env)).toBe(expected);
  });
});

describe("createPrinter()", () => {
  it("prints the lines for a person and the value for a program", () => {
    for (const [json, expected] of [
      [false, "a\nb\n"],
      [true, '{"a":1}\n'],
    ] as const) {
      const stdout = sink(false);
      createPrinter({ stdout, stderr: sink(false), env: {}, json }).result({ a: 1 }, () => [
        "a",
        "b",
      ]);
      expect(stdout.text).toBe(expected);
    }
  });

  it("keeps notices off the result's stream", () => {
    const [stdout, stderr] = [sink(false), sink(false)];
    createPrinter({ stdout, stderr, env: {}, json: false }).notice("mind this");
    createPrinter({ stdout, stderr, env: {}, json: true }).notice("mind that");
    expect(stdout.text).toBe("");
    expect(stderr.text).toBe('acp: mind this\n{"notice":"mind that"}\n');
  });

  it("colours only on a terminal", () => {
    const parts = { stderr: sink(false), env: {}, json: false };
    expect(createPrinter({ ...parts, stdout: sink(true) }).tone("red", "x")).toBe(
      "\u001b[31mx\u001b[39m",
    );
    expect(createPrinter({ ...parts, stdout: sink(false) }).tone("red", "x")).toBe("x");
  });
});
