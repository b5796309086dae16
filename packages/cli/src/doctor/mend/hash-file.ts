/** Hash file: size and SHA-256 of a file, read in pieces. */
import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { open } from "node:fs/promises";

/** Size in bytes, and `sha256:<hex>`. */
export interface FileHash {
  readonly bytes: number;
  readonly hash: string;
}

/** Reads a plain file to its end. */
export async function hashFile(path: string): Promise<FileHash> {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  await using handle = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  const hash = createHash("sha256");
  const chunk = Buffer.alloc(1024 * 1024);
  for (let bytes = 0; ; ) {
    const { bytesRead } = await handle.read(chunk, 0, chunk.length, bytes);
    if (bytesRead === 0) return { bytes, hash: `sha256:${hash.digest("hex")}` };
    hash.update(chunk.subarray(0, bytesRead));
    bytes += bytesRead;
  }
}
