/**
 * ProfileConfig: a profile's configuration file, `<home>/agent-profiles/<profileId>/config.json`
 * (S3). Read for each decision, so that what another process allowed counts at once; changed by one
 * writer at a time, whole or not at all, and nothing of other programs in it is touched.
 */
import { closeSync, constants, fstatSync, openSync, readFileSync, type Stats } from "node:fs";
import { isAbsolute, join } from "node:path";
import {
  ConsentError,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  parseJson,
  quoteText,
} from "@acp/core";
import { type ExecApprovalConfig, parseProfileConfig } from "@acp/core/exec";
import { makePrivateDirectory, whileWriting, writeFileAtomic } from "@acp/home";

/** Where a profile is. */
export interface ExecProfileOptions {
  /** ACP's home directory, e.g. `/home/ada/.acp`; absolute. */
  readonly home: string;
  /** Name of the profile, and of its folder below `agent-profiles`. */
  readonly profileId: string;
}

/** A profile's configuration. */
export interface ExecProfile {
  /** Name of its folder below `agent-profiles`. */
  readonly profileId: string;
  /**
   * What the file says now; the defaults where there is none. Returns the same object while the
   * file does not change.
   *
   * @throws ConsentError `config_invalid` where it does not load or others may write it. A hub then
   *   denies.
   */
  read(): ExecApprovalConfig;
  /**
   * Adds a pattern to the allowlist, unless it is there already.
   *
   * @throws ConsentError `config_invalid`, `home_invalid` or `home_busy`; the file is then
   *   unchanged.
   */
  allow(pattern: string): Promise<void>;
}

const PROFILE_ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;
const FILE_BYTES_MAX = 1024 * 1024;
const EMPTY = "{}";

function cannotRead(path: string, why: string, cause?: unknown): ConsentError {
  return new ConsentError("config_invalid", `Cannot read ${quoteText(path)}: ${why}`, { cause });
}

const hasCode = (error: unknown, code: string): boolean =>
  error instanceof Error && "code" in error && error.code === code;

function checkOwner(path: string, found: Stats): void {
  const { mode, size, uid } = found;
  if (!found.isFile()) throw cannotRead(path, "it is not a file");
  if (uid !== 0 && uid !== process.getuid?.()) throw cannotRead(path, `it belongs to user ${uid}`);
  if ((mode & 0o022) !== 0)
    throw cannotRead(path, `other users can write to it; run: chmod go-w ${quoteText(path)}`);
  if (size > FILE_BYTES_MAX)
    throw cannotRead(path, `it has ${size} bytes, more than the maximum of ${FILE_BYTES_MAX}`);
}

/**
 * The text of the file; an empty object where there is none. A layer judges without waiting, so
 * this does not wait either.
 */
function readText(path: string): string {
  let descriptor: number;
  try {
    // A link could lead to where others write; NONBLOCK: a pipe in the file's place must not hang
    // us.
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    if (hasCode(error, "ENOENT")) return EMPTY;
    throw cannotRead(
      path,
      hasCode(error, "ELOOP") ? "it is a symbolic link" : "the system refuses",
      error,
    );
  }
  try {
    checkOwner(path, fstatSync(descriptor));
    return readFileSync(descriptor, "utf8");
  } finally {
    closeSync(descriptor);
  }
}

/** The document with the pattern in its allowlist, or `undefined` where it stands there. */
function withPattern(document: JsonObject, pattern: string): JsonObject | undefined {
  const section = isJsonObject(document["execApproval"]) ? document["execApproval"] : {};
  const { allowlist } = section;
  const entries: readonly JsonValue[] = Array.isArray(allowlist) ? allowlist : [];
  if (entries.some((entry) => isJsonObject(entry) && entry["pattern"] === pattern))
    return undefined;
  return { ...document, execApproval: { ...section, allowlist: [...entries, { pattern }] } };
}

/**
 * Opens a profile of a home. Its files are created only when something is stored.
 *
 * @throws ConsentError `options_invalid` where the home is not absolute, or the profile's id is not
 *   a plain name.
 */
export function openExecProfile({ home, profileId }: ExecProfileOptions): ExecProfile {
  if (!PROFILE_ID.test(profileId))
    throw new ConsentError(
      "options_invalid",
      `Cannot open the profile ${quoteText(profileId)}: it is not a plain name`,
    );
  // A relative one, `~/.acp` among them, would be read in the working directory: often the agent's.
  if (!isAbsolute(home))
    throw new ConsentError(
      "options_invalid",
      `Cannot open the profile ${quoteText(profileId)}: its home ${quoteText(home)} is not absolute`,
    );
  const profiles = join(home, "agent-profiles");
  const directory = join(profiles, profileId);
  const path = join(directory, "config.json");
  let last: { readonly text: string; readonly config: ExecApprovalConfig } | undefined;
  let queue: Promise<unknown> = Promise.resolve();

  const parse = (text: string): ReturnType<typeof parseProfileConfig> =>
    parseProfileConfig(parseJson(text, { bytesMax: FILE_BYTES_MAX }));
  const change = async (pattern: string): Promise<void> => {
    for (const each of [home, profiles, directory]) await makePrivateDirectory(each);
    await whileWriting(home, async () => {
      const next = withPattern(parse(readText(path)).document, pattern);
      if (next === undefined) return;
      const text = `${JSON.stringify(next, undefined, 2)}\n`;
      // What does not load is not written.
      parse(text);
      await writeFileAtomic(path, text);
    });
  };
  return {
    profileId,
    read() {
      const text = readText(path);
      if (last?.text !== text) last = { text, config: parse(text).execApproval };
      return last.config;
    },
    allow(pattern) {
      // One at a time in this process too: the lock is for others.
      const next = queue.catch(() => undefined).then(() => change(pattern));
      queue = next;
      return next;
    },
  };
}
