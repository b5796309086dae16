import { Writable } from "node:stream";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createScreen } from "./terminal-screen.js";

interface PaperOptions {
  readonly columns?: number;
  readonly color?: boolean;
  readonly isTTY?: boolean;
}

/** A screen whose output keeps every byte. */
const onPaper = ({ columns = 100, color = false, isTTY = true }: PaperOptions = {}) => {
  const chunks: Buffer[] = [];
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      chunks.push(chunk);
      done();
    },
  });
  const paper = Object.assign(stream, {
    isTTY,
    columns,
    text: () => Buffer.concat(chunks).toString("utf8"),
  });
  return { paper, screen: createScreen({ output: paper, color }) };
};

/** Columns of a row at least: a character that is not ASCII takes one or two. */
const widthAtMost = (row: string): number =>
  [...row].reduce((sum, each) => sum + (each <= "~" ? 1 : 2), 0);

describe("createScreen() quotes text of others", () => {
  it.each([
    ["\u001b[2J", "│ \\u001b[2J"],
    ["\u001b]0;title\u0007", "│ \\u001b]0;title\\u0007"],
    ["\u009b31m", "│ \\u009b31m"],
    ["Risk: low\rRisk: high", "│ Risk: low\\u000dRisk: high"],
    ["a\u0008b", "│ a\\u0008b"],
    ["\u202egpj.exe", "│ \\u202egpj.exe"],
    ["a\u200bb\u2066c", "│ a\\u200bb\\u2066c"],
    ["tag\u{e0041}", "│ tag\\udb40\\udc41"],
    ["two\u2028lines", "│ two\\u2028lines"],
  ])("%j as %j", (text, want) => {
    const { paper, screen } = onPaper();
    screen.quote([text]);
    expect(paper.text()).toBe(`${want}\n`);
  });

  it("so that no text writes a control character or a row without the gutter, at any width", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: "binary", maxLength: 300 }),
        fc.integer({ min: 1, max: 200 }),
        (text, columns) => {
          const { paper, screen } = onPaper({ columns });
          screen.quote([text]);
          const rows = paper.text().split("\n").slice(0, -1);
          for (const row of rows) {
            expect(row).toMatch(/^│ (?:↪ )?/);
            expect(row).not.toMatch(/\p{C}|\p{Zl}|\p{Zp}/u);
            expect(widthAtMost(row)).toBeLessThanOrEqual(Math.max(24, columns) + 4);
          }
        },
      ),
    );
  });

  it("so that padding cannot push a forged line to the edge of the screen", () => {
    const { paper, screen } = onPaper({ columns: 40 });
    screen.quote([`"x${" ".repeat(36)}Risk:  low"`]);
    expect(
      paper
        .text()
        .split("\n")
        .some((row) => row.startsWith("Risk")),
    ).toBe(false);
  });

  it("with colours of ours only around it", () => {
    const { paper, screen } = onPaper({ color: true });
    screen.quote(["\u001b[32mfine"], "red");
    expect(paper.text()).toBe("\u001b[31m│ \\u001b[32mfine\u001b[0m\n");
  });
});

describe("createScreen() redraws", () => {
  it("the status line above the prompt, on a terminal", () => {
    const { paper, screen } = onPaper();
    screen.restatus("0:09 left");
    expect(paper.text()).toBe("\u001b7\u001b[1A\r\u001b[2K0:09 left\u001b8");
  });

  it("nothing elsewhere", () => {
    const { paper, screen } = onPaper({ isTTY: false });
    screen.restatus("0:09 left");
    expect(paper.text()).toBe("");
  });

  it("no more than one row of it", () => {
    const { paper, screen } = onPaper({ columns: 30 });
    screen.prompt("x".repeat(100), "> ");
    expect(paper.text()).toBe(`${"x".repeat(29)}\n> `);
  });
});

describe("createScreen() writes", () => {
  it("nothing to an output that is over", () => {
    const { paper, screen } = onPaper();
    paper.destroy();
    expect(() => screen.say("x")).not.toThrow();
  });
});
