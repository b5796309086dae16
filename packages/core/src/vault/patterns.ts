/** Patterns: every way of writing a secret's value that masking looks for besides escapes. Format: spec/vault.md §6. */
import { type Automaton, buildAutomaton, type Pattern } from "./automaton.js";
import { toBase64, URL_SAFE } from "./base64.js";
import { toHex } from "../crypto/hex.js";
import { SECRET_BYTES_MIN } from "../limits.js";
import { revealSecret, type Secret, secretLabel } from "./secret.js";

/** What maskers of the same secrets share. Holds the values: never log it. */
export interface Masks {
  /** The value itself, and in base64. */
  readonly plain: Automaton;
  /** The value in lower-case hex. */
  readonly hex: Automaton;
  /** What takes the place of each secret, as UTF-8. */
  readonly labels: readonly Uint8Array[];
  /** Whether a value has a blank, which forms write as `+`. */
  readonly hasBlank: boolean;
}

const encoder = new TextEncoder();
const compiled = new WeakMap<readonly Secret[], Masks>();

/** The masks of a list of secrets; kept as long as the list itself. */
export function masksOf(secrets: readonly Secret[]): Masks {
  const known = compiled.get(secrets);
  if (known !== undefined) return known;
  const masks = compileMasks(secrets);
  if (Object.isFrozen(secrets)) compiled.set(secrets, masks);
  return masks;
}

function compileMasks(secrets: readonly Secret[]): Masks {
  const values = secrets.map((secret) => withoutMargins(revealSecret(secret)));
  const patterns = (write: (value: Uint8Array) => readonly Omit<Pattern, "label">[]): readonly Pattern[] =>
    values.flatMap((value, label) => write(value).map((pattern) => ({ ...pattern, label })));
  return Object.freeze({
    plain: buildAutomaton(patterns((value) => [{ bytes: value }, ...inBase64(value)])),
    hex: buildAutomaton(patterns((value) => [{ bytes: encoder.encode(toHex(value)) }])),
    labels: secrets.map(({ name }) => encoder.encode(secretLabel(name))),
    hasBlank: values.some((value) => value.includes(0x20)),
  });
}

/** The bytes of a value without the blanks and line feeds around it: whoever is given a value may cut them off. */
function withoutMargins(value: string): Uint8Array {
  const bytes = encoder.encode(value.trim());
  return bytes.length < SECRET_BYTES_MIN ? encoder.encode(value) : bytes;
}

/**
 * The characters of base64 that a value alone decides, for each of the three places that it can have within a group of three bytes; and, where
 * it ends the data, the last character and the padding.
 */
function inBase64(value: Uint8Array): readonly Omit<Pattern, "label">[] {
  return [undefined, URL_SAFE].flatMap((alphabet) =>
    [0, 1, 2].map((offset) => {
      const shifted = new Uint8Array(offset + value.length);
      shifted.set(value, offset);
      const text = toBase64(shifted, alphabet);
      const from = Math.ceil((offset * 8) / 6);
      const padding = "=".repeat((4 - (text.length % 4)) % 4);
      return { bytes: encoder.encode(text.slice(from) + padding), complete: Math.floor((shifted.length * 8) / 6) - from };
    }),
  );
}
