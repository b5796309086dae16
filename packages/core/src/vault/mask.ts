/// <reference lib="es2024.string" />
/**
 * Masking values: secret values in whatever came back become `[secret NAME]`. Format: spec/vault.md
 * §6.
 */
import { ConsentError } from "../errors.js";
import { makeMasker } from "./masker.js";
import { masksOf } from "./patterns.js";
import type { Secret } from "./secret.js";

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/**
 * What happens to a part that cannot be searched (an instance of a class, a function, a stream): an
 * error, or it stays as it is.
 */
export type OpaqueHandling = "refuse" | "keep";

/** One walk over a value. */
interface Walk {
  readonly maskBytes: (bytes: Uint8Array) => Uint8Array;
  readonly opaque: OpaqueHandling;
  /** Copies by original: shared parts stay shared, and a cycle ends. */
  readonly copies: Map<object, unknown>;
}

/**
 * A copy in which no text, key, number or byte array shows a secret's value; without secrets, the
 * value itself. An Error stays the same object, and its texts are replaced.
 *
 * @param opaque - `"refuse"` unless given.
 * @throws ConsentError `secret_refused` for a part that cannot be searched, unless `opaque` is
 *   `"keep"`. Mask a stream with `release.masker()` and return data.
 */
export function maskSecrets<T>(
  value: T,
  secrets: readonly Secret[],
  opaque: OpaqueHandling = "refuse",
): T {
  if (secrets.length === 0) return value;
  const masker = makeMasker(masksOf(secrets));
  const maskBytes = (bytes: Uint8Array): Uint8Array => {
    const begun = masker.push(bytes);
    const rest = masker.end();
    const joined = new Uint8Array(begun.length + rest.length);
    joined.set(begun);
    joined.set(rest, begun.length);
    return joined;
  };
  // The copy has the shape of the original: only texts in it differ, and a number that is a secret
  // becomes a text.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return maskAny({ maskBytes, opaque, copies: new Map() }, value) as T;
}

function maskAny(walk: Walk, value: unknown): unknown {
  switch (typeof value) {
    case "string":
      return maskText(walk, value);
    case "number":
    case "bigint": {
      const text = String(value);
      const masked = maskText(walk, text);
      return masked === text ? value : masked;
    }
    case "undefined":
    case "boolean":
      return value;
    case "object":
      return value === null ? value : maskObject(walk, value);
    default:
      return maskOpaque(walk, value);
  }
}

function maskOpaque({ opaque }: Walk, value: unknown): unknown {
  if (opaque === "keep") return value;
  throw new ConsentError(
    "secret_refused",
    "Cannot mask a result: it holds something other than data",
  );
}

function maskText({ maskBytes }: Walk, text: string): string {
  const bytes = encoder.encode(text);
  const masked = maskBytes(bytes);
  return isSame(bytes, masked) ? text : decoder.decode(masked);
}

function isSame(left: Uint8Array, right: Uint8Array): boolean {
  return left.length === right.length && left.every((byte, at) => byte === right[at]);
}

function maskObject(walk: Walk, value: object): unknown {
  const known = walk.copies.get(value);
  if (known !== undefined) return known;
  if (value instanceof Error) return maskError(walk, value);
  if (value instanceof Uint8Array) return maskArray(walk, value);
  if (Array.isArray(value)) {
    const copy: unknown[] = [];
    walk.copies.set(value, copy);
    for (const item of value) copy.push(maskAny(walk, item));
    return copy;
  }
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== null && Object.getPrototypeOf(prototype) !== null)
    return value instanceof Date ? value : maskOpaque(walk, value);
  return maskMembers(walk, value, {});
}

function maskMembers(walk: Walk, value: object, copy: object): object {
  walk.copies.set(value, copy);
  for (const [key, member] of Object.entries(value))
    Object.defineProperty(copy, maskText(walk, key), {
      value: maskAny(walk, member),
      enumerable: true,
      writable: true,
      configurable: true,
    });
  return copy;
}

function maskArray({ maskBytes }: Walk, bytes: Uint8Array): Uint8Array {
  const masked = maskBytes(bytes);
  if (isSame(bytes, masked)) return bytes;
  Reflect.setPrototypeOf(masked, Reflect.getPrototypeOf(bytes)); // a Buffer stays a Buffer
  return masked;
}

/**
 * An error is thrown on as it is, so that its class and its code still tell what happened; its
 * texts are replaced in place.
 */
function maskError(walk: Walk, error: Error): Error {
  walk.copies.set(error, error);
  const isClean = Object.getOwnPropertyNames(error).every((key) => maskProperty(walk, error, key));
  // A class may compute its message: then nothing can be put in its place.
  if (isClean && maskText(walk, error.message) === error.message) return error;
  return new Error("An error that holds a secret cannot be shown");
}

function maskProperty(walk: Walk, error: Error, key: string): boolean {
  const property = Object.getOwnPropertyDescriptor(error, key);
  const member: unknown = Reflect.get(error, key);
  const masked = maskMember(walk, member);
  if (masked === member) return true;
  return Reflect.defineProperty(error, key, {
    value: masked,
    enumerable: property?.enumerable ?? false,
    writable: true,
    configurable: true,
  });
}

/** What an error carries besides text may be anything; what cannot be looked into is taken away. */
function maskMember(walk: Walk, member: unknown): unknown {
  try {
    return maskAny(walk, member);
  } catch {
    return undefined;
  }
}
