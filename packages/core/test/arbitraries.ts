/** What property tests generate, and how they look at an outcome. */
import fc from "fast-check";
import { isConsentError } from "../src/index.js";
import type { JsonObject, JsonValue } from "../src/index.js";

/** Unicode text of every plane without unpaired surrogates, controls and quotes included. */
export const text: fc.Arbitrary<string> = fc.string({ unit: "binary", maxLength: 60 });
const number = fc.oneof(fc.double({ noNaN: true, noDefaultInfinity: true }), fc.maxSafeInteger());
const leaf = fc.oneof(text, number, fc.boolean(), fc.constant(null));
const { value, object } = fc.letrec<{ value: JsonValue; object: JsonObject }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    leaf,
    fc.array(tie("value"), { maxLength: 6 }),
    tie("object"),
  ),
  object: fc.dictionary(
    fc.oneof(text, fc.constantFrom("__proto__", "constructor", "toJSON", "a", "10", "9")),
    tie("value"),
    {
      maxKeys: 30,
      noNullPrototype: false,
    },
  ),
}));

/** Any JSON value. */
export const anyJson: fc.Arbitrary<JsonValue> = value;
/** Any JSON object, awkward keys included. */
export const anyObject: fc.Arbitrary<JsonObject> = object;

/** What `run` returns, or the code of its refusal; any other error fails the test. */
export function outcome<T>(run: () => T): { readonly value: T } | { readonly code: string } {
  try {
    return { value: run() };
  } catch (error) {
    if (isConsentError(error)) return { code: error.code };
    throw error;
  }
}
