/**
 * Masking byte streams: known secret values become `[secret NAME]`, however they are written (spec/vault.md §6) and wherever the chunks end.
 * Time grows with the bytes, memory with the longest value. Bytes are handed on as soon as no value can begin in them.
 */
import type { Automaton } from "./automaton.js";
import type { Masks } from "./patterns.js";
import { masksOf } from "./patterns.js";
import type { Masker } from "../permit.js";
import type { Secret } from "./secret.js";
import { createSpans } from "./spans.js";
import { createViews, type DecodedView } from "./views.js";

/** So many bytes at once are looked at for escapes; without any, the views that read escapes away have nothing to do. */
const BLOCK_BYTES = 4_096;
const NOTHING = new Uint8Array(0);
const LOWER = Uint8Array.from({ length: 256 }, (_, byte) => (byte >= 0x41 && byte <= 0x5a ? byte + 0x20 : byte));

/** A masker for one stream. Secrets that are kept in one frozen list are prepared once. */
export function createMasker(secrets: readonly Secret[]): Masker {
  return makeMasker(masksOf(secrets));
}

/** As {@link createMasker}, for masks that are ready. After `end` it can take another stream. */
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

  const search = (automaton: Automaton, from: number, block: Uint8Array): number => {
    const { found, label, next } = automaton;
    let state = from;
    let end = position;
    for (const byte of block) {
      state = next(state, automaton === hex ? (LOWER[byte] ?? byte) : byte);
      end++;
      const length = found[state] ?? 0;
      if (length > 0) spans.add(end - length, end, { label: label[state] ?? 0, length });
    }
    return state;
  };

  const scan = (block: Uint8Array): void => {
    const before = plainState;
    plainState = search(plain, plainState, block);
    hexState = search(hex, hexState, block);
    const [from, end] = [position, position + block.length];
    for (const view of views) view.scan(block, { from, before, after: plainState });
    position = end;
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
