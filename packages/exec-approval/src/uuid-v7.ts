/**
 * UuidV7: ids of messages and requests (RFC 9562 §5.7): milliseconds, then randomness; later ones
 * sort after earlier ones.
 */
import { randomBytes as nodeRandomBytes } from "node:crypto";
import { type Clock, ConsentError, systemClock } from "@acp/core";

/** Options of {@link createUuidV7}. */
export interface UuidV7Options {
  /** Source of the time in each id; the system's clock unless given. */
  readonly clock?: Pick<Clock, "now">;
  /** Returns this many random bytes; node:crypto's unless given. */
  readonly randomBytes?: (count: number) => Uint8Array;
}

const TIME_MS_MAX = 2 ** 48 - 1;
const RANDOM_BYTES = 10;
const PATTERN = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/** Whether a text is a UUIDv7 in lower case. */
export function isUuidV7(text: string): boolean {
  return PATTERN.test(text);
}

/**
 * Makes a maker of UUIDs of version 7 (RFC 9562). Within one process, ids ascend even if the clock
 * stands still or goes back.
 *
 * @throws ConsentError `options_invalid`, from the maker, for a time that a UUIDv7 cannot hold.
 */
export function createUuidV7({
  clock = systemClock,
  randomBytes = nodeRandomBytes,
}: UuidV7Options = {}): () => string {
  let lastMs = -1;
  let count = 0;
  return () => {
    const nowMs = Math.floor(clock.now());
    if (!(nowMs >= 0 && nowMs <= TIME_MS_MAX))
      throw new ConsentError("options_invalid", `Cannot make an id: the clock says ${nowMs}`);
    const random = Buffer.from(randomBytes(RANDOM_BYTES));
    // The 12 bits after the version count within a millisecond (RFC 9562 §6.2, method 1), from a
    // random start in their lower half.
    if (nowMs > lastMs) {
      lastMs = nowMs;
      count = random.readUInt16BE(0) & 0x7ff;
    } else if (++count > 0xfff) {
      lastMs++;
      count = random.readUInt16BE(0) & 0x7ff;
    }
    const hex = lastMs.toString(16).padStart(12, "0");
    const variant = ((random[2] ?? 0) & 0x3f) | 0x80;
    const tail = `${variant.toString(16)}${random.toString("hex", 3)}`;
    return `${hex.slice(0, 8)}-${hex.slice(8)}-7${count.toString(16).padStart(3, "0")}-${tail.slice(0, 4)}-${tail.slice(4)}`;
  };
}
