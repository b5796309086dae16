/**
 * Strict Ed25519: which keys and signatures are refused before a backend sees them, so that every
 * backend says the same. Refused: a key that is no canonical encoding of a point, the points of low
 * order (as key and as R), S ≥ L. What remains is judged by the equation without cofactor, R = [S]B
 * − [k]A, compared as bytes; so a non-canonical R never passes. Format: spec/proof.md §2.
 */
import { ConsentError } from "../errors.js";

/** Length of a seed and of a public key. */
export const KEY_BYTES = 32;
const SIGNATURE_BYTES = 64;

const P = 2n ** 255n - 19n;
const D = 0x52036cee2b6ffe738cc740797779e89800700a4d4141d8ab75eb4dca135978a3n;
const L = 2n ** 252n + 27742317777372353535851937790883648493n;
/** y of the eight points of low order; each stands for both signs of x. */
const LOW_ORDER_Y: readonly bigint[] = [
  0n,
  1n,
  P - 1n,
  0x05fc536d880238b13933c6d305acdfd5f098eff289f4c345b027b2c28f95e826n,
  0x7a03ac9277fdc74ec6cc392cfa53202a0f67100d760b3cba4fd84d3d706a17c7n,
];

/** A number as 32 bytes, the least significant first. */
function toLittleEndian(number: bigint): Uint8Array {
  return Uint8Array.from({ length: KEY_BYTES }, (_, index) =>
    Number((number >> BigInt(8 * index)) & 0xffn),
  );
}

const P_BYTES = toLittleEndian(P);
const L_BYTES = toLittleEndian(L);
const LOW_ORDER = LOW_ORDER_Y.map(toLittleEndian);

/** The bytes without the sign of x. */
function yOf(point: Uint8Array): Uint8Array {
  const y = Uint8Array.from(point);
  y[KEY_BYTES - 1] = (y[KEY_BYTES - 1] ?? 0) & 0x7f;
  return y;
}

/** Whether one little-endian number is below another of the same length. */
function isBelow(bytes: Uint8Array, bound: Uint8Array): boolean {
  for (let at = bytes.length - 1; at >= 0; at--) {
    const difference = (bytes[at] ?? 0) - (bound[at] ?? 0);
    if (difference !== 0) return difference < 0;
  }
  return false;
}

function isLowOrder(y: Uint8Array): boolean {
  return LOW_ORDER.some((low) => low.every((byte, at) => byte === y[at]));
}

function power(base: bigint, exponent: bigint): bigint {
  let result = 1n;
  let square = base;
  for (let rest = exponent; rest > 0n; rest >>= 1n) {
    if ((rest & 1n) === 1n) result = (result * square) % P;
    square = (square * square) % P;
  }
  return result;
}

/**
 * Whether an x exists for this y: x² = (y² − 1) / (d·y² + 1), by Euler's criterion. The numerator
 * is 0 only for points of low order.
 */
function isOnCurve(yBytes: Uint8Array): boolean {
  const y = yBytes.reduceRight((number, byte) => (number << 8n) | BigInt(byte), 0n);
  const square = (y * y) % P;
  // A quotient is a square exactly where the product is.
  return power(((square + P - 1n) * (D * square + 1n)) % P, (P - 1n) / 2n) === 1n;
}

function keyProblem(publicKey: Uint8Array): string | undefined {
  if (publicKey.length !== KEY_BYTES)
    return `it has ${publicKey.length} bytes instead of ${KEY_BYTES}`;
  const y = yOf(publicKey);
  if (isLowOrder(y)) return "it is a point of low order";
  if (!isBelow(y, P_BYTES)) return "it is not the canonical encoding of a point";
  return isOnCurve(y) ? undefined : "it is not a point of the curve";
}

/**
 * Refuses a public key that no backend may trust. About 0.2 ms: keep what was accepted.
 *
 * @throws ConsentError `key_rejected`.
 */
export function requireStrictKey(publicKey: Uint8Array): void {
  const problem = keyProblem(publicKey);
  // The bytes stay out of the text: who mixed up the two halves of a pair would find the private
  // one in a log.
  if (problem !== undefined)
    throw new ConsentError("key_rejected", `Cannot trust a public key: ${problem}`);
}

/** Whether a signature may be shown to a backend at all. */
export function isStrictSignature(signature: Uint8Array): boolean {
  if (signature.length !== SIGNATURE_BYTES) return false;
  return (
    isBelow(signature.subarray(KEY_BYTES), L_BYTES) &&
    !isLowOrder(yOf(signature.subarray(0, KEY_BYTES)))
  );
}
