/**
 * Input: the text of a file, or of standard input where the file is named `-`. Bounded, UTF-8 only.
 */
import { createReadStream } from "node:fs";
import { resolve } from "node:path";
import { ConsentError } from "@acp/core";
import type { Io } from "./command.js";

/** What is read, and how much of it at most. */
export interface InputOptions {
  /** For the error text, e.g. `policy`. */
  readonly what: string;
  readonly bytesMax: number;
}

/** What of a process is read from. */
export interface InputIo extends Pick<Io, "cwd"> {
  readonly stdin: AsyncIterable<unknown>;
}

/** How a file is named in messages. */
export function inputName(operand: string, io: Pick<Io, "cwd">): string {
  return operand === "-" ? "standard input" : resolve(io.cwd, operand);
}

/**
 * Reads a whole text.
 *
 * @throws ConsentError `options_invalid` where there is no such readable text.
 */
export async function readInput(
  operand: string,
  io: InputIo,
  options: InputOptions,
): Promise<string> {
  const name = inputName(operand, io);
  const fail = (why: string, cause?: unknown): ConsentError =>
    new ConsentError("options_invalid", `Cannot read ${options.what} "${name}": ${why}`, { cause });
  let bytes: Uint8Array;
  try {
    bytes = await readStream(operand === "-" ? io.stdin : createReadStream(name), options.bytesMax);
  } catch (error) {
    throw fail(reasonOf(error), error);
  }
  if (bytes.length > options.bytesMax) throw fail(`it is larger than ${options.bytesMax} bytes`);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (error) {
    throw fail("it is not UTF-8 text", error);
  }
}

async function readStream(stream: AsyncIterable<unknown>, bytesMax: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of stream) {
    const bytes = typeof chunk === "string" ? Buffer.from(chunk) : chunk;
    if (!(bytes instanceof Uint8Array)) throw new Error("it is not text");
    chunks.push(bytes);
    size += bytes.length;
    if (size > bytesMax) break;
  }
  return Buffer.concat(chunks);
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return "it cannot be read";
  if ("code" in error && error.code === "ENOENT") return "there is no such file";
  if ("code" in error && error.code === "EACCES") return "you may not read it";
  if ("code" in error && error.code === "EISDIR") return "it is a directory";
  return error.message;
}
