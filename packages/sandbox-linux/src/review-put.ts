/**
 * Review put: one entry of an open folder, made or taken away. A file is written beside its place,
 * compared with what was shown, and renamed.
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
  renameSync,
  rmdirSync,
  symlinkSync,
  unlinkSync,
  writeSync,
} from "node:fs";
import { ConsentError } from "@acp/core";
import { lookAt, openFolder, within } from "./review-folder.js";
import type { FileState } from "./review-parts.js";

/** Where something is put, and what is there now. */
export interface PutPlace {
  readonly folder: number;
  readonly name: string;
  readonly now: FileState | null;
}

/** Where a file's content is. */
export interface PutContent {
  readonly content: number;
  readonly at: number;
}

type FileOf<Kind extends FileState["kind"]> = Extract<FileState, { readonly kind: Kind }>;

const CHUNK_BYTES = 1_048_576;

/** Takes away what is there; a folder only where it is empty. */
export function remove({ folder, name, now }: Pick<PutPlace, "folder" | "name" | "now">): void {
  if (now === null) return;
  if (now.kind === "folder") rmdirSync(within(folder, name));
  else unlinkSync(within(folder, name));
}

/** Makes a folder, open to its owner until {@link setRights}. */
export function putFolder(place: PutPlace, { mode }: FileOf<"folder">): void {
  const { folder, name, now } = place;
  if (now?.kind !== "folder") {
    remove(place);
    mkdirSync(within(folder, name), { mode: 0o700 });
    giveTo(ownerOf(folder), openFolder(folder, name));
  }
  setRights(folder, name, mode | 0o700);
}

/** Sets the rights of a folder. */
export function setRights(folder: number, name: string, mode: number): void {
  const fd = openFolder(folder, name);
  if (fd === undefined) throw new Error("it is no folder any more");
  try {
    const kept = fstatSync(fd).mode & 0o7000;
    chmodSync(`/proc/self/fd/${fd}`, kept | mode);
  } finally {
    closeSync(fd);
  }
}

/** Makes a link, in place of what is there. */
export function putLink(place: PutPlace, { target }: FileOf<"link">): void {
  const { folder, name, now } = place;
  const beside = within(folder, temporaryName());
  const { uid, gid } = ownerOf(folder, now === null ? undefined : name);
  symlinkSync(target, beside);
  try {
    if (process.getuid?.() === 0) lchownSync(beside, uid, gid);
    if (now?.kind === "folder") remove(place);
    renameSync(beside, within(folder, name));
  } catch (error) {
    unlinkSync(beside);
    throw error;
  }
}

/**
 * Writes a file, in place of what is there.
 *
 * @throws ConsentError `sandbox_failed` where the snapshot does not hold what was shown.
 */
export function putFile(
  place: PutPlace,
  { mode, size, sha256 }: FileOf<"file">,
  { content, at }: PutContent,
): void {
  const { folder, name, now } = place;
  const beside = within(folder, temporaryName());
  const owner = ownerOf(folder, now === null ? undefined : name);
  const fd = openSync(
    beside,
    constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW,
    0o600,
  );
  try {
    if (copy({ from: content, at, size }, fd) !== sha256) {
      throw new ConsentError(
        "sandbox_failed",
        "Cannot take changes: the snapshot was changed after it was shown; look at the review again",
      );
    }
    if (process.getuid?.() === 0) fchownSync(fd, owner.uid, owner.gid);
    fchmodSync(fd, mode);
    if (now?.kind === "folder") remove(place);
    renameSync(beside, within(folder, name));
  } catch (error) {
    unlinkSync(beside);
    throw error;
  } finally {
    closeSync(fd);
  }
}

interface CopyFrom {
  readonly from: number;
  readonly at: number;
  readonly size: number;
}

/** @returns The SHA-256 of what was copied. */
function copy({ from, at, size }: CopyFrom, to: number): string {
  const hash = createHash("sha256");
  const chunk = Buffer.alloc(Math.min(CHUNK_BYTES, Math.max(size, 1)));
  for (let done = 0; done < size; ) {
    const got = readSync(from, chunk, 0, Math.min(chunk.length, size - done), at + done);
    if (got === 0) break;
    hash.update(chunk.subarray(0, got));
    for (let put = 0; put < got; ) put += writeSync(to, chunk, put, got - put);
    done += got;
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
