/** Recover: reads what a log left open. Starts at the last recovery, however large the log is. */
import type { FileHandle } from "node:fs/promises";
import { cannot } from "./errors.js";
import { lineText, splitLines } from "./lines.js";
import { listArchives } from "./log-parts.js";
import { isWorkEvent, type OpenWork, trackOpenWork } from "./open-work.js";
import { readPlainLine } from "./plain-line.js";
import { readEventOf } from "./wanted-line.js";
import { openSource, readChunks } from "./source.js";
import { readRange } from "./tail.js";

/**
 * The questions, yeses and calls of a log that have no end in it.
 *
 * @throws ConsentError `audit_failed` at a line that is no event.
 */
export async function findOpenWork(path: string): Promise<OpenWork> {
  const work = trackOpenWork();
  const files = [...(await listArchives(path)).map((archive) => archive.path), path];
  const starts: { readonly file: string; readonly at: number }[] = [];
  for (const file of files.toReversed()) {
    await using handle = await openSource(file, "may_be_missing");
    const at = handle === undefined ? undefined : await findOpened(handle);
    starts.unshift({ file, at: at ?? 0 });
    if (at !== undefined) break;
  }
  for (const { file, at } of starts) await addEvents(work, file, at);
  return work;
}

const CHUNK_BYTES = 256 * 1024;
const NEWLINE = 0x0a;
const OPENED = ',"event_type":"log_opened"';

/** Where the line of the last `log_opened` event starts. */
async function findOpened(handle: FileHandle): Promise<number | undefined> {
  const { size } = await handle.stat();
  for (let end = size; end > 0; end -= CHUNK_BYTES) {
    const from = Math.max(0, end - CHUNK_BYTES);
    // one that lies over the border counts
    const bytes = await readRange(handle, from, Math.min(size, end + OPENED.length));
    for (
      let at = bytes.lastIndexOf(OPENED);
      at !== -1;
      at = at === 0 ? -1 : bytes.lastIndexOf(OPENED, at - 1)
    ) {
      const start = await lineStart(handle, from + at);
      if (start !== undefined) return start;
    }
  }
  return undefined;
}

/**
 * Before its type, an event of the log's own has an empty agent, category and decision, and its
 * hash: always as many bytes.
 */
const BEFORE_BYTES = '{"agent":"","category":"","decision":"","event_hash":"sha256:"'.length + 64;

/**
 * Where the line of this type starts; `undefined` where the words are part of something else, such
 * as an argument.
 */
async function lineStart(handle: FileHandle, at: number): Promise<number | undefined> {
  const start = at - BEFORE_BYTES;
  if (start <= 0) return start === 0 ? start : undefined;
  return (await readRange(handle, start - 1, start))[0] === NEWLINE ? start : undefined;
}

const EVENT_TYPE = /,"event_type":"([a-z_]+)"/;

/** Feeds the events from a line on. A last line without an end is left out. */
async function addEvents(work: OpenWork, file: string, position: number): Promise<void> {
  await using handle = await openSource(file, "may_be_missing");
  if (handle === undefined) return;
  for await (const { bytes, ends } of splitLines(readChunks(handle, { path: file, position }))) {
    let start = 0;
    for (const end of ends) {
      const line = lineText(bytes.subarray(start, end)) ?? "";
      // No text can hold an unescaped quote, so the first match is the field.
      const eventType = EVENT_TYPE.exec(line)?.[1];
      if (eventType === undefined || isWorkEvent(eventType)) {
        const event = readEventOf(line, readPlainLine(bytes, start, end) !== undefined);
        if (event === undefined)
          throw cannot("recover", file)("a line is not an event; run `acp audit verify`");
        work.add(event);
      } else work.pass();
      start = end + 1;
    }
  }
}
