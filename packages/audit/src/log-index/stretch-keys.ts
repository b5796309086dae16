/**
 * Stretch keys: which keys the lines of one stretch have, and in which of its spans, as they come.
 * Holds no lines.
 */
import { hashKey, type KeyHash } from "./key-hash.js";
import { kindOf, type LineFields, ownKeysOf, sharedKeysOf } from "./line-fields.js";

/** Up to {@link SPAN_LINES} whole lines in a row, which are read together. */
export interface Span {
  /** Behind its last newline. */
  to: number;
  lines: number;
  /** Wall times of its earliest and latest event. */
  minMs: number;
  maxMs: number;
}

/** Lines of a span; of the last possible one as many as are left. */
export const SPAN_LINES = 16;
/** As the number of a span: the key is in so many of them that all count. */
export const EVERYWHERE = 255;
const SPANS_MAX: number = EVERYWHERE;
/** An entry: the key's place and mark, the number of the stretch in its table, and of the span. */
export const ENTRY_BYTES = 8;
/** Where in an entry its mark is, and the number of its stretch; that of the span follows. */
export const MARK_AT = 4;
export const STRETCH_AT = 6;
/** A key that is in more spans than this is noted as being everywhere. */
const SPREAD_MAX = 8;

/** Takes the lines of a stretch. */
export interface StretchKeys {
  add(fields: LineFields, to: number): void;
  spans(): readonly Span[];
  /** An entry for each key and span, as if the stretch were the first of its table. */
  entries(): Buffer;
}

/** A key, and the spans that it is in. */
interface Found {
  readonly hash: KeyHash;
  readonly spans: number[];
}

/** Of a stretch without lines yet; with another number of lines a span for tests. */
export function collectKeys(spanLines: number = SPAN_LINES): StretchKeys {
  const spans: Span[] = [];
  const found = new Map<string, Found>();
  const shared = new Map<string, readonly string[]>();
  let kinds = new Set<string>();

  function note(key: string): void {
    const span = spans.length - 1;
    const all = found.get(key)?.spans;
    // Hashed as it comes: those of a whole stretch at once would hold up a call.
    if (all === undefined) found.set(key, { hash: hashKey(key), spans: [span] });
    else if (all.at(-1) !== span && all.length <= SPREAD_MAX) all.push(span);
  }

  return {
    add(fields, to) {
      const { atMs } = fields;
      const last = spans.at(-1);
      if (last !== undefined && (last.lines < spanLines || spans.length === SPANS_MAX)) {
        [last.to, last.lines] = [to, last.lines + 1];
        [last.minMs, last.maxMs] = [Math.min(last.minMs, atMs), Math.max(last.maxMs, atMs)];
      } else {
        spans.push({ to, lines: 1, minMs: atMs, maxMs: atMs });
        kinds = new Set();
      }
      for (const key of ownKeysOf(fields)) note(key);
      const kind = kindOf(fields);
      if (kinds.has(kind)) return;
      kinds.add(kind);
      const keys = shared.get(kind) ?? sharedKeysOf(fields);
      shared.set(kind, keys);
      for (const key of keys) note(key);
    },
    spans: () => spans,
    entries: () => entriesOf(found),
  };
}

function entriesOf(found: ReadonlyMap<string, Found>): Buffer {
  const spansOf = ({ spans }: Found): readonly number[] =>
    spans.length > SPREAD_MAX ? [EVERYWHERE] : spans;
  let count = 0;
  for (const each of found.values()) count += spansOf(each).length;
  const entries = Buffer.alloc(count * ENTRY_BYTES);
  let at = 0;
  for (const each of found.values()) {
    for (const span of spansOf(each)) {
      entries.writeUInt32BE(each.hash.place, at);
      entries.writeUInt16BE(each.hash.mark, at + MARK_AT);
      entries.writeUInt8(span, at + STRETCH_AT + 1);
      at += ENTRY_BYTES;
    }
  }
  return entries;
}
