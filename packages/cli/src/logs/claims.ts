/**
 * Claims: the signed checkpoints that a log is held against, from beside it, from the witnesses of
 * config.yml and from the command line; and the logs that they speak of, also those that somebody
 * removed.
 */
import { readdir } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { checkpointsPath, noteSigner, readCheckpoints } from "@acp/audit";
import type { CheckpointClaims } from "@acp/audit";
import { ConsentError, quoteText } from "@acp/core";
import { homePaths, readCheckpointKey } from "@acp/home";
import { readAuditConfig } from "./log-settings.js";
import { listAuditFiles } from "./log-files.js";
import { originOf } from "./checkpoint-key.js";
import { keysOf, readKeySeams } from "./checkpoint-seams.js";
import type { Invocation } from "../command.js";
import { readInput } from "../input.js";
import { seamsOf } from "./log-seams.js";
import { exists } from "../home/exists.js";
import { witnessFile } from "./witnesses.js";

const KEY_BYTES_MAX = 4_096;
const NOTE_KEY = /^[^\s+]+\+[0-9a-f]{8}\+/;
const LOG_CHECKPOINTS = /(?:^|\.)(audit(?:\.\d{1,4})?\.jsonl)(?:\.\d{1,6})?\.checkpoints$/;

/** Where checkpoints of a home's logs come from. */
export interface ClaimSources {
  readonly home: string;
  /** The public key that is trusted: `--key`, else the home's. */
  readonly ofHome: string | undefined;
  readonly named: string | undefined;
  /** Directories of witnesses. */
  readonly directories: readonly string[];
  /** The file of `--checkpoints`. */
  readonly more: string | undefined;
}

/**
 * Finds out where checkpoints come from; a config.yml that does not load is said and names no
 * witness.
 *
 * @param isOfHome - Whether the logs that are checked are the home's; of a log from elsewhere the
 *   home knows nothing.
 */
export async function claimSources(
  home: string,
  isOfHome: boolean,
  { values, io, print }: Pick<Invocation, "values" | "io" | "print">,
): Promise<ClaimSources> {
  const named = values.key === undefined ? undefined : await readNoteKey(values.key, io);
  const more = values.checkpoints;
  if (!isOfHome) return { home, ofHome: undefined, named, directories: [], more };
  const paths = homePaths(home);
  const signerKey = named === undefined ? await readCheckpointKey(paths) : undefined;
  const say = (what: string): void => print.notice(what);
  const config = await readAuditConfig({ home: paths, io }, (problem) =>
    say(`Witnesses are not checked: ${problem}`),
  );
  const directories = (config?.witnesses ?? []).flatMap((witness) =>
    "directory" in witness ? [witness.directory] : [],
  );
  for (const directory of directories)
    if (!(await exists(directory))) say(`A witness is not checked: ${directory} does not exist`);
  return {
    home,
    ofHome: signerKey === undefined ? undefined : noteSigner(signerKey).verifierKey,
    named,
    directories,
    more,
  };
}

async function readNoteKey(key: string, io: Invocation["io"]): Promise<string> {
  return NOTE_KEY.test(key)
    ? key
    : (await readInput(key, io, { what: "checkpoint key", bytesMax: KEY_BYTES_MAX })).trim();
}

function nameOf(verifierKey: string): string {
  const [name = ""] = verifierKey.split("+");
  return name;
}

/**
 * The checkpoints of a log, with the key that is trusted; `undefined` where there is no key.
 *
 * @param newest - How many of each source; each commits to all events before it.
 * @throws ConsentError `options_invalid` for --checkpoints without a key, `audit_failed` where a
 *   file of checkpoints is none.
 */
export async function claimsOf(
  file: string,
  sources: ClaimSources,
  newest: number = Number.POSITIVE_INFINITY,
): Promise<CheckpointClaims | undefined> {
  const { home, ofHome, named, directories, more } = sources;
  const isOfHome = dirname(file) === home;
  const verifierKey = named ?? (isOfHome ? ofHome : undefined);
  if (verifierKey === undefined) {
    if (more === undefined) return undefined;
    throw new ConsentError(
      "options_invalid",
      "Cannot use --checkpoints: give the key that signed them with --key; acp keys list shows it",
    );
  }
  const origin = originOf(nameOf(verifierKey), basename(file), await seamsOf(file));
  const kept = isOfHome ? directories.map((directory) => witnessFile(directory, origin)) : [];
  const paths = [checkpointsPath(file), ...kept, ...(more === undefined ? [] : [more])];
  const all = await Promise.all(paths.map(readCheckpoints));
  const notes = all.map((each) => each.slice(Math.max(0, each.length - newest)));
  const verifierKeys = keysOf(verifierKey, await readKeySeams(homePaths(home)));
  return { notes: notes.flat(), verifierKeys, ...(isOfHome && { origin }) };
}

/**
 * The home's logs, those that only checkpoints speak of included: a log that was removed whole
 * leaves nothing else.
 */
export async function logsToVerify(sources: ClaimSources): Promise<readonly string[]> {
  const { home } = sources;
  const there = await listAuditFiles(home);
  const gone: string[] = [];
  for (const name of await namesWithCheckpoints(sources)) {
    const file = join(home, name);
    if (!there.includes(file) && ((await claimsOf(file, sources))?.notes ?? []).length > 0)
      gone.push(file);
  }
  return [...there, ...gone];
}

async function namesWithCheckpoints({
  home,
  ofHome,
  named,
  directories,
}: ClaimSources): Promise<ReadonlySet<string>> {
  const key = named ?? ofHome;
  if (key === undefined) return new Set();
  const [beside = [], ...kept] = await Promise.all(
    [home, ...directories].map((directory) => namesIn(directory)),
  );
  const names = [
    ...beside.filter((name) => name.startsWith("audit")),
    ...kept.flat().filter((name) => name.startsWith(`${nameOf(key)}.`)),
  ];
  return new Set(names.flatMap((name) => LOG_CHECKPOINTS.exec(name)?.[1] ?? []));
}

/** What is not there has none; what cannot be looked at is not taken for empty. */
async function namesIn(directory: string): Promise<readonly string[]> {
  return readdir(directory).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return [];
    throw new ConsentError(
      "home_invalid",
      `Cannot look for checkpoints in ${quoteText(directory)}: ${error.message}`,
      { cause: error },
    );
  });
}
