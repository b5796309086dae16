/**
 * Claims file: what may be claimed once stays claimed over restarts and for every process of the home. Each claim is a line that is durable before it
 * counts, written by one process at a time; those that come together share one sync. Format: spec/home.md.
 */
import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { type Claims, type Clock, systemClock } from "@acp/core";
import { createFileAtomic, writeFileAtomic } from "./atomic.js";
import { inBatches } from "./batches.js";
import { causeText, cannot } from "./errors.js";
import { makePrivateDirectory, readPrivateFile } from "./private-file.js";
import { whileWriting } from "./writer-lock.js";

const FILE = "claims.jsonl";
const FILE_BYTES_MAX: number = 64 * 1024 * 1024;
/** Lines whose time is over are dropped when there are so many of them. */
const OVER_MAX = 1_024;

/** A claim as its line holds it; the text of a line is JSON of it. */
interface Claim {
  readonly key: string;
  /** Wall time of its end. */
  readonly endMs: number;
  readonly ttlMs: number;
}

/** A claim that somebody wants to make. */
interface Wanted {
  readonly key: string;
  readonly ttlMs: number;
}

/** A claim of which this process knows when it ends by the monotonic clock. */
interface KnownClaim extends Claim {
  readonly endMonotonicMs: number;
}

/**
 * Claims that are kept in the directory, made where it does not exist.
 *
 * While a process lives it measures the time of a claim by the monotonic clock. After a restart there is only the wall clock: set forward, it ends a
 * claim early; set back, a claim lasts no longer than it was made for.
 *
 * @returns Claims whose `claimOnce` rejects with `home_invalid` or `home_busy` where it is not sure: that is no yes.
 */
export function fileClaims(directory: string, clock: Clock = systemClock): Claims {
  const path = join(directory, FILE);
  const known = new Map<string, KnownClaim>();

  /** The last claim of each key, as the file has it now, and how many lines are no longer needed. */
  async function look(): Promise<{ readonly size: number; readonly over: number }> {
    const text = await readPrivateFile(path, FILE_BYTES_MAX);
    // A line that a crash cut short was never acknowledged.
    const whole = text.slice(0, text.lastIndexOf("\n") + 1);
    const lines = whole.split("\n").slice(0, -1);
    const found = new Map(lines.map((line, index) => readLine(path, line, index + 1)).map((claim) => [claim.key, claim]));
    // What this process has given stays given, also where the file was put back.
    for (const [key, claim] of known) if (!isLive(claim, clock) && !found.has(key)) known.delete(key);
    for (const [key, claim] of found) {
      if (known.get(key)?.endMs !== claim.endMs) known.set(key, knowing(claim, clock));
    }
    const live = [...known.values()].filter((claim) => isLive(claim, clock)).length;
    return { size: Buffer.byteLength(whole), over: lines.length - live };
  }

  /** Claims in the order they are wanted: of two for one key the first is given. */
  async function takeAll(wanted: readonly Wanted[]): Promise<readonly boolean[]> {
    await createFileAtomic(path, "");
    const { size, over } = await look();
    const made = new Map<string, Claim>();
    const given = wanted.map(({ key, ttlMs }) => {
      const before = known.get(key);
      if (made.has(key) || (before !== undefined && isLive(before, clock))) return false;
      made.set(key, { key, endMs: clock.now() + ttlMs, ttlMs });
      return true;
    });
    if (made.size === 0) return given;
    const lines = [...made.values()].map(printLine).join("");
    if (over < OVER_MAX) await appendDurable(path, size, lines);
    else
      await writeFileAtomic(
        path,
        [...known.values()]
          .filter((each) => isLive(each, clock))
          .map(printLine)
          .join("") + lines,
      );
    for (const claim of made.values()) known.set(claim.key, knowing(claim, clock));
    return given;
  }

  const claims = inBatches<Wanted, boolean>(async (wanted) => {
    await makePrivateDirectory(directory);
    return whileWriting(directory, () => takeAll(wanted));
  });
  return { claimOnce: (key, ttlMs) => claims.take({ key, ttlMs }) };
}

function isLive({ endMonotonicMs }: KnownClaim, clock: Clock): boolean {
  return clock.monotonic() < endMonotonicMs;
}

function knowing(claim: Claim, clock: Clock): KnownClaim {
  return { ...claim, endMonotonicMs: clock.monotonic() + Math.min(claim.ttlMs, claim.endMs - clock.now()) };
}

function printLine({ key, endMs, ttlMs }: Claim): string {
  return `${JSON.stringify({ key, end_ms: endMs, ttl_ms: ttlMs })}\n`;
}

/** A line that is none is no reason to forget what it claimed: nothing is given until somebody has looked. */
function readLine(path: string, line: string, number: number): Claim {
  try {
    const value: unknown = JSON.parse(line);
    if (typeof value === "object" && value !== null && "key" in value && "end_ms" in value && "ttl_ms" in value) {
      const { key, end_ms: endMs, ttl_ms: ttlMs } = value;
      if (typeof key === "string" && typeof endMs === "number" && typeof ttlMs === "number") return { key, endMs, ttlMs };
    }
  } catch {
    // Said below.
  }
  throw cannot("read", path)(`line ${number} is no claim; remove the line, or the file where no question is open`);
}

async function appendDurable(path: string, size: number, lines: string): Promise<void> {
  try {
    await using handle = await open(path, constants.O_WRONLY | constants.O_NOFOLLOW);
    await handle.truncate(size);
    const bytes = Buffer.from(lines);
    const { bytesWritten } = await handle.write(bytes, 0, bytes.length, size);
    if (bytesWritten < bytes.length) throw new Error("it was not written whole");
    await handle.datasync();
  } catch (error) {
    throw cannot("write", path)(causeText(error), error);
  }
}
