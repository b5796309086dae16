/**
 * Chain: follows the lines of a log one by one and finds the first that does not follow. Pure;
 * keeps the last event's place only.
 */
import type { AuditReceipt } from "@acp/core";
import { decodeEvent } from "./codec.js";
import type { AuditFault } from "./event.js";
import { type LineBlock, lineText } from "./lines.js";
import { type LinePlace, readPlainLine } from "./plain-line.js";

/** A chain being followed. */
export interface ChainWalk {
  /** Follows the lines of a block. */
  walk(block: LineBlock): AuditFault | undefined;
  /** How many events are good. */
  events(): number;
  /** The last good event. */
  head(): AuditReceipt | undefined;
  /** What the first event says it follows. */
  startHash(): string | null;
}

/** Where a chain starts, and who hears its good lines. */
export interface ChainOptions {
  /** Number of the first event; more than 0 where earlier files are not there. */
  readonly firstSeq?: number;
  /** Called with every good line. A fault it returns is the line's. */
  readonly onLine?: (bytes: Buffer, start: number, end: number) => AuditFault | undefined;
}

const PREFIX = "sha256:";
const BLOCK_FAULTS: Readonly<Record<NonNullable<LineBlock["fault"]>, string>> = {
  torn_line: "it is incomplete: a write is in progress or was cut short",
  line_too_long: "it is longer than a log line can be",
};

/** Follows a chain from its start. */
export function walkChain({ firstSeq = 0, onLine }: ChainOptions = {}): ChainWalk {
  let events = 0;
  let last: LinePlace | undefined;
  let startHash: string | null = null;

  function follow(place: LinePlace): AuditFault | undefined {
    const seq = last === undefined ? firstSeq : last.seq + 1;
    if (place.seq !== seq)
      return {
        code: "seq_broken",
        message: `its sequence number is ${place.seq}, expected ${seq}`,
      };
    if (
      last === undefined
        ? (place.previousHex === "") !== (seq === 0)
        : place.previousHex !== last.hex
    )
      return {
        code: "chain_broken",
        message: "it does not follow the previous event, which was changed or replaced",
      };
    if (last === undefined && seq > 0) startHash = `${PREFIX}${place.previousHex}`;
    return undefined;
  }

  return {
    walk({ bytes, ends, fault }) {
      let start = 0;
      for (const end of ends) {
        const place = readPlace(bytes, start, end);
        if ("code" in place) return place;
        const broken = follow(place);
        if (broken !== undefined) return broken;
        const refused = onLine?.(bytes, start, end);
        if (refused !== undefined) return refused;
        last = place;
        events += 1;
        start = end + 1;
      }
      return fault === undefined ? undefined : { code: fault, message: BLOCK_FAULTS[fault] };
    },
    events: () => events,
    head: () => (last === undefined ? undefined : { seq: last.seq, hash: `${PREFIX}${last.hex}` }),
    startHash: () => startHash,
  };
}

/** The place of any good line, or what is wrong with it. */
export function readPlace(bytes: Buffer, start: number, end: number): LinePlace | AuditFault {
  return readPlainLine(bytes, start, end) ?? readLine(bytes.subarray(start, end));
}

function readLine(line: Uint8Array): LinePlace | AuditFault {
  const text = lineText(line);
  if (text === undefined) return { code: "not_json", message: "it is not UTF-8 text" };
  const decoded = decodeEvent(text);
  if (!decoded.ok) return decoded.fault;
  const { seq, hash, previousHash } = decoded.event;
  return {
    seq,
    hex: hash.slice(PREFIX.length),
    previousHex: previousHash?.slice(PREFIX.length) ?? "",
  };
}
