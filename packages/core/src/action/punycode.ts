/**
 * Punycode (RFC 3492), decoding only: platforms do not agree on checking A-labels, so host.ts
 * decodes each and lets the platform encode it again.
 */
const BASE = 36;
const T_MIN = 1;
const T_MAX = 26;
const SKEW = 38;
const DAMP = 700;
const FIRST_BIAS = 72;
const FIRST_CODE_POINT = 0x80;
const LAST_CODE_POINT = 0x10ffff;

/** The text of an encoded label without its `xn--`; `undefined` where it is not Punycode. */
export function decodePunycode(encoded: string): string | undefined {
  const hyphen = encoded.lastIndexOf("-");
  const points = Array.from(encoded.slice(0, Math.max(hyphen, 0)), (basic) => basic.charCodeAt(0));
  let codePoint = FIRST_CODE_POINT;
  let bias = FIRST_BIAS;
  let sum = 0;
  for (let at = hyphen > 0 ? hyphen + 1 : 0; at < encoded.length; ) {
    const before = sum;
    for (let weight = 1, k = BASE; ; k += BASE) {
      const digit = digitOf(encoded.charCodeAt(at++));
      if (digit === undefined) return undefined;
      sum += digit * weight;
      const threshold = Math.min(Math.max(k - bias, T_MIN), T_MAX);
      if (digit < threshold) break;
      weight *= BASE - threshold;
    }
    const count = points.length + 1;
    bias = adapt(sum - before, count, before === 0);
    codePoint += Math.floor(sum / count);
    if (!(codePoint <= LAST_CODE_POINT)) return undefined;
    sum %= count;
    points.splice(sum++, 0, codePoint);
  }
  return String.fromCodePoint(...points);
}

function digitOf(unit: number): number | undefined {
  if (unit >= 0x30 && unit <= 0x39) return unit - 0x30 + 26;
  if (unit >= 0x61 && unit <= 0x7a) return unit - 0x61;
  return undefined;
}

function adapt(delta: number, count: number, first: boolean): number {
  let rest = Math.floor(delta / (first ? DAMP : 2));
  rest += Math.floor(rest / count);
  let k = 0;
  for (; rest > ((BASE - T_MIN) * T_MAX) / 2; k += BASE) rest = Math.floor(rest / (BASE - T_MIN));
  return k + Math.floor(((BASE - T_MIN + 1) * rest) / (rest + SKEW));
}
