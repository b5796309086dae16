import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { makeEvent } from "../test/support.js";
import { encodeEvent } from "./codec.js";
import { hashText, lineParts } from "./event-line.js";
import { LINE_BYTES_MAX } from "./event.js";
import { createLineBuffer } from "./line-buffer.js";

describe("createLineBuffer()", () => {
  it("holds the lines that encodeEvent gives, whatever their texts are", () => {
    const lines = createLineBuffer();
    const text = fc.string({ unit: "grapheme", maxLength: 80 });
    fc.assert(
      fc.property(
        fc.array(fc.record({ agent: text, tool: text, filler: text }), {
          minLength: 1,
          maxLength: 5,
        }),
        (batch) => {
          lines.clear();
          let head: ReturnType<typeof encodeEvent>["head"] | undefined;
          let whole = "";
          for (const [number, { agent, tool, filler }] of batch.entries()) {
            const event = makeEvent(number, { agent, tool, metadata: { [filler]: filler } });
            const hex = lines.addEvent(lineParts(event, head, {}));
            const encoded = encodeEvent(event, head);
            expect(hashText(hex)).toBe(encoded.head.hash);
            ({ head } = encoded);
            whole += `${encoded.line}\n`;
          }
          expect(lines.bytes().toString("utf8")).toBe(whole);
          expect(lines.size()).toBe(Buffer.byteLength(whole));
        },
      ),
    );
  });

  it("holds other lines as they are", () => {
    const lines = createLineBuffer();
    lines.add("caf\u00e9");
    lines.add("");
    expect(lines.bytes().toString("utf8")).toBe("caf\u00e9\n\n");
    expect(() => lines.add("\u20ac".repeat(LINE_BYTES_MAX / 2))).toThrow(RangeError);
    expect(lines.size()).toBe(7);
  });

  it("grows, and keeps what it holds", () => {
    const lines = createLineBuffer();
    const large = makeEvent(1, { agent: "\u00e9", metadata: { filler: "\u20ac".repeat(200_000) } });
    lines.addEvent(lineParts(makeEvent(0), undefined, {}));
    lines.addEvent(lineParts(large, undefined, {}));
    expect(lines.bytes().toString("utf8")).toBe(
      `${encodeEvent(makeEvent(0), undefined).line}\n${encodeEvent(large, undefined).line}\n`,
    );
  });

  it("takes back what was added since a size", () => {
    const lines = createLineBuffer();
    lines.addEvent(lineParts(makeEvent(1), undefined, {}));
    const size = lines.size();
    lines.addEvent(lineParts(makeEvent(2), undefined, {}));
    lines.cutTo(size);
    expect(lines.bytes().toString("utf8")).toBe(`${encodeEvent(makeEvent(1), undefined).line}\n`);
  });

  it("takes the longest line that is allowed, and refuses a longer one and stays as it was", () => {
    const lines = createLineBuffer();
    const filled = (bytes: number) =>
      lineParts(makeEvent(1, { metadata: { filler: "x".repeat(bytes) } }), undefined, {});
    const empty = encodeEvent(makeEvent(1, { metadata: { filler: "" } }), undefined).line.length;
    lines.addEvent(filled(LINE_BYTES_MAX - empty));
    expect(lines.size()).toBe(LINE_BYTES_MAX + 1);
    lines.clear();
    expect(() => lines.addEvent(filled(LINE_BYTES_MAX - empty + 1))).toThrow(RangeError);
    expect(() => lines.addEvent(filled(LINE_BYTES_MAX + 1))).toThrow(RangeError);
    expect(lines.bytes()).toHaveLength(0);
  });
});
