import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { someInLane } from "../../../tools/deep.js";
import { splitLines } from "../src/lines.js";
import { type AuditVerification, verifyLines } from "../src/verify.js";
import { makeEvent, makeLines, streamOf } from "./support.js";

const COUNT = 8;
const LINES = await makeLines(
  Array.from({ length: COUNT }, (_, number) =>
    makeEvent(number, {
      tool: `tool_${number}`,
      metadata: { text: 'caf\u00e9 "\n\u2028', list: [number, 0.5, null] },
    }),
  ),
);
const BYTES = Buffer.from(joined(LINES));

function joined(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join("");
}

function verify(content: string | Uint8Array): Promise<AuditVerification> {
  return verifyLines(splitLines(streamOf(content)));
}

/** Number of the line, from 1, that holds the byte. */
function lineAt(offset: number): number {
  return BYTES.subarray(0, offset).filter((byte) => byte === 0x0a).length + 1;
}

const place = fc.nat(COUNT - 1);

describe("verifyAuditLog()", () => {
  it("accepts the log that is tampered with below", async () => {
    expect(await verify(BYTES)).toMatchObject({ ok: true, events: COUNT });
  });

  it("finds every flip of every bit, on its line", async () => {
    for (let offset = 0; offset < BYTES.length; offset++) {
      for (const bit of someInLane([0, 1, 2, 3, 4, 5, 6, 7], offset)) {
        const flipped = Buffer.from(BYTES);
        flipped[offset] = (flipped[offset] ?? 0) ^ (1 << bit);
        const { firstBad } = await verify(flipped);
        if (firstBad?.line !== lineAt(offset))
          throw new Error(
            `bit ${bit} of byte ${offset} on line ${lineAt(offset)}: ${JSON.stringify(firstBad)}`,
          );
      }
    }
  });

  it("finds any replaced stretch of bytes, on its line", async () => {
    const stretch = fc.tuple(
      fc.nat(BYTES.length - 1),
      fc.uint8Array({ minLength: 1, maxLength: 40 }),
    );
    await fc.assert(
      fc.asyncProperty(stretch, async ([offset, bytes]) => {
        const changed = Buffer.from(BYTES);
        changed.set(bytes.subarray(0, changed.length - offset), offset);
        fc.pre(!changed.equals(BYTES));
        const first = changed.findIndex((byte, at) => byte !== BYTES[at]);
        expect((await verify(changed)).firstBad?.line).toBe(lineAt(first));
      }),
    );
  });

  it("finds deleted lines, where the next one follows", async () => {
    await fc.assert(
      fc.asyncProperty(place, fc.integer({ min: 1, max: COUNT }), async (at, many) => {
        fc.pre(at + many < COUNT); // a log cut at its end is shorter, not broken
        expect(
          (await verify(joined([...LINES.slice(0, at), ...LINES.slice(at + many)]))).firstBad,
        ).toMatchObject({
          line: at + 1,
          code: "seq_broken",
        });
      }),
    );
  });

  it("finds repeated lines", async () => {
    await fc.assert(
      fc.asyncProperty(place, place, async (from, at) => {
        const line = LINES[from] ?? "";
        const { firstBad } = await verify(
          joined([...LINES.slice(0, at), line, ...LINES.slice(at)]),
        );
        expect(firstBad).toMatchObject({ line: from === at ? at + 2 : at + 1, code: "seq_broken" });
      }),
    );
  });

  it("finds any other order of the lines, at the first that moved", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.shuffledSubarray([...LINES.keys()], { minLength: COUNT }),
        async (order) => {
          const first = order.findIndex((from, at) => from !== at);
          fc.pre(first !== -1);
          const { firstBad } = await verify(joined(order.map((from) => LINES[from] ?? "")));
          expect(firstBad).toMatchObject({ line: first + 1, code: "seq_broken" });
        },
      ),
    );
  });

  it("finds a line of another log in a line's place, at the next one", async () => {
    const other = await makeLines(
      Array.from({ length: COUNT }, (_, number) => makeEvent(number + 100)),
    );
    await fc.assert(
      fc.asyncProperty(fc.nat(COUNT - 2), async (at) => {
        const { firstBad } = await verify(
          joined(LINES.map((line, number) => (number === at ? (other[at] ?? "") : line))),
        );
        expect(firstBad).toMatchObject(
          at === 0 ? { line: 2, code: "chain_broken" } : { line: at + 1, code: "chain_broken" },
        );
      }),
    );
  });

  it("finds a log cut inside a line", async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: BYTES.length - 1 }), async (end) => {
        fc.pre(BYTES[end - 1] !== 0x0a);
        expect((await verify(BYTES.subarray(0, end))).firstBad).toMatchObject({
          line: lineAt(end - 1),
          code: "torn_line",
        });
      }),
    );
  });

  it("takes no text of an agent for a line", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.string({
          unit: fc.constantFrom(
            "\n",
            "\r",
            "\u2028",
            '"',
            "\\",
            "{",
            "}",
            ",",
            "\0",
            "\ufeff",
            ...(LINES[0] ?? ""),
          ),
        }),
        async (text) => {
          const lines = await makeLines([
            makeEvent(1, { tool: text, agent: text, metadata: { [`k${text}`]: text } }),
            makeEvent(2),
          ]);
          expect(await verify(joined(lines))).toMatchObject({ ok: true, events: 2 });
        },
      ),
    );
  });
});
