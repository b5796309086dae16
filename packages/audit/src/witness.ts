/**
 * Witnesses: places outside the log's reach where its checkpoints are kept. Whoever rewrites the
 * log cannot rewrite what a witness has. Format: spec/checkpoints.md §5.
 */
import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { cannot, causeText, hasErrno } from "./errors.js";
import { writeAll } from "./log-file.js";
import { findNewline } from "./tail.js";

/** Keeps checkpoints: a file on another disk, a webhook, a channel in which people read along. */
export interface Witness {
  /** Names it in the log, e.g. `"webhook"`. */
  readonly name: string;
  /**
   * Takes one signed checkpoint; resolves when it is kept. Never called twice at a time; of several
   * that wait only the newest comes.
   *
   * @param signal - Aborts when the log will not wait any longer.
   */
  publish(checkpoint: string, signal: AbortSignal): Promise<void>;
  /**
   * The newest checkpoint of this log that it keeps, `undefined` where it has none. Asked when the
   * log is opened: a log that was cut back together with the checkpoints beside it does not open.
   * Leave it out where a witness only takes; what fails here stops nothing.
   */
  newest?(signal: AbortSignal): Promise<string | undefined>;
}

/** How long a log that is being opened waits for its witnesses. */
const NEWEST_TIMEOUT_MS = 5_000;
const CHECKPOINTS_BYTES_MAX = 64 * 1024 * 1024;

/** Where the checkpoints beside a log are. */
export function checkpointsPath(path: string): string {
  return `${path}.checkpoints`;
}

/** Keeps checkpoints in a private file, one a line as a JSON text, durable. */
export function fileWitness(path: string, name = "file"): Witness {
  return {
    name,
    async publish(checkpoint) {
      const { O_RDWR, O_CREAT, O_NOFOLLOW, O_NONBLOCK } = constants;
      await using handle = await open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0o600);
      // A line that a crash cut short is written over.
      const { size } = await handle.stat();
      const end = (await findNewline(handle, size)) + 1;
      await writeAll(handle, Buffer.from(`${JSON.stringify(checkpoint)}\n`), end);
      await handle.datasync();
    },
    newest: async () => (await readCheckpoints(path)).at(-1),
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
 * @throws ConsentError `audit_failed` where it cannot be read or holds something else.
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
        throw cannot("read checkpoints of", path)(`line ${index + 1} is not a JSON text`);
      return note;
    });
}

async function readBounded(path: string): Promise<string> {
  try {
    await using handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const { size } = await handle.stat();
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
