/**
 * Witnesses: places outside the log's reach where its checkpoints are kept. Whoever rewrites the
 * log cannot rewrite what a witness has. Format: spec/checkpoints.md §5.
 */
import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { cannot, causeText, hasErrno } from "./errors.js";
import { writeAll } from "./log-file.js";
import { findNewline, readRange } from "./tail.js";

/**
 * Keeps checkpoints outside the log's reach: a file on another disk, a webhook, or a channel that
 * people read. Source: spec/checkpoints.md §5.
 */
export interface Witness {
  /** Name of the witness, for the log, e.g. `"webhook"`. */
  readonly name: string;
  /**
   * Takes one signed checkpoint; resolves when it is kept. Never called again before it settles; of
   * several that wait, only the newest is sent.
   *
   * @param signal - Aborts when the log stops waiting: after 30 s, or while it closes after 5 s.
   */
  publish(checkpoint: string, signal: AbortSignal): Promise<void>;
  /**
   * The newest checkpoint of this log that it keeps; `undefined` where it has none. Called when the
   * log is opened, so that a log that was cut back together with the checkpoints beside it does not
   * open. Leave it out for a witness that can only take checkpoints. An error, or no answer within
   * 5 s, counts as none.
   */
  newest?(signal: AbortSignal): Promise<string | undefined>;
}

/** How long a log that is being opened waits for its witnesses. */
const NEWEST_TIMEOUT_MS = 5_000;
const CHECKPOINTS_BYTES_MAX = 64 * 1024 * 1024;
const NEWEST_BYTES = 64 * 1024;

/** Path of the checkpoints file beside a log: `<log>.checkpoints`. */
export function checkpointsPath(path: string): string {
  return `${path}.checkpoints`;
}

/**
 * Makes a witness that keeps checkpoints in a private file (0600), durable, one per line as a JSON
 * string.
 */
export function fileWitness(path: string, name = "file"): Witness {
  return {
    name,
    async publish(checkpoint) {
      const { O_RDWR, O_CREAT, O_NOFOLLOW, O_NONBLOCK } = constants;
      await using handle = await open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0o600);
      const stats = await handle.stat();
      if (!stats.isFile()) throw new Error("it is not a file");
      // A line that a crash cut short is written over.
      const { size } = stats;
      const end = (await findNewline(handle, size)) + 1;
      await writeAll(handle, Buffer.from(`${JSON.stringify(checkpoint)}\n`), end);
      await handle.datasync();
    },
    newest: async () => (await readNewestCheckpoints(path)).at(-1),
  };
}

/** The newest checkpoint of each witness that says it in time. */
export async function newestOf(witnesses: readonly Witness[]): Promise<readonly string[]> {
  const signal = AbortSignal.timeout(NEWEST_TIMEOUT_MS);
  const late = new Promise<undefined>((resolve) =>
    signal.addEventListener("abort", () => resolve(undefined), { once: true }),
  );
  // A witness that is away stops nothing: it is written down as failed when it is told the next
  // checkpoint.
  const ask = async (witness: Witness): Promise<string | undefined> => witness.newest?.(signal);
  const notes = await Promise.all(
    witnesses.map((witness) => Promise.race([ask(witness).catch(() => undefined), late])),
  );
  return notes.filter((note) => note !== undefined);
}

/**
 * The checkpoints of a file, oldest first; none where there is no file. A last line without an end
 * is left out.
 *
 * @throws ConsentError `audit_failed` where the file cannot be read, has more than 64 MiB or holds
 *   something else.
 */
export async function readCheckpoints(path: string): Promise<readonly string[]> {
  const text = await readBounded(path);
  return text
    .slice(0, text.lastIndexOf("\n") + 1)
    .split("\n")
    .slice(0, -1)
    .map((line, index) => {
      const note = parseText(line);
      if (note === undefined)
        throw cannot("read checkpoints of", path)(`line ${index + 1} is not valid JSON`);
      return note;
    });
}

/**
 * The last checkpoints of a file, some hundred, oldest first: as many of them as a writer has to
 * look at, however many it wrote before. A file that is no larger is read whole.
 *
 * @throws ConsentError `audit_failed` as {@link readCheckpoints} does.
 */
export async function readNewestCheckpoints(path: string): Promise<readonly string[]> {
  const lines = (await readTailText(path))?.split("\n").slice(1, -1);
  const notes = lines?.map(parseText);
  return notes === undefined || notes.length === 0 || notes.includes(undefined)
    ? readCheckpoints(path)
    : notes.filter((note) => note !== undefined);
}

/** The end of a file that is larger, from somewhere in a line on. */
async function readTailText(path: string): Promise<string | undefined> {
  const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK).catch(() => undefined);
  if (handle === undefined) return undefined;
  try {
    const { size } = await handle.stat();
    if (size <= NEWEST_BYTES) return undefined;
    return (await readRange(handle, size - NEWEST_BYTES, size)).toString("utf8");
  } catch {
    return undefined; // whoever reads all of it says why
  } finally {
    await handle.close();
  }
}

async function readBounded(path: string): Promise<string> {
  try {
    await using handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const stats = await handle.stat();
    // A pipe in its place has nothing to read, which is not that there are none.
    if (!stats.isFile()) throw new Error("it is not a file");
    const { size } = stats;
    if (size > CHECKPOINTS_BYTES_MAX)
      throw new Error(`it has more than ${CHECKPOINTS_BYTES_MAX} bytes`);
    return await handle.readFile("utf8");
  } catch (error) {
    if (hasErrno(error, "ENOENT")) return "";
    throw cannot("read checkpoints of", path)(causeText(error), error);
  }
}

function parseText(line: string): string | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === "string" ? value : undefined;
  } catch {
    return undefined;
  }
}
