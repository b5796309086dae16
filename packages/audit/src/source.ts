/** Source: a log file opened for reading. */
import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { ConsentError, quoteText } from "@acp/core";
import { cannot, causeText, hasErrno } from "./errors.js";

const CHUNK_BYTES = 256 * 1024;

/** A log being read. */
export interface LogSource extends AsyncDisposable {
  /** Bytes of the file when it was opened. */
  readonly size: number;
  bytesRead(): number;
  /**
   * The bytes from the start.
   *
   * @throws ConsentError `audit_failed` or `aborted`.
   */
  chunks(): AsyncGenerator<Uint8Array>;
}

/**
 * Opens a log for reading.
 *
 * @throws ConsentError `audit_failed` where there is no readable file.
 */
export async function openForReading(path: string, signal?: AbortSignal): Promise<LogSource> {
  const handle = await openFile(path);
  let bytesRead = 0;
  return {
    size: (await handle.stat()).size,
    bytesRead: () => bytesRead,
    async *chunks() {
      for (;;) {
        if (signal?.aborted === true)
          throw new ConsentError("aborted", `Cannot go on reading audit log ${quoteText(path)}: aborted`, { cause: signal.reason });
        const chunk = await readChunk(handle, path);
        if (chunk.length === 0) return;
        bytesRead += chunk.length;
        yield chunk;
      }
    },
    [Symbol.asyncDispose]: () => handle.close(),
  };
}

async function openFile(path: string): Promise<FileHandle> {
  try {
    const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK); // NONBLOCK: a pipe in the log's place must not hang us
    if ((await handle.stat()).isFile()) return handle;
    await handle.close();
  } catch (error) {
    throw cannot("read", path)(hasErrno(error, "ENOENT") ? "it does not exist" : causeText(error), error);
  }
  throw cannot("read", path)("it is not a file");
}

async function readChunk(handle: FileHandle, path: string): Promise<Uint8Array> {
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.allocUnsafe(CHUNK_BYTES), 0, CHUNK_BYTES);
    return buffer.subarray(0, bytesRead);
  } catch (error) {
    throw cannot("read", path)(causeText(error), error);
  }
}
