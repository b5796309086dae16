/**
 * Masking byte streams: known secret values become `[secret NAME]`, however they are written
 * (spec/vault.md §6) and wherever the chunks end. Time grows with the bytes, memory with the
 * longest value. Bytes are handed on as soon as no value can begin in them.
 */
import type { Masks } from "./patterns.js";
import { masksOf } from "./patterns.js";
import type { Masker } from "../types/permit.js";
import type { Secret } from "./secret.js";
import { createSpans, type Spans } from "./spans.js";
import {
  BLOCK_BYTES,
  createRun,
  NOTHING_KEPT,
  openIn,
  roomBefore,
  searchBlock,
  type Stream,
} from "./stream.js";
import { LEAD_BITS, type Run } from "./unescape.js";
import { createViews } from "./views.js";

const NOTHING = new Uint8Array(0);

/**
 * Makes a masker for one stream; after its `end`, for another one. A frozen list of secrets that
 * stays the same is prepared once.
 */
export function createMasker(secrets: readonly Secret[]): Masker {
  return makeMasker(masksOf(secrets));
}

/** As {@link createMasker}, for masks that are ready. */
export function makeMasker(masks: Masks): Masker {
  const spans = createSpans(masks.labels);
  const views = createViews(masks, spans.add);
  const root = createRoot(masks, spans.add);
  let buffer: Uint8Array = NOTHING;
  /** Where the buffer starts in the stream, and where the stream is. */
  let base = 0;
  let position = 0;

  const scan = (block: Uint8Array, isOver: boolean): void => {
    views.scan(root.scan(block, position), { position, length: block.length, isOver });
    position += block.length;
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
      for (let at = 0; at < chunk.length; at += BLOCK_BYTES)
        scan(chunk.subarray(at, at + BLOCK_BYTES), false);
      return release(position + Math.min(0, root.openFrom(), views.openFrom()));
    },
    settle: () => release(position + Math.min(0, root.openFrom(), views.openUnwrappedFrom())),
    end() {
      if (views.isPending()) scan(NOTHING, true);
      const rest = release(position);
      root.reset();
      views.reset();
      return rest;
    },
  };
}

function concat(left: Uint8Array, right: Uint8Array): Uint8Array {
  const joined = new Uint8Array(left.length + right.length);
  joined.set(left);
  joined.set(right, left.length);
  return joined;
}

/** The stream as it is. */
interface Root {
  scan(block: Uint8Array, position: number): Stream;
  /**
   * The first place in which a value may still begin, counted from the end of the last block;
   * `Infinity` where there is none.
   */
  openFrom(): number;
  reset(): void;
}

function createRoot({ plain, hex }: Masks, add: Spans["add"]): Root {
  const rooms = { plain: createRoom(plain), hex: createRoom(hex) };
  let kept = NOTHING_KEPT;
  let keptHex = NOTHING_KEPT;
  return {
    scan(block, position) {
      const run = rooms.plain(block, kept.bytes);
      const [from, length] = [roomBefore(plain), block.length];
      const to = from + length;
      const before = kept;
      const hexRun = rooms.hex(block, keptHex.bytes);
      kept = searchBlock(plain, { run, to, before, position, length }, add);
      keptHex = searchBlock(
        hex,
        { run: hexRun, to: roomBefore(hex) + length, before: keptHex, position, length },
        add,
      );
      return { ...run, from, to, leads: leadsOf(block), before, after: kept, readings: [] };
    },
    openFrom: () => Math.min(openIn(kept, plain), openIn(keptHex, hex)),
    reset() {
      kept = NOTHING_KEPT;
      keptHex = NOTHING_KEPT;
    },
  };
}

/** Puts blocks into a buffer in which each byte stands for itself, after what was kept. */
function createRoom(finder: Masks["plain"]): (block: Uint8Array, kept: Uint8Array) => Run {
  const from = roomBefore(finder);
  let run: Run | undefined;
  return (block, kept) => {
    if (run === undefined || run.bytes.length < from + block.length) {
      run = createRun(finder, block.length);
      for (let at = 0; at < run.bytes.length; at++) {
        run.starts[at] = at - from;
        run.ends[at] = at - from + 1;
      }
    }
    run.bytes.set(kept, from - kept.length);
    run.bytes.set(block, from);
    return run;
  };
}

function leadsOf(block: Uint8Array): number {
  let leads = 0;
  for (const byte of block) leads |= LEAD_BITS[byte] ?? 0;
  return leads;
}
