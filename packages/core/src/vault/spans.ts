/**
 * Spans: where values were found in a stream, and the stream with labels in their places.
 * Overlapping ones become one, named after the longest.
 */

/** Which secret, and how long its match is. */
export interface Match {
  readonly label: number;
  readonly length: number;
}

interface Span extends Match {
  readonly start: number;
  readonly end: number;
}

/** What can be handed on. */
export interface Released {
  readonly bytes: Uint8Array;
  /** The first byte that is still needed. */
  readonly keepFrom: number;
}

/** Spans of one stream. */
export interface Spans {
  add(start: number, end: number, match: Match): void;
  /**
   * The bytes up to `upTo`, masked. No value may begin before it later on.
   *
   * @param held - The stream's bytes from `base` on.
   */
  release(held: Uint8Array, bounds: { readonly base: number; readonly upTo: number }): Released;
}

/** No spans yet. */
export function createSpans(labels: readonly Uint8Array[]): Spans {
  let spans: Span[] = [];
  return {
    add(start, end, match) {
      const last = spans.at(-1);
      // Keeps the list short where matches follow each other closely; the rest is joined on
      // release.
      if (last !== undefined && start < last.end && last.start < end)
        spans[spans.length - 1] = join(last, { start, end, ...match });
      else spans.push({ start, end, ...match });
    },
    release(held, { base, upTo }) {
      const joined = joinAll(spans);
      const parts: Uint8Array[] = [];
      let at = base;
      const copy = (to: number): void => {
        if (to <= at) return;
        parts.push(held.subarray(at - base, to - base));
        at = to;
      };
      const closed = joined.filter(({ end }) => end <= upTo);
      for (const { start, end, label } of closed) {
        copy(start);
        parts.push(labels[label] ?? held.subarray(0, 0));
        at = Math.max(at, end);
      }
      spans = joined.slice(closed.length);
      // The first span that may still grow: what is inside it will be a label, so its bytes are not
      // needed any more.
      const open = spans[0];
      copy(Math.min(upTo, open?.start ?? upTo));
      return { bytes: concat(parts), keepFrom: Math.max(at, upTo) };
    },
  };
}

function join(left: Span, right: Span): Span {
  const longer = right.length > left.length ? right : left;
  return {
    start: Math.min(left.start, right.start),
    end: Math.max(left.end, right.end),
    label: longer.label,
    length: longer.length,
  };
}

function joinAll(spans: readonly Span[]): Span[] {
  const joined: Span[] = [];
  for (const span of spans.toSorted((left, right) => left.start - right.start)) {
    const last = joined.at(-1);
    if (last !== undefined && span.start < last.end) joined[joined.length - 1] = join(last, span);
    else joined.push(span);
  }
  return joined;
}

function concat(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
