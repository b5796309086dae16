/** Lengths that every backend of `#crypto` asks for in the same words. */
import { ConsentError } from "../errors.js";

/** Length of an AES-256 key. */
export const AES_KEY_BYTES = 32;
/**
 * Length of an AES-GCM initialisation vector: the only one that needs no hashing of its own (NIST
 * SP 800-38D §5.2.1.1).
 */
export const AES_IV_BYTES = 12;
/** Length of an AES-GCM tag: the longest. */
export const AES_TAG_BYTES = 16;
/** The most HKDF-SHA256 gives (RFC 5869 §2.3). */
const HKDF_BYTES_MAX = 255 * 32;
/** The most `info` that Node takes; every backend takes the same. */
const HKDF_INFO_BYTES_MAX = 1024;

/**
 * @throws ConsentError `key_rejected` where the bytes have another length.
 */
export function requireLength(what: string, bytes: Uint8Array, length: number): void {
  if (bytes.length !== length)
    throw new ConsentError(
      "key_rejected",
      `Cannot use ${what}: it has ${bytes.length} bytes instead of ${length}`,
    );
}

/**
 * @throws ConsentError `options_invalid` for a length or info that some backend would not take.
 */
export function requireHkdfSizes(info: Uint8Array, length: number): void {
  if (!Number.isInteger(length) || length < 1 || length > HKDF_BYTES_MAX)
    throw new ConsentError(
      "options_invalid",
      `Cannot derive ${length} bytes with HKDF-SHA256: it gives 1 to ${HKDF_BYTES_MAX}`,
    );
  if (info.length > HKDF_INFO_BYTES_MAX)
    throw new ConsentError(
      "options_invalid",
      `Cannot derive with ${info.length} bytes of info: at most ${HKDF_INFO_BYTES_MAX} are taken`,
    );
}

/**
 * @throws ConsentError `options_invalid` unless 1 to 65,536 bytes are asked for.
 */
export function requireRandomSize(length: number): void {
  if (!Number.isInteger(length) || length < 1 || length > 65_536)
    throw new ConsentError(
      "options_invalid",
      `Cannot draw ${length} random bytes: 1 to 65536 can be drawn at a time`,
    );
}
