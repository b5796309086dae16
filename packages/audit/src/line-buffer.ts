/**
 * Line buffer: memory in which lines are sealed one after the other, as they will stand in the
 * file. It is used again for the next lines, so that a log that is busy makes no garbage of the
 * size of what it writes.
 */
import { hash as digest } from "node:crypto";
import { hashMember, type LineParts } from "./event-line.js";
import { LINE_BYTES_MAX } from "./event.js";

/** Lines in memory, each with its newline. */
export interface LineBuffer {
  /** Bytes of all lines. */
  size(): number;
  /**
   * Adds a line.
   *
   * @throws RangeError where it is longer than a log line can be; the buffer is then as it was.
   */
  add(line: string): void;
  /**
   * Adds the line of an event and puts its hash in. Returns the hash in hex digits; throws as `add`
   * does.
   */
  addEvent(parts: LineParts): string;
  /** Takes back what was added since it had this size. */
  cutTo(size: number): void;
  /** Takes back everything, for the next lines. */
  clear(): void;
  /** The lines; good until the next change. */
  bytes(): Buffer;
}

const START_BYTES = 64 * 1024;
/** More than this is given back when the buffer is cleared. */
const KEPT_BYTES_MAX = 4 * 1024 * 1024;
/** A UTF-16 unit has at most three bytes. */
const UNIT_BYTES_MAX = 3;
const HASH_MEMBER_BYTES = hashMember("0".repeat(64)).length;
const NEWLINE = 0x0a;

/** A buffer without lines. */
export function createLineBuffer(): LineBuffer {
  let memory = Buffer.allocUnsafeSlow(START_BYTES);
  let size = 0;

  function reserve(bytes: number): void {
    if (size + bytes <= memory.length) return;
    const larger = Buffer.allocUnsafeSlow(2 ** Math.ceil(Math.log2(size + bytes)));
    memory.copy(larger, 0, 0, size);
    memory = larger;
  }

  /** Writes a text behind the lines, with room for `more` bytes. Returns where it ends. */
  function write(text: string, more: number): number {
    if (text.length + more > LINE_BYTES_MAX) throw tooLong();
    reserve(text.length * UNIT_BYTES_MAX + more + 1);
    const end = size + memory.write(text, size);
    if (end - size + more > LINE_BYTES_MAX) throw tooLong();
    return end;
  }

  function endLine(at: number): void {
    memory[at] = NEWLINE;
    size = at + 1;
  }

  return {
    size: () => size,
    add: (line) => endLine(write(line, 0)),
    addEvent({ before, after }) {
      const text = before + after;
      const end = write(text, HASH_MEMBER_BYTES);
      const hex = digest("sha256", memory.subarray(size, end), "hex");
      // Mostly ASCII: then a character is a byte.
      const place = size + (end - size === text.length ? before.length : Buffer.byteLength(before));
      memory.copyWithin(place + HASH_MEMBER_BYTES, place, end);
      memory.write(hashMember(hex), place, "latin1");
      endLine(end + HASH_MEMBER_BYTES);
      return hex;
    },
    cutTo(earlier) {
      size = earlier;
    },
    clear() {
      size = 0;
      if (memory.length > KEPT_BYTES_MAX) memory = Buffer.allocUnsafeSlow(START_BYTES);
    },
    bytes: () => memory.subarray(0, size),
  };
}

function tooLong(): RangeError {
  return new RangeError(`the event is larger than ${LINE_BYTES_MAX} bytes`);
}
