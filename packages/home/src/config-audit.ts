/**
 * Config, audit: a home's logs: how large a file gets, which files are kept, and who keeps signed
 * checkpoints. Format: spec/home.md §2.
 */
import { invalid } from "@acp/core/yaml";
import {
  below,
  exactlyOne,
  list,
  number,
  optional,
  refined,
  section,
  type Shape,
  word,
} from "@acp/core/unstable";
import { pathShape, url } from "./config-values.js";
import type { PathOrigins } from "./paths.js";

/** A place outside of the home that keeps signed checkpoints. */
export type WitnessConfig =
  /** A directory, absolute: a file in it for each log. */
  | { readonly directory: string }
  /** A URL that receives each checkpoint by POST. */
  | { readonly url: string };

/** Settings of the audit logs. Every absent setting has its default (spec/home.md §2). */
export interface AuditConfig {
  /** `v0.2` writes the hash-chained log. `v0.3` also writes plain entries of ACP v0.3 beside it. */
  readonly format: "v0.2" | "v0.3";
  /** A file is full before it would get larger than this, in bytes. */
  readonly rotateBytes?: number;
  /** A file is full when its first event is older than this, in milliseconds. */
  readonly rotateMs?: number;
  /** How many full files are kept. Absent: as many as the two below leave. */
  readonly keepFiles?: number;
  /** How long a full file is kept after its last event, in milliseconds. */
  readonly keepMs?: number;
  /** How large all logs of the home together get before the oldest full files go, in bytes. */
  readonly keepBytes?: number;
  /** Number of events after which a checkpoint is signed. */
  readonly checkpointEvents?: number;
  /** Milliseconds that an event may wait before a checkpoint is signed. */
  readonly checkpointMs?: number;
  /** Where copies of the checkpoints go; at most 16. */
  readonly witnesses: readonly WitnessConfig[];
}

/** The settings if the file has no `audit` section. */
export const DEFAULT_AUDIT_CONFIG: AuditConfig = { format: "v0.2", witnesses: [] };

const WITNESSES_MAX = 16;
const MEGABYTE = 1024 * 1024;
const DAY_MS = 86_400_000;
const SECOND_MS = 1_000;

/** A whole number from 1 to `max`, in units of `unit`. */
function count(max: number, unit: number = 1): Shape<number> {
  return refined(number({ min: 1, max, whole: true }), (value) => value * unit);
}

const witness: Shape<WitnessConfig, PathOrigins> = refined(
  section(
    {
      directory: optional("directory", pathShape, "A directory in which each log gets a file."),
      url: optional("url", url, "A URL that receives each checkpoint by POST."),
    },
    [exactlyOne("directory", "url")],
  ),
  ({ directory, url: address }, spot) => {
    if (directory !== undefined) return { directory };
    if (address !== undefined) return { url: address };
    throw invalid(spot, 'it needs either "directory" or "url"');
  },
);

/** The same one twice would write each checkpoint twice into one file. */
const witnesses: Shape<readonly WitnessConfig[], PathOrigins> = refined(
  list(witness, {
    max: WITNESSES_MAX,
    problem: `there are more than ${WITNESSES_MAX} witnesses`,
  }),
  (each, spot) => {
    const known = new Set<string>();
    for (const [at, one] of each.entries()) {
      const key = JSON.stringify(one);
      if (known.has(key)) throw invalid(below(spot, at), "another witness is the same");
      known.add(key);
    }
    return each;
  },
);

/** The section `audit`. */
export const audit: Shape<AuditConfig, PathOrigins> = refined(
  section({
    format: optional(
      "format",
      word(["v0.2", "v0.3"]),
      "v0.2 writes the hash-chained log; v0.3 also writes plain entries beside it. Default: v0.2.",
    ),
    rotateBytes: optional(
      "rotate_megabytes",
      count(1_048_576, MEGABYTE),
      "Largest size of a log file in MiB, before a new one starts. Default: 64.",
    ),
    rotateMs: optional(
      "rotate_days",
      count(36_500, DAY_MS),
      "Greatest age of a log file's first event in days, before a new file starts. Default: a third of keep_days, where that is in force.",
    ),
    keepFiles: optional(
      "keep_files",
      count(1_000_000),
      "How many full files of a log to keep. Default: what keep_days and keep_megabytes leave.",
    ),
    keepMs: optional(
      "keep_days",
      count(36_500, DAY_MS),
      "How many days a full file is kept after its last event. Default: 90, without keep_files.",
    ),
    keepBytes: optional(
      "keep_megabytes",
      count(1_073_741_824, MEGABYTE),
      "Largest size of all logs together in MiB, before the oldest full files are removed. Default: 2048, without keep_files.",
    ),
    checkpointEvents: optional(
      "checkpoint_events",
      count(1_000_000),
      "Number of events after which a checkpoint is signed. Default: 1000.",
    ),
    checkpointMs: optional(
      "checkpoint_seconds",
      count(86_400, SECOND_MS),
      "Longest time in seconds until a signed checkpoint covers an event. Default: 60.",
    ),
    witnesses: optional(
      "witnesses",
      witnesses,
      "Where copies of the checkpoints go. Default: none.",
    ),
  }),
  (given) => ({ ...DEFAULT_AUDIT_CONFIG, ...given }),
);
