/** Log bytes: what stands in a line that is no event. */
import { createReadStream } from "node:fs";
import { open } from "node:fs/promises";

const NEWLINE = 0x0a;
/** How every line of a log starts: the first key in canonical order. */
const LINE_START = '{"agent":"';

/** Whether a file begins like a log, or is empty. */
export async function isStartOfLog(path: string): Promise<boolean> {
  await using handle = await open(path, "r");
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(LINE_START.length), 0);
  return LINE_START.startsWith(buffer.toString("latin1", 0, bytesRead));
}

/** Whether a line, counted from 1, has a NUL byte. */
export async function hasNul(path: string, line: number): Promise<boolean> {
  let at = 1;
  for await (const chunk of createReadStream(path)) {
    const bytes = chunk instanceof Uint8Array ? chunk : Buffer.from(String(chunk));
    let start = 0;
    while (at <= line && start < bytes.length) {
      const newline = bytes.indexOf(NEWLINE, start);
      const end = newline === -1 ? bytes.length : newline;
      if (at === line && bytes.subarray(start, end).includes(0)) return true;
      if (newline === -1) break;
      at += 1;
      start = end + 1;
    }
    if (at > line) return false;
  }
  return false;
}
