/**
 * Log latch: a log in which a gate found a bad line takes no more events, of any gate, until a
 * person sets it aside. `<log>.fault` says which line. Format: spec/audit.md §6.2.
 */
import { unlink } from "node:fs/promises";
import { faultOf } from "@acp/audit";
import type { AuditLog, BadLine } from "@acp/audit";
import { ConsentError, isJsonObject, isoTime, quoteText } from "@acp/core";
import { createFileAtomic, readPrivateFile } from "@acp/home";
import { exists } from "../home/exists.js";

const BYTES_MAX = 65_536;

/** Where a log's fault is. */
export function faultPath(path: string): string {
  return `${path}.fault`;
}

/** A bad line that a gate found, and when. */
export interface FoundFault {
  readonly text: string;
  readonly at: string;
}

/** The fault of a log; `undefined` where it has none. One that cannot be read is one. */
export async function readFault(path: string): Promise<FoundFault | undefined> {
  if (!(await exists(faultPath(path)))) return undefined;
  try {
    const value: unknown = JSON.parse(await readPrivateFile(faultPath(path), BYTES_MAX));
    const { text, at } = isJsonObject(value) ? value : {};
    if (typeof text === "string" && typeof at === "string") return { text, at };
  } catch {
    // said below
  }
  return { text: `${faultPath(path)} cannot be read`, at: "an unknown time" };
}

/**
 * Refuses a log that has a fault.
 *
 * @throws ConsentError `audit_failed`, with the fix.
 */
export async function refuseLatched(path: string): Promise<void> {
  const found = await readFault(path);
  if (found !== undefined) throw latched(path, found);
}

function latched(path: string, { text, at }: FoundFault): ConsentError {
  return new ConsentError(
    "audit_failed",
    `Cannot write audit log ${quoteText(path)}: a gate found at ${at} that it is broken: ${text}; run: acp doctor --fix`,
  );
}

/** Lets a log be written again: a person set it aside, or it is whole. */
export async function clearFault(path: string): Promise<void> {
  await unlink(faultPath(path)).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT") throw error;
  });
}

/** A log of a home that stops at a bad line. */
export interface LatchedLog extends AuditLog {
  /** Ends the log's use: here at once, and everywhere as soon as the fault is on disk. */
  latch(bad: BadLine): Promise<void>;
}

/** Ends the use of a log that this process does not write: whoever opens it is refused. */
export async function latchLog(path: string, bad: BadLine, nowMs: number): Promise<void> {
  await writeFault(path, foundOf(bad, nowMs));
}

function foundOf({ file, line, code, message }: BadLine, nowMs: number): FoundFault {
  const text = `${file === undefined ? "" : `${file} `}line ${line}: ${message} (${code})`;
  return { text, at: isoTime(nowMs) };
}

async function writeFault(path: string, { text, at }: FoundFault): Promise<void> {
  await createFileAtomic(faultPath(path), `${JSON.stringify({ version: "1", text, at })}\n`);
}

/** A log that keeps on disk which line ended its use. */
export function withLatch(log: AuditLog, nowMs: () => number): LatchedLog {
  let ended: ConsentError | undefined;
  const latch = async (bad: BadLine): Promise<void> => {
    const found = foundOf(bad, nowMs());
    ended ??= latched(log.path, found);
    await writeFault(log.path, found);
  };
  return {
    ...log,
    latch,
    async append(events, terms) {
      if (ended !== undefined) throw ended;
      try {
        return await log.append(events, terms);
      } catch (error) {
        const bad = faultOf(error);
        if (bad === undefined) throw error;
        await latch(bad);
        throw ended ?? error;
      }
    },
  };
}
