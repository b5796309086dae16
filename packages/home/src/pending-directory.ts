/**
 * Pending directory: each process that asks keeps its questions in its own folder, under a lock
 * that it holds as long as it lives. The next process to start takes over what dead ones left.
 * Format: spec/home.md §6.
 */
import { randomBytes } from "node:crypto";
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { type PendingRecord, type PendingStore, isConsentError, isUnfinished } from "@acp/core";
import { syncDirectory } from "./atomic.js";
import { causeText, cannot } from "./errors.js";
import { createPendingJournal } from "./pending-journal.js";
import { readRecord } from "./pending-line.js";
import { isMissing, makePrivateDirectory, readPrivateLines } from "./private-file.js";
import { type HeldWriter, holdWriter, whileWriting } from "./writer-lock.js";

const FILE = "journal.jsonl";
const FILE_BYTES_MAX: number = 256 * 1024 * 1024;
const OWNER = /^[0-9a-f]{8}$/;

/** IDs of questions that an audit log may show as open, as of when the files were opened. */
export interface KnownQuestions {
  /**
   * Questions that some process continues: a live one, or this one for those that a dead process
   * left unfinished.
   */
  readonly held: ReadonlySet<string>;
  /** Questions that ended and whose answer nobody can collect anymore. */
  readonly untaken: ReadonlySet<string>;
}

/** Open questions kept in files, for one process. Dispose of it to release its lock. */
export interface PendingFiles extends PendingStore, AsyncDisposable, KnownQuestions {
  /** IDs of the questions that an earlier process left open; `gate.resume()` shows them again. */
  readonly leftOpen: ReadonlySet<string>;
  /** Everything that dead processes left, as it was when the files were opened. */
  readonly left: readonly PendingRecord[];
  /**
   * Number of lines of dead processes that were dropped: they are not records, or `accepts` refused
   * them.
   */
  readonly ignored: number;
}

/**
 * Decides whether a stored record counts. A gate checks for itself; this check keeps useless
 * records from being stored forever.
 */
export type AcceptRecord = (record: PendingRecord) => boolean;

/**
 * What dead processes left: their records, and the folders to remove once those are kept elsewhere.
 */
interface Left {
  readonly records: readonly PendingRecord[];
  readonly folders: readonly string[];
  readonly ignored: number;
  /** Records of the processes that live. */
  readonly others: readonly PendingRecord[];
}

/** What a journal holds: the last record of each id, and how many lines are none that counts. */
interface Read {
  readonly records: readonly PendingRecord[];
  readonly ignored: number;
}

/**
 * Opens the store of open questions in a directory, which is created if it does not exist.
 * Questions of live processes stay with those processes.
 *
 * @throws ConsentError `home_invalid`, with the fix, if a file cannot be read or written;
 * `home_busy` if another process that is starting does not finish.
 */
export async function openPendingFiles(
  directory: string,
  accepts: AcceptRecord = () => true,
): Promise<PendingFiles> {
  await makePrivateDirectory(directory);
  return whileWriting(directory, async () => {
    const own = join(directory, randomBytes(4).toString("hex"));
    await makePrivateDirectory(own);
    const held = await holdWriter(own);
    try {
      const left = await takeOver(directory, own, accepts);
      const journal = await createPendingJournal(join(own, FILE), left.records);
      for (const folder of left.folders) await remove(folder);
      await syncDirectory(directory);
      const leftOpen = idsOf(left.records, ({ status }) => status !== "ended");
      return {
        ...journal,
        ...knownOf(left),
        leftOpen,
        left: left.records,
        ignored: left.ignored,
        [Symbol.asyncDispose]: () => closeAll(journal, held),
      };
    } catch (error) {
      await held[Symbol.asyncDispose]();
      throw error;
    }
  });
}

const idsOf = (
  records: readonly PendingRecord[],
  isWanted: (record: PendingRecord) => boolean,
): ReadonlySet<string> => new Set(records.filter(isWanted).map(({ id }) => id));

/**
 * What a live process is about to do with a question that ended: write its end down, or say what
 * came of its yes.
 */
const isUnderWay = ({ end, outcome }: PendingRecord): boolean =>
  end !== undefined &&
  (!end.recorded || (end.effectiveDigest !== undefined && outcome === undefined));

const isUntaken = ({ status, adopted, outcome }: PendingRecord): boolean =>
  status === "ended" && (!adopted || outcome?.status === "not_collected");

function knownOf({ records, others }: Left): KnownQuestions {
  const held = new Set([
    ...idsOf(records, isUnfinished),
    ...idsOf(others, (record) => isUnfinished(record) || isUnderWay(record)),
  ]);
  return {
    held,
    untaken: idsOf([...records, ...others], (record) => isUntaken(record) && !held.has(record.id)),
  };
}

async function closeAll(journal: AsyncDisposable, held: HeldWriter): Promise<void> {
  try {
    await journal[Symbol.asyncDispose]();
  } finally {
    await held[Symbol.asyncDispose]();
  }
}

async function takeOver(directory: string, own: string, accepts: AcceptRecord): Promise<Left> {
  const records = new Map<string, PendingRecord>();
  const folders: string[] = [];
  const others: PendingRecord[] = [];
  let ignored = 0;
  for (const name of (await readdir(directory)).filter((each) => OWNER.test(each))) {
    const folder = join(directory, name);
    if (folder === own) continue;
    const isLive = await isOwned(folder);
    const read = await readJournal(join(folder, FILE), accepts);
    if (isLive) {
      others.push(...read.records);
      continue;
    }
    folders.push(folder);
    // A crash between taking over and removing leaves a record in two folders: the one that went on
    // is further.
    ignored += read.ignored;
    for (const record of read.records)
      if (record.version >= (records.get(record.id)?.version ?? 0)) records.set(record.id, record);
  }
  return { records: [...records.values()], folders, ignored, others };
}

/** Whether a live process holds the folder. */
async function isOwned(folder: string): Promise<boolean> {
  try {
    await (await holdWriter(folder, 1))[Symbol.asyncDispose]();
    return false;
  } catch (error) {
    if (isConsentError(error, "home_busy")) return true;
    throw error;
  }
}

/**
 * None where a crash came before the first write. A last line that was cut short was never
 * acknowledged, and a live process may be adding one.
 */
async function readJournal(path: string, accepts: AcceptRecord): Promise<Read> {
  if (await isMissing(path)) return { records: [], ignored: 0 };
  const text = await readPrivateLines(path, FILE_BYTES_MAX);
  const records = new Map<string, PendingRecord>();
  let ignored = 0;
  for (const line of text.split("\n").slice(0, -1)) {
    const record = readRecord(line);
    // Whoever can write a line here must not keep a gate from starting, nor put its line over an
    // honest one.
    if (record === undefined || !accepts(record)) ignored++;
    else records.set(record.id, record);
  }
  return { records: [...records.values()], ignored };
}

async function remove(folder: string): Promise<void> {
  try {
    await rm(folder, { recursive: true, force: true });
  } catch (error) {
    throw cannot("remove", folder)(causeText(error), error);
  }
}
