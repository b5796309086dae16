/**
 * Masking what a stream yields: text and bytes go through one masker, so that a value is found
 * wherever the chunks end; other data is masked chunk by chunk.
 */
import type { Masker, Release } from "../types/permit.js";

/** Masks chunks in order. */
export interface ChunkMask {
  /** What may be handed on now: none, one or several chunks. */
  readonly push: (chunk: unknown) => readonly unknown[];
  /** What was held back. */
  readonly end: () => readonly unknown[];
}

const encoder = new TextEncoder();
const HIGH_SURROGATE_AT_END = /[\ud800-\udbff]$/;

/** Text or bytes, as they come and go. */
interface Side {
  readonly push: (chunk: unknown) => readonly unknown[];
  readonly end: () => readonly unknown[];
}

function textSide(masker: Masker): Side {
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  // Half a character of two units waits for its other half.
  let half = "";
  const show = (text: string): readonly string[] => (text === "" ? [] : [text]);
  return {
    push(chunk) {
      const text = half + String(chunk);
      half = HIGH_SURROGATE_AT_END.exec(text)?.[0] ?? "";
      return show(
        decoder.decode(masker.push(encoder.encode(text.slice(0, text.length - half.length))), {
          stream: true,
        }),
      );
    },
    end() {
      const begun = decoder.decode(masker.push(encoder.encode(half)), { stream: true });
      half = "";
      return show(begun + decoder.decode(masker.end()));
    },
  };
}

function bytesSide(masker: Masker): Side {
  let prototype: object | null = Uint8Array.prototype;
  const show = (bytes: Uint8Array): readonly Uint8Array[] => {
    if (bytes.length === 0) return [];
    Reflect.setPrototypeOf(bytes, prototype); // a Buffer stays a Buffer
    return [bytes];
  };
  return {
    push(chunk) {
      if (!(chunk instanceof Uint8Array)) return [];
      prototype = Reflect.getPrototypeOf(chunk);
      return show(masker.push(chunk));
    },
    end: () => show(masker.end()),
  };
}

/** A mask for one stream of a release. */
export function createChunkMask(release: Release): ChunkMask {
  const masker = release.masker();
  if (masker === undefined) return { push: (chunk) => [release.mask(chunk)], end: () => [] };
  const sides = { string: textSide(masker), bytes: bytesSide(masker) };
  let open: Side | undefined;
  const sideOf = (chunk: unknown): Side | undefined => {
    if (typeof chunk === "string") return sides.string;
    return chunk instanceof Uint8Array ? sides.bytes : undefined;
  };
  const close = (): readonly unknown[] => {
    const rest = open?.end() ?? [];
    open = undefined;
    return rest;
  };
  return {
    push(chunk) {
      const side = sideOf(chunk);
      const rest = side === open ? [] : close();
      open = side;
      return [...rest, ...(side === undefined ? [release.mask(chunk)] : side.push(chunk))];
    },
    end: close,
  };
}
