/**
 * Run frames: what the client of `acp run` tells the resident that has its gate. It is the client's
 * word, as all that it says of itself, and read strictly. Format: spec/resident.md §4.
 */
import type { SandboxItem, SandboxReport } from "@acp/core";
import { LINUX_SANDBOXES } from "@acp/sandbox-linux";
import type { NamedView, Workspace } from "@acp/sandbox-linux";
import { isRecord, recordIn } from "./wire.js";

/** An agent that the client holds. Its command line, directory and variables are the hello's. */
export interface HeldRun {
  /** What is enforced for it. */
  readonly report: SandboxReport;
  /** Where it works: the real path, and what it may do there. */
  readonly workspace?: Pick<Workspace, "path" | "access" | "writable">;
  /** What it sees of its workspace, where that is an overlay. */
  readonly view?: NamedView;
  /** What stays invisible to everything in a sandbox. */
  readonly hidden: readonly string[];
  /** What runs outside, which nothing in a sandbox may change. */
  readonly programs: readonly string[];
  /** Whether it draws on the client's terminal. */
  readonly isQuiet: boolean;
  /** Whether its command has begun or ended already, under another resident. */
  readonly state: RunState;
}

/** Something that the client has to say, for the log. */
export interface RunNote {
  /** The client's number for it. */
  readonly n: number;
  readonly code: NoteCode;
  readonly text: string;
}

const STATES = ["held", "begun", "ended"] as const;
/** How far a command is. */
export type RunState = (typeof STATES)[number];

const NOTE_CODES = ["left_behind", "held_replaced", "host_ports", "review"] as const;
/** What a client may note. */
export type NoteCode = (typeof NOTE_CODES)[number];

/** Bytes of the text of a note. */
export const NOTE_BYTES_MAX = 65_536;
const PATHS_MAX = 4_096;
const TEXT_MAX = 8_192;
const ITEMS_MAX = 64;

const LEVELS: readonly SandboxReport["level"][] = ["full", "uid", "partial", "advisory", "none"];
const ENFORCEMENTS: readonly SandboxItem["enforcement"][] = ["enforced", "partial", "none"];
const ASPECTS: readonly SandboxItem["aspect"][] = [
  "tcp",
  "udp",
  "icmp",
  "raw",
  "ipv6",
  "dns",
  "path_sockets",
  "abstract_sockets",
  "vsock",
  "io_uring",
  "child_processes",
  "static_binaries",
  "files",
  "signals",
  "resource_caps",
];

/** The body of a frame `run`. */
export function runBody({ report, workspace, view, ...run }: HeldRun): string {
  return JSON.stringify({
    report,
    ...(workspace !== undefined && { workspace }),
    ...(view !== undefined && { view }),
    hidden: run.hidden,
    programs: run.programs,
    is_quiet: run.isQuiet,
    state: run.state,
  });
}

/** Reads the body of a frame `run`; `undefined` for what is none. */
export function readRun(body: Buffer): HeldRun | undefined {
  const said = recordIn(body) ?? {};
  const { hidden, programs, is_quiet: isQuiet } = said;
  const state = STATES.find((each) => each === said["state"]);
  const report = reportIn(said["report"]);
  const workspace = said["workspace"] === undefined ? {} : workspaceIn(said["workspace"]);
  const view = said["view"] === undefined ? {} : viewIn(said["view"]);
  if (
    report === undefined ||
    workspace === undefined ||
    view === undefined ||
    !arePaths(hidden) ||
    !arePaths(programs) ||
    typeof isQuiet !== "boolean" ||
    state === undefined
  )
    return undefined;
  return { report, ...workspace, ...view, hidden, programs, isQuiet, state };
}

/** Reads the body of a frame `note`; `undefined` for what is none. */
export function readNote(body: Buffer): RunNote | undefined {
  const { n, code, text } = recordIn(body) ?? {};
  const known = NOTE_CODES.find((each) => each === code);
  const isNote =
    typeof n === "number" &&
    Number.isSafeInteger(n) &&
    n > 0 &&
    typeof text === "string" &&
    Buffer.byteLength(text) <= NOTE_BYTES_MAX;
  return isNote && known !== undefined ? { n, code: known, text } : undefined;
}

function reportIn(value: unknown): SandboxReport | undefined {
  if (!isRecord(value)) return undefined;
  const { reason, fix, items, isAvailable } = value;
  const sandbox = LINUX_SANDBOXES.find((each) => each === value["sandbox"]);
  const level = LEVELS.find((each) => each === value["level"]);
  const dns = (["closed", "open"] as const).find((each) => each === value["dns"]);
  if (
    sandbox === undefined ||
    level === undefined ||
    dns === undefined ||
    typeof isAvailable !== "boolean" ||
    !isText(reason) ||
    !(fix === undefined || isText(fix)) ||
    !Array.isArray(items) ||
    items.length > ITEMS_MAX
  )
    return undefined;
  const read = items.flatMap((each: unknown) => itemIn(each) ?? []);
  if (read.length !== items.length) return undefined;
  const said = { sandbox, isAvailable, level, reason, dns, items: read };
  return fix === undefined ? said : { ...said, fix };
}

function itemIn(value: unknown): SandboxItem | undefined {
  if (!isRecord(value)) return undefined;
  const { reason, fix } = value;
  const aspect = ASPECTS.find((each) => each === value["aspect"]);
  const enforcement = ENFORCEMENTS.find((each) => each === value["enforcement"]);
  if (aspect === undefined || enforcement === undefined || !isText(reason)) return undefined;
  if (fix === undefined) return { aspect, enforcement, reason };
  return isText(fix) ? { aspect, enforcement, reason, fix } : undefined;
}

function workspaceIn(value: unknown): Pick<HeldRun, "workspace"> | undefined {
  if (!isRecord(value)) return undefined;
  const { path, writable } = value;
  const access = (["read-only", "read-write", "overlay"] as const).find(
    (each) => each === value["access"],
  );
  if (!isPath(path) || access === undefined) return undefined;
  if (writable === undefined) return { workspace: { path, access } };
  return arePaths(writable) ? { workspace: { path, access, writable } } : undefined;
}

function viewIn(value: unknown): Pick<HeldRun, "view"> | undefined {
  if (!isRecord(value)) return undefined;
  const { workspace, process, device, inode } = value;
  const isView = isPath(workspace) && isText(process) && isDigits(device) && isDigits(inode);
  return isView ? { view: { workspace, process, device, inode } } : undefined;
}

const isText = (value: unknown): value is string =>
  typeof value === "string" && value.length <= TEXT_MAX;
const isPath = (value: unknown): value is string => isText(value) && value.startsWith("/");
const arePaths = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.length <= PATHS_MAX && value.every(isPath);
const isDigits = (value: unknown): value is string =>
  typeof value === "string" && /^\d{1,20}$/u.test(value);
