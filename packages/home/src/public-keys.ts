/**
 * Public keys: every key that ever signed for this home, newest first, and when it was in use. The
 * file's first 64 characters are the key in use. Times are those that the machine's clock showed,
 * and a clock can be wrong: a time that a key signed at is always one of its own. Format:
 * spec/vault.md §8.
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

/** One signature: which key gave it, and the time that it bears. */
export interface SignedAt {
  /** 64 lower-case hex digits. */
  readonly publicKey: string;
  /** Milliseconds since 1970. */
  readonly atMs: number;
}

/**
 * The keys with the new one in front and the one before retired; unchanged where the new one is
 * there.
 *
 * @param nowMs - The log's time: the clock's, or the time of the last event where that is later.
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
 * The keys with the one in use beginning no later than a time that it is about to sign at: its
 * clock was ahead when it came into use. Unchanged where the time is its own already.
 */
export function beginBy(periods: readonly KeyPeriod[], atMs: number): readonly KeyPeriod[] {
  const [current, ...older] = periods;
  if (current === undefined || current.fromMs <= atMs) return periods;
  return [{ ...current, fromMs: atMs }, ...older];
}

/** Signatures that are a day apart are of two times. */
const APART_MS = 86_400_000;

/**
 * The keys with a line more for each time at which a retired key signed outside of its own, and the
 * one in use beginning with its first signature. Unchanged where there is none.
 *
 * @param signed - What the home's log shows that the keys signed while they were in use. Keys that
 *   are not among `periods` are left out.
 */
export function coverSigned(
  periods: readonly KeyPeriod[],
  signed: readonly SignedAt[],
): readonly KeyPeriod[] {
  const [current] = periods;
  if (current === undefined) return periods;
  const first = signed.filter(({ publicKey }) => publicKey === current.publicKey);
  const begun = first.reduce((keys, { atMs }) => beginBy(keys, atMs), periods);
  const retired = [...new Set(begun.slice(1).map(({ publicKey }) => publicKey))];
  const more = retired.map((publicKey) => [publicKey, straysOf(publicKey, begun, signed)] as const);
  if (more.every(([, strays]) => strays.length === 0)) return begun;
  const straysAfter = new Map(more);
  return begun.flatMap((period, index) => {
    const isLast = begun.findLastIndex(({ publicKey }) => publicKey === period.publicKey) === index;
    return isLast ? [period, ...(straysAfter.get(period.publicKey) ?? [])] : [period];
  });
}

/** The times, as short as they can be, of what a key signed outside of those that it has. */
function straysOf(
  publicKey: string,
  periods: readonly KeyPeriod[],
  signed: readonly SignedAt[],
): readonly KeyPeriod[] {
  const times = signed
    .filter((each) => each.publicKey === publicKey && !isWithin(periods, each))
    .map(({ atMs }) => atMs)
    .sort((one, other) => one - other);
  const strays: { publicKey: string; fromMs: number; untilMs: number }[] = [];
  for (const atMs of times) {
    const last = strays.at(-1);
    if (last !== undefined && atMs - last.untilMs < APART_MS) last.untilMs = atMs + 1;
    else strays.push({ publicKey, fromMs: atMs, untilMs: atMs + 1 });
  }
  return strays;
}

/** Whether a key may sign at a time: the end of a period is not included. */
export function isWithin(periods: readonly KeyPeriod[], { publicKey, atMs }: SignedAt): boolean {
  return periods.some(
    (period) =>
      period.publicKey === publicKey &&
      atMs >= period.fromMs &&
      atMs < (period.untilMs ?? Infinity),
  );
}

/**
 * Parses the text of `keys/public.key`.
 *
 * @returns The keys, newest first; the first one is in use. A retired key may stand there several
 * times, and times may overlap: the clock went back.
 * @throws ConsentError `key_rejected` if the text is malformed, a key is unusable, a time ends
 * before it starts, or not exactly one key is in use.
 */
export function parsePublicKeys(text: string): readonly KeyPeriod[] {
  const periods = text.split("\n").slice(0, -1).map(parseLine);
  for (const [index, { publicKey, untilMs }] of periods.entries()) {
    // A key that was retired must not come back into use by a line that was put in front.
    const isInUse = index === 0 || publicKey === periods[0]?.publicKey;
    if ((index === 0) !== (untilMs === undefined) || (index > 0 && isInUse))
      throw broken(index, "the first key alone is in use, and it stands there once");
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
