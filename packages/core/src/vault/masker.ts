/**
 * Masking byte streams: known secret values become `[secret NAME]`, however they are written (spec/vault.md §6) and wherever the chunks end.
 * Time grows with the bytes, memory with the longest value. Bytes are handed on as soon as no value can begin in them.
 */
import type { Automaton } from "./automaton.js";
import type { Masks } from "./patterns.js";
import { masksOf } from "./patterns.js";
import type { Masker } from "../permit.js";
import type { Secret } from "./secret.js";
import { createSpans, type Spans } from "./spans.js";
import { createViews, type DecodedView } from "./views.js";

/** So many bytes at once are looked at for escapes; without any, the views that read escapes away have nothing to do. */
const BLOCK_BYTES = 4_096;
const NOTHING = new Uint8Array(0);
const LOWER = Uint8Array.from({ length: 256 }, (_, byte) => (byte >= 0x41 && byte <= 0x5a ? byte + 0x20 : byte));

/** A masker for one stream, and after its `end` for another one. Secrets that are kept in one frozen list are prepared once. */
export function createMasker(secrets: readonly Secret[]): Masker {
  return makeMasker(masksOf(secrets));
}

/** As {@link createMasker}, for masks that are ready. */
export function makeMasker(masks: Masks): Masker {
  const { plain, hex, labels } = masks;
  const spans = createSpans(labels);
  const views = createViews(masks, spans.add);
  let buffer: Uint8Array = NOTHING;
  /** Where the buffer starts in the stream, and where the stream is. */
  let base = 0;
  let position = 0;
  let plainState = 0;
  let hexState = 0;
  /** The plain search's state after each byte of the last block. */
  let trace = new Int32Array(0);

  const scan = (block: Uint8Array): void => {
    if (trace.length < block.length) trace = new Int32Array(block.length);
    const before = plainState;
    plainState = search(plain, plainState, { block, from: position, note: trace, add: spans.add });
    hexState = search(hex, hexState, { block, from: position, note: undefined, add: spans.add });
    for (const view of views) view.scan(block, { from: position, before, after: trace });
    position += block.length;
  };

  /** The first byte in which a value may still begin. */
  const openFrom = (): number => {
    const starts = [position - (plain.depth[plainState] ?? 0), position - (hex.depth[hexState] ?? 0), ...views.map(openFromOf)];
    return Math.min(...starts);
  };

  const release = (upTo: number): Uint8Array => {
    const { bytes, keepFrom } = spans.release(buffer, { base, upTo });
    buffer = buffer.slice(keepFrom - base);
    base = keepFrom;
    return bytes;
  };

  return {
    push(chunk) {
      buffer = concat(buffer, chunk);
      for (let at = 0; at < chunk.length; at += BLOCK_BYTES) scan(chunk.subarray(at, at + BLOCK_BYTES));
      return release(openFrom());
    },
    end() {
      for (const view of views) view.end();
      const rest = release(position);
      [plainState, hexState] = [0, 0];
      return rest;
    },
  };
}

const openFromOf = (view: DecodedView): number => view.openFrom();

function concat(left: Uint8Array, right: Uint8Array): Uint8Array {
  const joined = new Uint8Array(left.length + right.length);
  joined.set(left);
  joined.set(right, left.length);
  return joined;
}

/** One block of the stream to search. */
interface Search {
  readonly block: Uint8Array;
  /** Where it starts. */
  readonly from: number;
  /** Where to note the state after each byte; where nothing is noted, upper case counts as lower case. */
  readonly note: Int32Array | undefined;
  readonly add: Spans["add"];
}

function search({ found, label, next }: Automaton, before: number, { block, from, note, add }: Search): number {
  let state = before;
  for (let at = 0; at < block.length; at++) {
    const byte = block[at] ?? 0;
    state = next(state, note === undefined ? (LOWER[byte] ?? byte) : byte);
    if (note !== undefined) note[at] = state;
    const length = found[state] ?? 0;
    const end = from + at + 1;
    if (length > 0) add(end - length, end, { label: label[state] ?? 0, length });
  }
  return state;
}
