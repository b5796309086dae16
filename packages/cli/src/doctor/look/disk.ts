/** Examination of the disk: room, inodes, and whether it can be written. */
import { constants } from "node:fs";
import { access, statfs } from "node:fs/promises";
import type { DoctorContext } from "../context.js";
import type { Examination } from "../examination.js";
import { makeFound } from "../finding.js";
import type { Found } from "../finding.js";

/** The disk. */
export const diskExamination: Examination = {
  id: "disk",
  looksAt: "The disk of the home has room and can be written",
  async look({ home: { dir } }: DoctorContext) {
    const isWritable = await access(dir, constants.W_OK).then(
      () => true,
      () => false,
    );
    const { bsize, bavail, blocks, ffree, files } = await statfs(dir);
    return findDisk(dir, { bsize, bavail, blocks, ffree, files, isWritable });
  },
};

/** What the system says of a disk. */
export interface DiskState {
  readonly bsize: number;
  readonly bavail: number;
  readonly blocks: number;
  readonly ffree: number;
  readonly files: number;
  readonly isWritable: boolean;
}

const MIB: number = 1024 * 1024;
/** A log's file is 64 MiB; below, one burst of calls fills the disk. */
const LOW_BYTES: number = 256 * MIB;
const FULL_BYTES: number = 8 * MIB;
const INODES_MIN = 64;

/** What is wrong with a disk. */
export function findDisk(path: string, disk: DiskState): readonly Found[] {
  const found: Found[] = [];
  const free = disk.bavail * disk.bsize;
  const text = `${Math.floor(free / MIB)} MiB are free`;
  if (!disk.isWritable)
    found.push(makeFound("disk_read_only", { path, found: "The home cannot be written" }));
  if (disk.blocks > 0 && free < LOW_BYTES)
    found.push(makeFound(free < FULL_BYTES ? "disk_full" : "disk_low", { path, found: text }));
  // Some file systems count no inodes, and say 0.
  if (disk.files > 0 && disk.ffree < INODES_MIN)
    found.push(makeFound("inodes_low", { path, found: `${disk.ffree} inodes are free` }));
  return found;
}
