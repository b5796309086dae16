/**
 * Config, audit: a home's logs: how large a file gets, which files are kept, and who keeps signed
 * checkpoints. Format: spec/home.md §2.
 */
import { type Spot, invalid, readList, readMap, readNumber, readOneOf } from "@acp/core/yaml";
import { ifGiven, readPath, readUrl } from "./config-values.js";
import type { PathOrigins } from "./paths.js";

/** A place outside of the home that keeps signed checkpoints. */
export type WitnessConfig =
  /** A directory, absolute: a file in it for each log. */
  | { readonly directory: string }
  /** A URL that takes each checkpoint by POST. */
  | { readonly url: string };

/** Settings of the audit logs. Every absent setting has its default (spec/home.md §2). */
export interface AuditConfig {
  /** `v0.2` writes the hash-chained log. `v0.3` also writes plain entries of ACP v0.3 beside it. */
  readonly format: "v0.2" | "v0.3";
  /** A file is full before it would get larger than this, in bytes. */
  readonly rotateBytes?: number;
  /** A file is full when its first event is older than this, in milliseconds. */
  readonly rotateMs?: number;
  /** How many full files are kept. Absent: all of them. */
  readonly keepFiles?: number;
  /** Number of events after which a checkpoint is signed. */
  readonly checkpointEvents?: number;
  /** Milliseconds that an event may wait before a checkpoint is signed. */
  readonly checkpointMs?: number;
  /** Where copies of the checkpoints go; at most 16. */
  readonly witnesses: readonly WitnessConfig[];
}

/** The settings if the file has no `audit` section. */
export const DEFAULT_AUDIT_CONFIG: AuditConfig = { format: "v0.2", witnesses: [] };

const KEYS = [
  "format",
  "rotate_megabytes",
  "rotate_days",
  "keep_files",
  "checkpoint_events",
  "checkpoint_seconds",
  "witnesses",
] as const;
const WITNESSES_MAX = 16;
const MEGABYTE = 1024 * 1024;
const DAY_MS = 86_400_000;
const SECOND_MS = 1_000;

/** The section `audit`. */
export function readAudit(spot: Spot, origins: PathOrigins): AuditConfig {
  const entries = readMap(spot, KEYS);
  const whole = (key: (typeof KEYS)[number], max: number): number | undefined =>
    ifGiven(entries.get(key), (each) => readNumber(each, { min: 1, max, whole: true }));
  const rotateMegabytes = whole("rotate_megabytes", 1_048_576);
  const rotateDays = whole("rotate_days", 36_500);
  const keepFiles = whole("keep_files", 1_000_000);
  const checkpointEvents = whole("checkpoint_events", 1_000_000);
  const checkpointSeconds = whole("checkpoint_seconds", 86_400);
  return {
    format: ifGiven(entries.get("format"), (each) => readOneOf(each, ["v0.2", "v0.3"])) ?? "v0.2",
    ...(rotateMegabytes === undefined ? {} : { rotateBytes: rotateMegabytes * MEGABYTE }),
    ...(rotateDays === undefined ? {} : { rotateMs: rotateDays * DAY_MS }),
    ...(keepFiles === undefined ? {} : { keepFiles }),
    ...(checkpointEvents === undefined ? {} : { checkpointEvents }),
    ...(checkpointSeconds === undefined ? {} : { checkpointMs: checkpointSeconds * SECOND_MS }),
    witnesses: ifGiven(entries.get("witnesses"), (each) => readWitnesses(each, origins)) ?? [],
  };
}

/** The same one twice would write each checkpoint twice into one file. */
function readWitnesses(spot: Spot, origins: PathOrigins): readonly WitnessConfig[] {
  const known = new Set<string>();
  const each = readList(spot);
  if (each.length > WITNESSES_MAX)
    throw invalid(spot, `there are more than ${WITNESSES_MAX} witnesses`);
  return each.map((entry) => {
    const witness = readWitness(entry, origins);
    const key = JSON.stringify(witness);
    if (known.has(key)) throw invalid(entry, "another witness is the same");
    known.add(key);
    return witness;
  });
}

function readWitness(spot: Spot, origins: PathOrigins): WitnessConfig {
  const entries = readMap(spot, ["directory", "url"]);
  const directory = entries.get("directory");
  const url = entries.get("url");
  if (directory !== undefined && url === undefined)
    return { directory: readPath(directory, origins) };
  if (url !== undefined && directory === undefined) return { url: readUrl(url) };
  throw invalid(spot, 'it needs either "directory" or "url"');
}
