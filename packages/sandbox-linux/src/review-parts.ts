/**
 * Review parts: what a review is about. Types only.
 */
/** What is at a path. Modes are the nine permission bits. */
export type FileState =
  | { readonly kind: "file"; readonly mode: number; readonly size: number; readonly sha256: string }
  | { readonly kind: "link"; readonly target: string }
  | { readonly kind: "folder"; readonly mode: number }
  /** Something that no review changes: a device, a pipe, what cannot be read. */
  | { readonly kind: "other" };

/** A path that an agent changed. */
export interface ReviewChange {
  /** Below the workspace, without a slash at either end. */
  readonly path: string;
  /** What is in the workspace; null where there is nothing. */
  readonly before: FileState | null;
  /** What the agent made of it; null where it removed it. */
  readonly after: FileState | null;
  /** Where the file's content begins in the snapshot, in bytes. */
  readonly at: number;
  /**
   * This path, or the folder above it, that other programs run by themselves: it is taken only if
   * it is named. Null where there is none.
   */
  readonly apart: string | null;
  /** True if somebody changed it in the workspace after the agent had started. */
  readonly isChangedHere: boolean;
}

/** A path that no review takes, and why. */
export interface ReviewRefusal {
  /** Path below the workspace. */
  readonly path: string;
  /** Such as "a device" or "a link that leads out", in words. */
  readonly reason: string;
}

/** A snapshot's list of changes. Its digest is that of its text. */
export interface ReviewListing {
  readonly format: 1;
  /** The workspace's real path, and its device and inode as decimal digits. */
  readonly workspace: { readonly path: string; readonly device: string; readonly inode: string };
  /** Every path that differs, sorted. */
  readonly changes: readonly ReviewChange[];
  /** What cannot be taken, each with its reason. */
  readonly refused: readonly ReviewRefusal[];
  /** True if that is everything; false where a limit was reached. */
  readonly isComplete: boolean;
}

/** A snapshot that is complete on disk. */
export interface ReviewSnapshot {
  /** Absolute path of the folder that has the list and the contents. */
  readonly directory: string;
  /** SHA-256 of the list's text, 64 hexadecimal digits. */
  readonly digest: string;
  /** The list of changes. */
  readonly listing: ReviewListing;
}

/** How much of a workspace a snapshot can hold; a larger one is incomplete, and says so. */
export interface SnapshotLimits {
  /** Number of files and folders that are looked at. */
  readonly entries: number;
  /** Bytes of content. */
  readonly bytes: number;
  /** Bytes of the list of changes, because names can be long and deeply nested. */
  readonly text: number;
}
