/**
 * Claims file: what may be claimed once stays claimed over restarts and for every process of the
 * home. Each claim is a line that is durable before it counts, written by one process at a time;
 * those that come together share one sync. Format: spec/home.md.
 */
import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { type Claims, type Clock } from "@acp/core";
import { createFileAtomic, writeFileAtomic } from "./atomic.js";
import { inBatches } from "./batches.js";
import { causeText, cannot } from "./errors.js";
import { machineClock } from "./machine-clock.js";
import { isMissing, makePrivateDirectory, readPrivateFile } from "./private-file.js";
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

/** A claim that somebody wants to make, or without a time one that somebody asks about. */
interface Wanted {
  readonly key: string;
  readonly ttlMs?: number;
}

/** A claim of which this process knows when it ends by the monotonic clock. */
interface KnownClaim extends Claim {
  readonly endMonotonicMs: number;
}

/**
 * Returns claims that are kept in a directory, which is created if it does not exist.
 *
 * A running process measures the age of a claim by the monotonic clock. After a restart, only the
 * wall clock is left: if it was set forward, a claim ends early; if it was set back, a claim still
 * lasts no longer than its own duration.
 *
 * @returns Claims whose methods reject with `home_invalid` or `home_busy` if the outcome is not
 * certain. Treat a rejection as a denial.
 */
export function fileClaims(directory: string, clock: Clock = machineClock): Claims {
  const path = join(directory, FILE);
  const known = new Map<string, KnownClaim>();

  /** What the file held when it was looked at last: a line is read once. */
  let seen = { text: "", lines: 0 };

  /** Takes in what the file has got since, and from the beginning where it was written anew. */
  async function look(): Promise<void> {
    const text = await readPrivateFile(path, FILE_BYTES_MAX);
    // A line that a crash cut short was never acknowledged.
    const whole = text.slice(0, text.lastIndexOf("\n") + 1);
    if (!whole.startsWith(seen.text)) seen = { text: "", lines: 0 };
    // What this process has given stays given, also where the file was put back.
    for (const line of whole.slice(seen.text.length).split("\n").slice(0, -1)) {
      const claim = readLine(path, line, seen.lines + 1);
      if (known.get(claim.key)?.endMs !== claim.endMs) known.set(claim.key, knowing(claim, clock));
      seen.lines++;
    }
    seen.text = whole;
  }

  /** The claims whose time is not over; the others are forgotten. */
  function live(): readonly Claim[] {
    for (const [key, claim] of known) if (!isLive(claim, clock)) known.delete(key);
    return [...known.values()];
  }

  async function keep(made: readonly Claim[]): Promise<void> {
    const lines = made.map(printLine).join("");
    const kept = seen.lines > OVER_MAX ? live() : undefined;
    if (kept === undefined || seen.lines - kept.length < OVER_MAX)
      await appendDurable(path, Buffer.byteLength(seen.text), lines);
    else await writeFileAtomic(path, kept.map(printLine).join("") + lines);
    for (const claim of made) known.set(claim.key, knowing(claim, clock));
  }

  /**
   * Claims in the order they are wanted: of two for one key the first is given. True for what was
   * given, and for a claim that was asked about.
   */
  async function takeAll(wanted: readonly Wanted[]): Promise<readonly boolean[]> {
    if (await isMissing(path)) await createFileAtomic(path, "");
    await look();
    const made = new Map<string, Claim>();
    const given = wanted.map(({ key, ttlMs }) => {
      const before = known.get(key);
      const isTaken = made.has(key) || (before !== undefined && isLive(before, clock));
      if (ttlMs === undefined) return isTaken;
      if (isTaken) return false;
      made.set(key, { key, endMs: clock.now() + ttlMs, ttlMs });
      return true;
    });
    if (made.size > 0) await keep([...made.values()]);
    return given;
  }

  const claims = inBatches<Wanted, boolean>(async (wanted) => {
    await makePrivateDirectory(directory);
    return whileWriting(directory, () => takeAll(wanted));
  });
  // Who asks waits for the same lock: what is being written meanwhile counts.
  return {
    claimOnce: (key, ttlMs) => claims.take({ key, ttlMs }),
    isClaimed: (key) => claims.take({ key }),
  };
}

function isLive({ endMonotonicMs }: KnownClaim, clock: Clock): boolean {
  return clock.monotonic() < endMonotonicMs;
}

function knowing(claim: Claim, clock: Clock): KnownClaim {
  return {
    ...claim,
    endMonotonicMs: clock.monotonic() + Math.min(claim.ttlMs, claim.endMs - clock.now()),
  };
}

function printLine({ key, endMs, ttlMs }: Claim): string {
  return `${JSON.stringify({ key, end_ms: endMs, ttl_ms: ttlMs })}\n`;
}

/**
 * A line that is none is no reason to forget what it claimed: nothing is given until somebody has
 * looked.
 */
function readLine(path: string, line: string, number: number): Claim {
  try {
    const value: unknown = JSON.parse(line);
    if (
      typeof value === "object" &&
      value !== null &&
      "key" in value &&
      "end_ms" in value &&
      "ttl_ms" in value
    ) {
      const { key, end_ms: endMs, ttl_ms: ttlMs } = value;
      if (typeof key === "string" && typeof endMs === "number" && typeof ttlMs === "number")
        return { key, endMs, ttlMs };
    }
  } catch {
    // Said below.
  }
  throw cannot(
    "read",
    path,
  )(`line ${number} is no claim; remove the line, or the file where no question is open`);
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
