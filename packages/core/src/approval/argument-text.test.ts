import { describe, expect, it } from "vitest";
import { layOutArguments } from "./argument-text.js";

describe("layOutArguments()", () => {
  it("keeps the order in which the arguments are performed, and lays nothing out but JSON", () => {
    const { rows, notes, longest } = layOutArguments({
      z: 1,
      a: [true, null, { "k\ne": "v" }],
      empty: {},
      none: [],
    });
    expect(rows).toEqual([
      "  {",
      '    "z": 1,',
      '    "a": [',
      "      true,",
      "      null,",
      "      {",
      '        "k\\ne": "v"',
      "      }",
      "    ],",
      '    "empty": {},',
      '    "none": []',
      "  }",
    ]);
    expect(notes).toEqual([]);
    expect(longest).toEqual({ key: "k\ne", length: 1 });
  });

  it("reads texts in texts, each beside what it was read from", () => {
    const inner = JSON.stringify({ url: "https://a.b/?x=aGVsbG8gd29ybGQgb25jZQ%3D%3D" });
    expect(layOutArguments({ body: inner }).rows).toEqual([
      "  {",
      `    "body": ${JSON.stringify(inner)}`,
      "      = JSON:",
      "      =   {",
      '      =     "url": "https://a.b/?x=aGVsbG8gd29ybGQgb25jZQ%3D%3D"',
      "      =       = URL: https, host a.b, port 443",
      '      =       = query "x": "aGVsbG8gd29ybGQgb25jZQ%3D%3D" is "aGVsbG8gd29ybGQgb25jZQ=="',
      '      =       =   if it is base64: "hello world once"',
      "      =   }",
      "  }",
    ]);
  });

  it("reads texts in texts three deep, not without end", () => {
    let text = "the text in the middle";
    for (let i = 0; i < 6; i++) text = Buffer.from(text).toString("base64");
    const { rows } = layOutArguments({ text });
    expect(rows.filter((row) => row.includes("if it is base64")).length).toBe(4);
  });

  it("names a text that is too long to be read by its size and digest", () => {
    const { rows } = layOutArguments({ text: "ab c".repeat(3_000) });
    expect(rows[2]).toMatch(
      /^ {6}= not decoded: 12,000 characters, in UTF-8 12,000 bytes, sha256:[0-9a-f]+$/,
    );
  });

  it("says what it has no room to read", () => {
    const many = Object.fromEntries(
      Array.from({ length: 3_000 }, (_, at) => [`key${at}`, `https://a.b/${at}`]),
    );
    const { rows, notes } = layOutArguments(many);
    const read = rows.filter((row) => row.includes("= URL: ")).length;
    expect(read).toBeGreaterThan(500);
    expect(notes).toEqual([
      `${(3_000 - read).toLocaleString("en-US")} texts below stand there raw only: the room for decodings is used up`,
    ]);
  });

  it("flags hosts also where the room for decodings is used up, and names the first of them", () => {
    const padding = Object.fromEntries(
      Array.from({ length: 3_000 }, (_, at) => [`key${at}`, `https://a.b/${at}`]),
    );
    const hosts = Object.fromEntries(
      Array.from({ length: 8 }, (_, at) => [`host${at}`, `see http://аpple${at}.com`]),
    );
    const { rows, notes } = layOutArguments({ ...padding, ...hosts });
    expect(notes.slice(0, 6)).toEqual([
      ...[0, 1, 2, 3, 4].map((at) =>
        expect.stringMatching(new RegExp(`^host xn--\\S+ shows as "аpple${at}.com": `)),
      ),
      "not what they look like either: 3 further hosts below",
    ]);
    expect(rows.filter((row) => row.includes("= host xn--"))).toHaveLength(8);
  });

  it("says that it looked at no more than a thousand hosts", () => {
    const text = Array.from({ length: 1_000 }, (_, at) => `http://ü${at}.de`).join(" ");
    expect(layOutArguments({ text }).notes).toEqual([]);
    expect(layOutArguments({ text: `${text} http://ü1.de http://аpple.com` }).notes).toEqual([
      "only the first 1,000 hosts that are not ASCII were looked at",
    ]);
  });

  it("stops indenting, not showing, deep values", () => {
    let value: unknown = "x";
    for (let i = 0; i < 50; i++) value = [value];
    const { rows } = layOutArguments({ value } as Parameters<typeof layOutArguments>[0]);
    expect(rows).toHaveLength(103);
    expect(rows[51]).toBe(`${" ".repeat(34)}"x"`);
  });
});
