import fc from "fast-check";
import type { JsonValue } from "@acp/core";
import { expect, it } from "vitest";
import { jsonBytes } from "./json-bytes.js";

it("jsonBytes() is the length of the JSON text", () => {
  const text = fc.oneof(fc.string(), fc.string({ unit: "binary" }), fc.constant('\ud800\u0000"\\'));
  const value = fc.letrec<{ value: JsonValue }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      text,
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.boolean(),
      fc.constant(null),
      fc.array(tie("value"), { maxLength: 4 }),
      fc.dictionary(text, tie("value"), { maxKeys: 4 }),
    ),
  })).value;
  fc.assert(
    fc.property(value, (each) => {
      expect(jsonBytes(each)).toBe(Buffer.byteLength(JSON.stringify(each)));
    }),
  );
});
