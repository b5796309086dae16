/**
 * Worker file: what the schema worker is loaded from. A process that runs for days reads it late, and
 * an update may have put that of another version there, which need not understand this one.
 */
import { statSync } from "node:fs";

/** A file as it was when this process began. */
export interface WorkerFile {
  readonly url: URL;
  /** Whether it is another one by now, or gone. */
  isReplaced(): boolean;
}

/** Remembers what the file is now. */
export function rememberFile(url: URL): WorkerFile {
  const began = identityOf(url);
  return { url, isReplaced: () => identityOf(url) !== began };
}

function identityOf(url: URL): string {
  const found = statSync(url, { bigint: true, throwIfNoEntry: false });
  return found === undefined ? "gone" : `${found.dev}:${found.ino}:${found.size}:${found.mtimeNs}`;
}
