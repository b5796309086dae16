/**
 * Told changes: whether the system says of a file that it changed. Where that is not sure, the file
 * has to be looked at again and again.
 */
import { realpath, statfs } from "node:fs/promises";
import { basename, dirname, join } from "node:path";

/**
 * Kinds of file systems on disks and in memory of this machine, as `statfs(2)` numbers them: ext,
 * XFS, Btrfs, F2FS, ZFS, tmpfs, the layers of a container, and APFS. On all others somebody else may
 * write, of which this machine does not know.
 */
const OWN_KINDS: ReadonlySet<number> = new Set([
  0xef_53, 0x58_46_53_42, 0x91_23_68_3e, 0xf2_f5_20_10, 0x2f_c1_2f_c1, 0x01_02_19_94, 0x79_4c_76_30,
  0x1a,
]);

/** True only where the file itself lies in its directory, on a file system of this machine. */
export async function tellsChanges(path: string): Promise<boolean> {
  try {
    const directory = await realpath(dirname(path));
    // A link names a file of another directory, and nobody says when that changes.
    if ((await realpath(path)) !== join(directory, basename(path))) return false;
    return OWN_KINDS.has((await statfs(directory)).type);
  } catch {
    return false;
  }
}
