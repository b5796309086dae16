/**
 * Public keys: every key that ever signed for this home, newest first, and when it was in use. The
 * file's first 64 characters are the key in use. Format: spec/vault.md §8.
 */
import { ConsentError, isoTime, parseIsoTime } from "@acp/core";
import { importPublicKey, type TrustedKey } from "@acp/core/proof";

/** A public key and the time it was in use. */
export interface KeyPeriod {
  /** The public key: 64 lower-case hex digits. */
  readonly publicKey: string;
  /** When it came into use, in milliseconds since 1970. */
  readonly fromMs: number;
  /** When it went out of use, in milliseconds since 1970. Absent: it is in use. */
  readonly untilMs?: number;
}

const LINE = /^([0-9a-f]{64}) (\S+)(?: (\S+))?$/;

/** Returns the text of `keys/public.key`. Format: spec/vault.md §8. */
export function printPublicKeys(periods: readonly KeyPeriod[]): string {
  return periods.map(printPeriod).join("");
}

function printPeriod({ publicKey, fromMs, untilMs }: KeyPeriod): string {
  return `${publicKey} ${isoTime(fromMs)}${untilMs === undefined ? "" : ` ${isoTime(untilMs)}`}\n`;
}

/**
 * The keys with the new one in front and the one before retired; unchanged where the new one is
 * there.
 */
export function succeed(
  periods: readonly KeyPeriod[],
  publicKey: string,
  nowMs: number,
): readonly KeyPeriod[] {
  const [current, ...older] = periods;
  if (current?.publicKey === publicKey) return periods;
  // A clock that went back must not give a key a time that ends before it starts.
  const fromMs = Math.max(nowMs, current?.fromMs ?? nowMs);
  return [
    { publicKey, fromMs },
    ...(current === undefined ? [] : [{ ...current, untilMs: fromMs }]),
    ...older,
  ];
}

/**
 * Parses the text of `keys/public.key`.
 *
 * @returns The keys, newest first; the first one is in use.
 * @throws ConsentError `key_rejected` if the text is malformed, a key is unusable, the times
 * overlap, or not exactly one key is in use.
 */
export function parsePublicKeys(text: string): readonly KeyPeriod[] {
  const periods = text.split("\n").slice(0, -1).map(parseLine);
  for (const [index, { untilMs }] of periods.entries()) {
    const next = periods[index - 1];
    if (next === undefined ? untilMs !== undefined : untilMs === undefined || untilMs > next.fromMs)
      throw broken(index, "its time does not fit the key before it");
  }
  if (periods.length === 0 || printPublicKeys(periods) !== text)
    throw broken(0, "it is not in the format that acp writes");
  return periods;
}

function parseLine(line: string, index: number): KeyPeriod {
  const [, publicKey = "", from = "", until] = LINE.exec(line) ?? [];
  const [fromMs, untilMs] = [
    parseIsoTime(from),
    until === undefined ? undefined : parseIsoTime(until),
  ];
  if (fromMs === undefined || (until !== undefined && (untilMs === undefined || untilMs < fromMs)))
    throw broken(index, "it is not a key with its times");
  importPublicKey(publicKey);
  return { publicKey, fromMs, ...(untilMs === undefined ? {} : { untilMs }) };
}

/** Converts the keys to the form that a verifier takes. */
export function trustedKeysOf(periods: readonly KeyPeriod[]): readonly TrustedKey[] {
  return periods.map(({ publicKey, fromMs, untilMs }) => ({
    key: importPublicKey(publicKey),
    validFromMs: fromMs,
    ...(untilMs === undefined ? {} : { validUntilMs: untilMs }),
  }));
}

function broken(index: number, why: string): ConsentError {
  return new ConsentError(
    "key_rejected",
    `Cannot read the public keys at line ${index + 1}: ${why}`,
  );
}
