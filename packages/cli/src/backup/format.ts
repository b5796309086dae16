/**
 * Backup format: the header of a backup file and the records inside it, as data. Pure. Format:
 * spec/backup.md. Vectors: spec/vectors/backup.json.
 */
import { createHash, hkdfSync } from "node:crypto";
import { canonicalJson, ConsentError, isJsonObject, parseJson, quoteText } from "@acp/core";
import type { Unlock } from "@acp/home";

/** First line of every backup that this version writes. */
export const MAGIC = "acp-backup/1";
/** The form of a home that this version knows: what spec/home.md describes. */
export const HOME_FORMAT = 1;
/** Bytes of plain text that are sealed at a time. */
export const CHUNK_BYTES = 65_536;
/** Longest header and longest record, with its line break. */
export const LINE_BYTES_MAX = 8_192;
/** Most files and folders of a backup. */
export const ENTRIES_MAX = 200_000;
const SALT_BYTES = 32;
const KEY_INFO = "acp/backup/v1";
const PATH_BYTES_MAX = 1_024;
const SEGMENT_BYTES_MAX = 255;

/** What opens a backup, as its header says it. */
export interface BackupHeader {
  readonly kind: Unlock["kind"];
  readonly salt: Uint8Array;
}

const HEADS = {
  passphrase: { kdf: "scrypt", n: 131_072, p: 1, r: 8 },
  "key-file": { kdf: "key-file" },
} as const satisfies Record<Unlock["kind"], object>;

/** The two lines before the sealed part. */
export function printHeader({ kind, salt }: BackupHeader): string {
  const fields = { encryption: "aes-256-gcm", ...HEADS[kind], salt: toHex(salt) };
  return `${MAGIC}\n${JSON.stringify(fields)}\n`;
}

/**
 * Reads the header at the beginning of a file: only what {@link printHeader} writes, byte for byte.
 *
 * @throws ConsentError `home_invalid`.
 */
export function parseHeader(start: string): BackupHeader & { readonly bytes: number } {
  const [magic = "", fields = ""] = start.split("\n", 2);
  if (magic !== MAGIC)
    throw broken(
      /^acp-backup\/\d+$/.test(magic)
        ? `it has the format ${magic}, which this version does not know; update acp`
        : "it is not a backup of acp",
    );
  const salt = /"salt":"([0-9a-f]{64})"\}$/.exec(fields)?.[1];
  const kinds = ["passphrase", "key-file"] as const;
  for (const kind of salt === undefined ? [] : kinds) {
    const header = { kind, salt: Buffer.from(salt ?? "", "hex") };
    const text = printHeader(header);
    if (text === `${magic}\n${fields}\n`) return { ...header, bytes: Buffer.byteLength(text) };
  }
  throw broken("its header is not one that acp writes");
}

/** The key of the sealed part. Every byte of the header goes into it. */
export function payloadKey(unlockKey: Uint8Array, header: BackupHeader): Uint8Array {
  const salt = createHash("sha256").update(printHeader(header)).digest();
  return new Uint8Array(hkdfSync("sha256", unlockKey, salt, KEY_INFO, SALT_BYTES));
}

/** One record inside a backup: plain JSON data. Format: spec/backup.md §3. */
export type BackupRecord =
  /** First. */
  | {
      readonly kind: "home";
      readonly acp: string;
      readonly created_at_ms: number;
      readonly has_logs: boolean;
      /** Absolute path of the home. */
      readonly home: string;
      readonly home_format: number;
    }
  | { readonly kind: "directory"; readonly path: string }
  /** Its bytes follow, and then their sum. */
  | {
      readonly kind: "file";
      readonly bytes: number;
      readonly modified_at_ms: number;
      readonly path: string;
    }
  | { readonly kind: "sum"; readonly sha256: string }
  /** Last. */
  | { readonly kind: "end"; readonly entries: number };

type FieldKind = "count" | "flag" | "text" | "sha256";

/** The fields of each record besides its kind; it has no others. */
const FIELDS: Readonly<Record<BackupRecord["kind"], Readonly<Record<string, FieldKind>>>> = {
  home: {
    acp: "text",
    created_at_ms: "count",
    has_logs: "flag",
    home: "text",
    home_format: "count",
  },
  directory: { path: "text" },
  file: { bytes: "count", modified_at_ms: "count", path: "text" },
  sum: { sha256: "sha256" },
  end: { entries: "count" },
};

const IS: Readonly<Record<FieldKind, (value: unknown) => boolean>> = {
  count: (value) => Number.isSafeInteger(value) && Number(value) >= 0,
  flag: (value) => typeof value === "boolean",
  text: (value) => typeof value === "string",
  sha256: (value) => typeof value === "string" && /^[0-9a-f]{64}$/.test(value),
};

/** One line. */
export function printRecord(record: BackupRecord): string {
  return `${canonicalJson({ ...record })}\n`;
}

/**
 * Reads one line, without its line break.
 *
 * @throws ConsentError `home_invalid`.
 */
export function parseRecord(line: Uint8Array): BackupRecord {
  const value = jsonOf(line);
  // The one way to write it: what a reader would pass over is not in there.
  if (!isRecord(value) || printRecord(value) !== `${Buffer.from(line).toString("utf8")}\n`)
    throw broken("it has a record that this version does not know");
  return value;
}

function jsonOf(line: Uint8Array): unknown {
  try {
    return parseJson(line);
  } catch {
    return undefined;
  }
}

function isRecord(value: unknown): value is BackupRecord {
  if (!isJsonObject(value)) return false;
  const { kind, ...rest } = value;
  const fields = Object.entries(FIELDS).find(([name]) => name === kind)?.[1];
  return (
    fields !== undefined &&
    Object.keys(rest).length === Object.keys(fields).length &&
    Object.entries(fields).every(([name, field]) => IS[field](rest[name]))
  );
}

/**
 * Whether a path stays inside the home wherever it is written: relative, of plain names, and none
 * of the places that belong to running processes.
 */
export function isSafePath(path: string): boolean {
  const segments = path.split("/");
  return (
    Buffer.byteLength(path) <= PATH_BYTES_MAX &&
    !path.includes("\ufffd") &&
    segments.every(isSafeName) &&
    !isLeftOut(path)
  );
}

function isSafeName(name: string): boolean {
  return (
    name !== "" &&
    name !== "." &&
    name !== ".." &&
    Buffer.byteLength(name) <= SEGMENT_BYTES_MAX &&
    !/[\u0000-\u001f\u007f\\]/u.test(name)
  );
}

/** What file systems that ignore case or the form of accents take for the same name. */
export function sameName(path: string): string {
  return path.normalize("NFC").toLowerCase().normalize("NFC");
}

/**
 * What no backup holds: sockets and locks of running processes, open questions (a kept answer must
 * not count twice), caches, what agents and servers keep for themselves, and unfinished files.
 */
const LEFT_OUT: readonly RegExp[] = [
  /^(?:run|pending|homes|reviews)(?:\/|$)/,
  /^servers\/[^/]+\/home(?:\/|$)/,
  /^servers\/[^/]+\/packages\/(?:tree-|new-)/,
  /^[^/]+\.jsonl\.(?:index|lookup)(?:\.new)?$/,
  /^mcp-tokens$/,
  /(?:^|\/)\.[^/]*\.tmp$/,
  /(?:^|\/)[^/]*\.lock\.[^/]*$/,
];

/** Whether a path of a home is in no backup. */
export function isLeftOut(path: string): boolean {
  const same = sameName(path);
  return LEFT_OUT.some((pattern) => pattern.test(same));
}

const LOGS =
  /^audit(?:\.\d{1,4})?(?:\.v0\.3)?\.jsonl(?:\.\d+|\.checkpoints|\.seams|\.fault)?$|^quarantined(?:\/|$)/;

/** Whether a path is an audit log or belongs to one. */
export function isLogFile(path: string): boolean {
  return LOGS.test(path);
}

/** What is wrong with a backup, without its name: whoever knows the name adds it. */
export function broken(why: string): ConsentError {
  return new ConsentError("home_invalid", `Cannot read the backup: ${why}`);
}

/** A path in a message. */
export const named = (path: string): string => quoteText(path);

const toHex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");
