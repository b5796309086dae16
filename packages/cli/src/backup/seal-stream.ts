/**
 * Seal stream: AES-256-GCM over pieces of 65,536 bytes, each with its number and whether it is the
 * last, so that nothing can be changed, moved, left out or cut off. Format: spec/backup.md §2.
 */
import { createCipheriv, createDecipheriv } from "node:crypto";
import type { FileHandle } from "node:fs/promises";
import { ConsentError } from "@acp/core";
import { broken, CHUNK_BYTES } from "./format.js";

const TAG_BYTES = 16;
const IV_BYTES = 12;

/** Takes plain text and gives sealed pieces. */
export interface Sealer {
  /** Seals as much as fills a piece. */
  push(bytes: Uint8Array): Promise<void>;
  /** Seals the rest as the last piece. */
  end(): Promise<void>;
}

/**
 * Creates a sealer. A key seals one stream only.
 *
 * @param write - Gets the sealed pieces in their order.
 */
export function createSealer(
  key: Uint8Array,
  write: (sealed: Uint8Array) => Promise<void>,
): Sealer {
  let held = Buffer.alloc(0);
  let number = 0;
  const seal = (piece: Uint8Array, isLast: boolean): Promise<void> => {
    const cipher = createCipheriv("aes-256-gcm", key, ivOf(number++, isLast), {
      authTagLength: TAG_BYTES,
    });
    const data = cipher.update(piece);
    cipher.final();
    return write(Buffer.concat([data, cipher.getAuthTag()]));
  };
  return {
    async push(bytes) {
      held = Buffer.concat([held, bytes]);
      let at = 0;
      // The last piece is never empty: one that is full is held back.
      for (; held.length - at > CHUNK_BYTES; at += CHUNK_BYTES)
        await seal(held.subarray(at, at + CHUNK_BYTES), false);
      held = Buffer.from(held.subarray(at));
    },
    end: () => seal(held, true),
  };
}

/**
 * Opens a stream from an offset of a file to its end.
 *
 * @throws ConsentError `key_locked` if the first piece does not open, `home_invalid` if a later one
 *   does not.
 */
export async function* openStream(
  key: Uint8Array,
  handle: FileHandle,
  { start, end }: { readonly start: number; readonly end: number },
): AsyncGenerator<Uint8Array> {
  const sealed = Buffer.alloc(CHUNK_BYTES + TAG_BYTES);
  for (let at = start, number = 0; at < end || number === 0; number++) {
    const length = Math.min(sealed.length, end - at);
    if (length <= TAG_BYTES) throw broken("it was cut off");
    await readExactly(handle, sealed.subarray(0, length), at);
    at += length;
    yield openPiece(key, sealed.subarray(0, length), { number, isLast: at === end });
  }
}

function openPiece(
  key: Uint8Array,
  sealed: Uint8Array,
  { number, isLast }: { readonly number: number; readonly isLast: boolean },
): Uint8Array {
  const decipher = createDecipheriv("aes-256-gcm", key, ivOf(number, isLast), {
    authTagLength: TAG_BYTES,
  });
  decipher.setAuthTag(sealed.subarray(sealed.length - TAG_BYTES));
  try {
    const data = decipher.update(sealed.subarray(0, sealed.length - TAG_BYTES));
    decipher.final();
    return data;
  } catch {
    throw number === 0 ? locked() : broken("it was changed or cut off");
  }
}

function locked(): ConsentError {
  return new ConsentError(
    "key_locked",
    "Cannot read the backup: the passphrase or key file is wrong, or the backup was changed or cut off",
  );
}

async function readExactly(handle: FileHandle, into: Uint8Array, at: number): Promise<void> {
  for (let done = 0; done < into.length; ) {
    const { bytesRead } = await handle.read(into, done, into.length - done, at + done);
    if (bytesRead === 0) throw broken("it was cut off while it was read");
    done += bytesRead;
  }
}

/** The number in 11 bytes, and 1 for the last piece. */
function ivOf(number: number, isLast: boolean): Uint8Array {
  const iv = Buffer.alloc(IV_BYTES);
  iv.writeBigUInt64BE(BigInt(number), IV_BYTES - 9);
  iv[IV_BYTES - 1] = isLast ? 1 : 0;
  return iv;
}
