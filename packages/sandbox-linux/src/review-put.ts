/**
 * Review put: one entry of an open folder, made or taken away. What comes is written beside its
 * place, compared with what was shown, and exchanged with what is there; only then is it certain
 * what that was. Where it is not what was looked at before, somebody wrote it in between: it gets
 * its name back, or keeps another.
 */
import { createHash, randomBytes } from "node:crypto";
import {
  chmodSync,
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fstatSync,
  lchownSync,
  mkdirSync,
  openSync,
  readSync,
  rmdirSync,
  symlinkSync,
  unlinkSync,
  writeSync,
} from "node:fs";
import { ConsentError } from "@acp/core";
import { isSameState, lookAt, openFolder, readState, within } from "./review-folder.js";
import type { FileState } from "./review-parts.js";
import type { RenameFolder, Renames } from "./review-renames.js";
import { inSlices, type Sliced } from "./slices.js";

/** Where something is put, and what was there when it was compared. */
export interface PutPlace extends RenameFolder {
  readonly name: string;
  readonly now: FileState | null;
  readonly renames: Renames;
}

/** Where a file's content is. */
export interface PutContent {
  readonly content: number;
  readonly at: number;
}

/** `conflicts`: somebody wrote there meanwhile, and has it as they wrote it. */
export type PutResult = "taken" | "conflicts";

type FileOf<Kind extends FileState["kind"]> = Extract<FileState, { readonly kind: Kind }>;

const CHUNK_BYTES = 1_048_576;

/** Takes away what is there; a folder only where it is empty. */
export async function remove(place: PutPlace): Promise<PutResult> {
  const { folder, name, now, renames } = place;
  if (now === null) return "taken";
  if (now.kind === "folder") {
    rmdirSync(within(folder, name));
    return "taken";
  }
  const beside = temporaryName();
  const said = await renames.take(place, name, beside);
  if (said === "gone" || said === "other") return "conflicts";
  if (said === "done" && isSameState(await stateOf(folder, beside), now)) {
    unlinkSync(within(folder, beside));
    return "taken";
  }
  if ((await renames.give(place, beside, name)) === "done") return "conflicts";
  throw keptAs(beside);
}

/** Makes a folder, open to its owner until {@link setRights}. */
export async function putFolder(place: PutPlace, { mode }: FileOf<"folder">): Promise<PutResult> {
  const { folder, name, now } = place;
  if (now?.kind !== "folder") {
    if ((await remove(place)) === "conflicts") return "conflicts";
    mkdirSync(within(folder, name), { mode: 0o700 });
    giveTo(ownerOf(folder), openFolder(folder, name));
  }
  setRights(folder, name, mode | 0o700);
  return "taken";
}

/** Sets the rights of a folder. */
export function setRights(folder: number, name: string, mode: number): void {
  const fd = openFolder(folder, name);
  if (fd === undefined) throw new Error("it is no longer a folder");
  try {
    const kept = fstatSync(fd).mode & 0o7000;
    chmodSync(`/proc/self/fd/${fd}`, kept | mode);
  } finally {
    closeSync(fd);
  }
}

/** Makes a link, in place of what is there. */
export async function putLink(place: PutPlace, link: FileOf<"link">): Promise<PutResult> {
  const { folder, name, now } = place;
  const beside = temporaryName();
  const { uid, gid } = ownerOf(folder, now === null ? undefined : name);
  symlinkSync(link.target, within(folder, beside));
  if (process.getuid?.() === 0) lchownSync(within(folder, beside), uid, gid);
  return await exchange(place, beside, link);
}

/**
 * Writes a file, in place of what is there.
 *
 * @throws ConsentError `sandbox_failed` where the snapshot does not hold what was shown.
 */
export async function putFile(
  place: PutPlace,
  file: FileOf<"file">,
  content: PutContent,
): Promise<PutResult> {
  const { folder, name, now } = place;
  const beside = temporaryName();
  const path = within(folder, beside);
  const owner = ownerOf(folder, now === null ? undefined : name);
  const fd = openSync(
    path,
    constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW,
    0o600,
  );
  try {
    const from = { from: content.content, at: content.at, size: file.size };
    if ((await inSlices(copy(from, fd))) !== file.sha256) {
      throw new ConsentError(
        "sandbox_failed",
        "Cannot take changes: the snapshot was changed after it was shown; look at the review again",
      );
    }
    if (process.getuid?.() === 0) fchownSync(fd, owner.uid, owner.gid);
    fchmodSync(fd, file.mode);
  } catch (error) {
    unlinkSync(path);
    throw error;
  } finally {
    closeSync(fd);
  }
  return await exchange(place, beside, file);
}

/** Gives a place to what was made beside it. */
async function exchange(place: PutPlace, beside: string, made: FileState): Promise<PutResult> {
  const { folder, name, now, renames } = place;
  const drop = (): void => unlinkSync(within(folder, beside));
  let said: Awaited<ReturnType<Renames["exchange"]>>;
  const isOver = now?.kind === "file" || now?.kind === "link";
  try {
    if (now?.kind === "folder") await remove(place);
    said = await (isOver
      ? renames.exchange(place, name, beside)
      : renames.give(place, beside, name));
  } catch (error) {
    drop();
    throw error;
  }
  if (said === "there" || said === "gone" || said === "other") {
    drop();
    return "conflicts";
  }
  if (!isOver) return "taken";
  if (said === "done" && isSameState(await stateOf(folder, beside), now)) {
    drop();
    return "taken";
  }
  return await putBack(place, beside, made);
}

/** Somebody has written there since it was looked at, or is about to. */
async function putBack(place: PutPlace, beside: string, made: FileState): Promise<PutResult> {
  const { folder, name, renames } = place;
  const said = await renames.exchange(place, name, beside);
  if (said === "gone" && (await renames.give(place, beside, name)) === "done") return "conflicts";
  // What was put for a moment may have been written to already, or be another one by now.
  if (said !== "done" || !isSameState(await stateOf(folder, beside), made)) throw keptAs(beside);
  unlinkSync(within(folder, beside));
  return "conflicts";
}

function keptAs(beside: string): Error {
  return new Error(`somebody else wrote it meanwhile; one version is kept beside it as ${beside}`);
}

/** What is compared was read within a budget when the snapshot was made. */
export function stateOf(folder: number, name: string): Promise<FileState | null> {
  const all = Number.MAX_SAFE_INTEGER;
  return inSlices(readState(folder, name, { budget: { entries: all, bytes: all, text: 0 } }));
}

interface CopyFrom {
  readonly from: number;
  readonly at: number;
  readonly size: number;
}

/** @returns The SHA-256 of what was copied. */
function* copy({ from, at, size }: CopyFrom, to: number): Sliced<string> {
  const hash = createHash("sha256");
  const chunk = Buffer.alloc(Math.min(CHUNK_BYTES, Math.max(size, 1)));
  for (let done = 0; done < size; ) {
    const got = readSync(from, chunk, 0, Math.min(chunk.length, size - done), at + done);
    if (got === 0) break;
    hash.update(chunk.subarray(0, got));
    for (let put = 0; put < got; ) put += writeSync(to, chunk, put, got - put);
    done += got;
    yield;
  }
  return hash.digest("hex");
}

/** A name that an agent in the workspace does not know before. */
function temporaryName(): string {
  return `.acp-take-${randomBytes(12).toString("hex")}`;
}

interface Owner {
  readonly uid: number;
  readonly gid: number;
}

/**
 * Whose something becomes: whose the thing in its place is, or the folder. Only root can give it
 * away.
 */
function ownerOf(folder: number, name?: string): Owner {
  return (name === undefined ? undefined : lookAt(folder, name)) ?? fstatSync(folder);
}

function giveTo({ uid, gid }: Owner, fd: number | undefined): void {
  if (fd === undefined) return;
  try {
    if (process.getuid?.() === 0) fchownSync(fd, uid, gid);
  } finally {
    closeSync(fd);
  }
}
