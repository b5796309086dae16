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
import { type Claim, printClaimLine, readClaimLine } from "./claim-line.js";
import { causeText, cannot } from "./errors.js";
import { createKnownClaims } from "./known-claims.js";
import { machineClock } from "./machine-clock.js";
import { isMissing, makePrivateDirectory, readPrivateFile } from "./private-file.js";
import { whileWriting } from "./writer-lock.js";

const FILE = "claims.jsonl";
const FILE_BYTES_MAX: number = 64 * 1024 * 1024;
/** Lines whose time is over are dropped when there are so many of them. */
const OVER_MAX = 1_024;

/** A claim that somebody wants to make, or without a time one that somebody asks about. */
interface Wanted {
  readonly key: string;
  readonly ttlMs?: number;
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
  const known = createKnownClaims(clock);

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
      known.learn(readClaimLine(path, line, seen.lines + 1));
      seen.lines++;
    }
    seen.text = whole;
  }

  async function keep(made: readonly Claim[]): Promise<void> {
    const lines = made.map(printClaimLine).join("");
    const kept = seen.lines > OVER_MAX ? known.live() : undefined;
    if (kept === undefined || seen.lines - kept.length < OVER_MAX)
      await appendDurable(path, Buffer.byteLength(seen.text), lines);
    else await writeFileAtomic(path, kept.map(printClaimLine).join("") + lines);
    for (const claim of made) known.add(claim);
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
      const isTaken = made.has(key) || known.isLive(key);
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

/**
 * Claims in one directory what is claimed in another one, for as long as it is claimed there: a home
 * that replaces it gives nothing a second time.
 *
 * @returns How many claims of the other one hold.
 * @throws ConsentError `home_invalid` if a line there is no claim, or one of the files cannot be read
 * or written; `home_busy`.
 */
export async function carryClaims(
  from: string,
  to: string,
  clock: Clock = machineClock,
): Promise<number> {
  const path = join(from, FILE);
  if (await isMissing(path)) return 0;
  const lines = (await readPrivateFile(path, FILE_BYTES_MAX)).split("\n").slice(0, -1);
  const nowMs = clock.now();
  const live = lines
    .map((line, at) => readClaimLine(path, line, at + 1))
    .map(({ key, endMs, ttlMs }) => ({ key, leftMs: Math.min(ttlMs, endMs - nowMs) }))
    .filter(({ leftMs }) => leftMs > 0);
  const claims = fileClaims(to, clock);
  await Promise.all(live.map(({ key, leftMs }) => claims.claimOnce(key, leftMs)));
  return live.length;
}

async function appendDurable(path: string, size: number, lines: string): Promise<void> {
  try {
    await using handle = await open(path, constants.O_WRONLY | constants.O_NOFOLLOW);
    await handle.truncate(size);
    const bytes = Buffer.from(lines);
    const { bytesWritten } = await handle.write(bytes, 0, bytes.length, size);
    if (bytesWritten < bytes.length) throw new Error("it was only partly written");
    await handle.datasync();
  } catch (error) {
    throw cannot("write", path)(causeText(error), error);
  }
}
