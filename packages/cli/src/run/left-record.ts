/**
 * Left record: what a workspace was like before an agent began, kept in the home, so that the next
 * start sets aside what an agent left whose manager was killed.
 */
import { randomBytes } from "node:crypto";
import { rm } from "node:fs/promises";
import { basename, join } from "node:path";
import { makePrivateDirectory, readPrivateFile, writeFileAtomic } from "@acp/home";
import type { Home } from "@acp/home";
import { isProcessGone, ownProcessName } from "@acp/sandbox-linux";
import { listFolder } from "../home/list-folder.js";
import { setNewAside } from "./left-behind.js";
import type { WorkspaceBefore } from "./left-behind.js";

/** A record that is kept. */
export interface LeftRecord {
  /** Keeps another one in its place, soon. */
  keep(before: WorkspaceBefore): void;
  /** Forgets it. */
  done(): Promise<void>;
}

const NAME = /^(?<manager>\d+-\d+-\d+)-[0-9a-f]{8}\.json$/u;
/** A workspace of 50,000 entries, each of them one that counts. */
const BYTES_MAX = 64 * 1024 * 1024;

/** @throws ConsentError `home_invalid` where it cannot be kept: then nothing starts. */
export async function keepRecord(
  home: Pick<Home, "dir">,
  before: WorkspaceBefore,
): Promise<LeftRecord> {
  const directory = directoryOf(home);
  await makePrivateDirectory(directory);
  const path = join(directory, `${ownProcessName()}-${randomBytes(4).toString("hex")}.json`);
  const write = (each: WorkspaceBefore): Promise<void> =>
    writeFileAtomic(path, `${JSON.stringify(each)}\n`);
  await write(before);
  let written = Promise.resolve();
  return {
    // Where that fails, what a person replaced is set aside after a crash, too.
    keep: (each) => void (written = written.then(() => write(each)).catch(() => {})),
    done: async () => {
      await written;
      await rm(path, { force: true });
    },
  };
}

/**
 * Sets aside what agents left whose managers are gone. Returns what a person should know of each.
 */
export async function settleRecords(home: Pick<Home, "dir">): Promise<readonly string[]> {
  const directory = directoryOf(home);
  const notices: string[] = [];
  const names = await listFolder(directory, "is_empty").catch((error: unknown) => {
    notices.push(error instanceof Error ? error.message : String(error));
    return [];
  });
  for (const name of names) {
    const manager = NAME.exec(name)?.groups?.["manager"];
    if (manager === undefined || !isProcessGone(manager)) continue;
    const path = join(directory, basename(name));
    const notice = await settle(path).catch((error: unknown) => {
      return `Cannot read "${path}", which says what a workspace was like before: ${error instanceof Error ? error.message : String(error)}`;
    });
    await rm(path, { force: true });
    if (notice !== undefined) notices.push(notice);
  }
  return notices;
}

async function settle(path: string): Promise<string | undefined> {
  const before = readBefore(JSON.parse(await readPrivateFile(path, BYTES_MAX)));
  const notice = before === undefined ? undefined : setNewAside(before);
  return notice === undefined || before === undefined
    ? undefined
    : `${notice} Folder: ${before.path}`;
}

function readBefore(value: unknown): WorkspaceBefore | undefined {
  if (
    typeof value !== "object" ||
    value === null ||
    !("path" in value && "places" in value && "ids" in value && "writable" in value)
  )
    return undefined;
  const { path, places, ids, writable } = value;
  return typeof path === "string" && isTexts(places) && isTexts(ids) && isTexts(writable)
    ? { path, places, ids, writable }
    : undefined;
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((each) => typeof each === "string");
}

function directoryOf({ dir }: Pick<Home, "dir">): string {
  return join(dir, "left-behind");
}
