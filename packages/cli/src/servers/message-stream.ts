/**
 * Message stream: lines of JSON, and bytes that were announced, from a process that is not
 * believed. Bounded; what is too long ends it.
 */
import type { Readable } from "node:stream";
import { ConsentError, isJsonObject, parseJson } from "@acp/core";
import type { JsonObject } from "@acp/core";

/** Reads one after the other; nothing of it may be called while another call is under way. */
export interface MessageStream {
  /**
   * The next line.
   *
   * @throws ConsentError `sandbox_failed` where it is no JSON object of at most that many bytes, or
   *   the stream has ended.
   */
  message(bytesMax: number): Promise<JsonObject>;
  /**
   * Hands the next bytes to `take`, in parts.
   *
   * @throws ConsentError `sandbox_failed` where the stream ends before; what `take` throws.
   */
  bytes(count: number, take: (part: Uint8Array) => Promise<unknown>): Promise<void>;
}

const NEWLINE = 0x0a;

/** Makes one of a stream that nobody else reads. */
export function createMessageStream(input: Readable): MessageStream {
  const parts: AsyncIterator<unknown> = input[Symbol.asyncIterator]();
  let rest: Buffer = Buffer.alloc(0);
  const more = async (): Promise<Buffer> => {
    const next = await parts.next();
    if (next.done === true) throw failed("it ended too early");
    if (!Buffer.isBuffer(next.value)) throw failed("it does not speak in bytes");
    return next.value;
  };
  return {
    async message(bytesMax) {
      const held: Buffer[] = [];
      let size = 0;
      for (;;) {
        const at = rest.indexOf(NEWLINE);
        held.push(at === -1 ? rest : rest.subarray(0, at));
        size += held.at(-1)?.length ?? 0;
        if (size > bytesMax) throw failed(`it said more than ${bytesMax} bytes at once`);
        if (at !== -1) {
          rest = rest.subarray(at + 1);
          return readMessage(Buffer.concat(held), bytesMax);
        }
        rest = await more();
      }
    },
    async bytes(count, take) {
      for (let left = count; left > 0; ) {
        if (rest.length === 0) rest = await more();
        const part = rest.subarray(0, left);
        rest = rest.subarray(part.length);
        left -= part.length;
        await take(part);
      }
    },
  };
}

function readMessage(line: Buffer, bytesMax: number): JsonObject {
  try {
    const value = parseJson(line, { bytesMax });
    if (isJsonObject(value)) return value;
  } catch (cause) {
    throw failed(cause instanceof Error ? cause.message : String(cause));
  }
  throw failed("it said something that is not an object");
}

function failed(why: string): ConsentError {
  return new ConsentError(
    "sandbox_failed",
    `Cannot understand what runs npm in its sandbox: ${why}`,
  );
}
