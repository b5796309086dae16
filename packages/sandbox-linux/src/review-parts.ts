/**
 * Review parts: what a review is about. Types only.
 */
/** What is at a path. Modes are the nine bits of rights. */
export type FileState =
  | { readonly kind: "file"; readonly mode: number; readonly size: number; readonly sha256: string }
  | { readonly kind: "link"; readonly target: string }
  | { readonly kind: "folder"; readonly mode: number }
  /** Something that no review changes: a device, a pipe, what cannot be read. */
  | { readonly kind: "other" };

/** One path that an agent changed. */
export interface ReviewChange {
  /** Below the workspace, without a slash at either end. */
  readonly path: string;
  /** What is in the workspace; null where there is nothing. */
  readonly before: FileState | null;
  /** What the agent made of it; null where it removed it. */
  readonly after: FileState | null;
  /** Where in the snapshot's content a file begins, in bytes. */
  readonly at: number;
  /**
   * The file or folder, this one or one above, that other programs run by themselves; null where
   * there is none. Taken only by its name.
   */
  readonly apart: string | null;
  /** Whether somebody changed it in the workspace after the agent had started. */
  readonly isChangedHere: boolean;
}

/** What no review takes, and why. */
export interface ReviewRefusal {
  /** Relative to the workspace. */
  readonly path: string;
  /** Such as "a device" or "a link that leads out", in words. */
  readonly reason: string;
}

/** A list of all changes, in the order of their paths. Its digest is that of its text. */
export interface ReviewListing {
  readonly format: 1;
  /** Its real path, and what the kernel calls it: decimal digits. */
  readonly workspace: { readonly path: string; readonly device: string; readonly inode: string };
  /** What is different, sorted by path. */
  readonly changes: readonly ReviewChange[];
  /** What cannot be taken, each with its reason. */
  readonly refused: readonly ReviewRefusal[];
  /** Whether that is everything: there are limits. */
  readonly isComplete: boolean;
}

/** A snapshot that is complete on disk. */
export interface ReviewSnapshot {
  /** Absolute path of the folder that holds list and contents. */
  readonly directory: string;
  /** SHA-256 of the list's text, 64 hexadecimal digits. */
  readonly digest: string;
  /** The list as it was frozen. */
  readonly listing: ReviewListing;
}

/** The most that a snapshot holds. */
export interface SnapshotLimits {
  /** Names that are looked at. */
  readonly entries: number;
  /** Bytes of content. */
  readonly bytes: number;
  /** Bytes of the list of changes: names may be long, and lie deep. */
  readonly text: number;
}
