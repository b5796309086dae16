/**
 * Log seams: the logs of this name that were set aside because they were broken. Each is a signed note
 * in `<log>.seams`. A log after n of them has an origin of its own, so that checkpoints of the old
 * one do not speak of it. Format: spec/audit.md §6.1.
 */
import { readdir } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { fileWitness, noteSigner, noteVerifier, openNote, readCheckpoints } from "@acp/audit";
import { ConsentError, isJsonObject, quoteText } from "@acp/core";
import type { JsonObject } from "@acp/core";

const SUFFIX = ".seams";
const FIRST_LINE = /^acp-seam\/1 (\S+)$/;

/** A file that was set aside. */
export interface SetAsideFile {
  readonly name: string;
  readonly bytes: number;
  /** `sha256:<hex>` of its bytes. */
  readonly hash: string;
}

/** A log that was set aside. */
export interface Seam {
  /** Name of the log, such as `audit.jsonl`. */
  readonly log: string;
  /** Where it is now, relative to the home. */
  readonly folder: string;
  readonly files: readonly SetAsideFile[];
  /** What is wrong with it: a code of spec/audit.md §4, and a sentence. */
  readonly code: string;
  readonly message: string;
  /** How many of its events are good. */
  readonly events: number;
  /** The last good event. */
  readonly head?: { readonly seq: number; readonly hash: string };
}

/** Where the seams of a log are. */
export function logSeamsPath(path: string): string {
  return `${path}${SUFFIX}`;
}

/** Number of seams of each log in a directory, by the log's name; without an entry there are none. */
export async function countSeams(directory: string): Promise<ReadonlyMap<string, number>> {
  const all = await readdir(directory).catch((cause: NodeJS.ErrnoException) => {
    if (cause.code === "ENOENT") return [];
    throw new ConsentError(
      "audit_failed",
      `Cannot look for audit logs in ${quoteText(directory)}: ${cause.message}`,
      { cause },
    );
  });
  const names = all.filter((name) => name.endsWith(SUFFIX));
  return new Map(
    await Promise.all(
      names.map(async (name): Promise<[string, number]> => {
        const notes = await readCheckpoints(join(directory, name));
        return [name.slice(0, -SUFFIX.length), notes.length];
      }),
    ),
  );
}

/** How many seams a log has. */
export async function seamsOf(path: string): Promise<number> {
  return (await readCheckpoints(logSeamsPath(path))).length;
}

/** The metadata of the event that says it. */
export function seamMetadata({ head, ...seam }: Seam): JsonObject {
  return {
    ...seam,
    files: seam.files.map((file) => ({ ...file })),
    ...(head !== undefined && { last_seq: head.seq, last_hash: head.hash }),
  };
}

/** What metadata says; `undefined` where it is none of a seam. */
export function readSeam(metadata: JsonObject): Seam | undefined {
  const { log, folder, files, code, message, events, last_seq: seq, last_hash: hash } = metadata;
  if (typeof log !== "string" || typeof folder !== "string" || typeof events !== "number")
    return undefined;
  if (typeof code !== "string" || typeof message !== "string" || !Array.isArray(files))
    return undefined;
  const head = typeof seq === "number" && typeof hash === "string" ? { seq, hash } : undefined;
  return {
    log,
    folder,
    files: files.flatMap((file) => readFileEntry(file)),
    code,
    message,
    events,
    ...(head !== undefined && { head }),
  };
}

function readFileEntry(value: unknown): readonly SetAsideFile[] {
  if (!isJsonObject(value)) return [];
  const { name, bytes, hash } = value;
  return typeof name === "string" && typeof bytes === "number" && typeof hash === "string"
    ? [{ name, bytes, hash }]
    : [];
}

/** Writes a seam, signed, durable. */
export async function addSeam(path: string, seam: Seam, sign: SeamSigner): Promise<void> {
  const text = `acp-seam/1 ${sign.origin}\n${JSON.stringify(seamMetadata(seam))}\n`;
  const note = noteSigner(sign.signerKey).sign(text);
  await fileWitness(logSeamsPath(path)).publish(note, new AbortController().signal);
}

/** Who signs a seam, and what the log that was set aside was called. */
export interface SeamSigner {
  readonly signerKey: string;
  readonly origin: string;
}

/** A seam, or why the note is none that may be trusted. */
export type OpenedSeam =
  | { readonly ok: true; readonly seam: Seam; readonly origin: string }
  | { readonly ok: false; readonly reason: string };

/**
 * The seams of a log, oldest first.
 *
 * @throws ConsentError `audit_failed` where the file cannot be read.
 */
export async function readLogSeams(
  path: string,
  verifierKeys: readonly string[],
): Promise<readonly OpenedSeam[]> {
  const verifiers = verifierKeys.map(noteVerifier);
  return (await readCheckpoints(logSeamsPath(path))).map((note): OpenedSeam => {
    const opened = openNote(note, verifiers);
    if (!opened.ok) return opened;
    const [first = "", json = ""] = opened.text.split("\n");
    const origin = FIRST_LINE.exec(first)?.[1];
    const seam = readSeam(parseObject(json) ?? {});
    return origin === undefined || seam === undefined
      ? { ok: false, reason: "it is not a seam" }
      : { ok: true, seam, origin };
  });
}

/** Where the files of a seam are. */
export function seamFolder(path: string, { folder }: Pick<Seam, "folder">): string {
  // What a note says never leads out of the home.
  return join(dirname(path), "quarantined", basename(folder));
}

function parseObject(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
