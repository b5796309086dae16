/**
 * Commands that coding agents really ran (spec/exec-trajectories.md): the two halves of the set,
 * and how often an engine asks.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import {
  COMMAND_RISKS,
  type CommandRisk,
  type CommandSafety,
  type SafetyOptions,
} from "../src/index.js";

/**
 * What a line does to the state of anything but its own shell; `code`: it runs code that the text
 * does not show.
 */
export type Changes = "no" | "yes" | "code";

export interface TrajectoryLine {
  readonly command: string;
  readonly session: string;
  readonly agent: string;
  readonly accept: readonly CommandRisk[];
  readonly changes: Changes;
  /** Where it ran, as far as the session tells. */
  readonly options: SafetyOptions;
}

interface Session {
  readonly agent: string;
  readonly projectRoot: string | undefined;
}

const vectors: string = fileURLToPath(new URL("../../../spec/vectors", import.meta.url));

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null;
const isLevel = (value: unknown): value is CommandRisk =>
  COMMAND_RISKS.some((risk) => risk === value);
const isChanges = (value: unknown): value is Changes =>
  value === "no" || value === "yes" || value === "code";
const isTextOrAbsent = (value: unknown): value is string | undefined =>
  value === undefined || typeof value === "string";

function readRecords(path: string): readonly Record<string, unknown>[] {
  return readFileSync(path, "utf8")
    .trimEnd()
    .split("\n")
    .map((text, index) => {
      const record: unknown = JSON.parse(text);
      if (isRecord(record)) return record;
      throw new Error(`Line ${index + 1} of "${path}" is not an object`);
    });
}

/**
 * The sessions of both halves by their identifiers; throws where one is of a repository without a
 * commit and a license.
 */
function readSessions(): ReadonlyMap<string, Session> {
  const known = new Set<unknown>();
  const found = new Map<string, Session>();
  for (const { repository, commit, license, session, path, agent, projectRoot } of readRecords(
    join(vectors, "exec-trajectories-sources.jsonl"),
  )) {
    if (session === undefined) {
      if (!/^[0-9a-f]{40}$/.test(String(commit)) || typeof license !== "string")
        throw new Error(`No commit or license of "${String(repository)}"`);
      known.add(repository);
    } else if (
      typeof session === "string" &&
      typeof agent === "string" &&
      typeof path === "string" &&
      isTextOrAbsent(projectRoot) &&
      known.has(repository)
    ) {
      found.set(session, { agent, projectRoot });
    } else {
      throw new Error(`Not a session: "${String(session)}"`);
    }
  }
  return found;
}

const sessions: ReadonlyMap<string, Session> = readSessions();

function readLine(line: Record<string, unknown>, number: number): TrajectoryLine {
  const { command, session, cwd, expect, accept, changes, why, technique } = line;
  const source = typeof session === "string" ? sessions.get(session) : undefined;
  if (
    typeof command !== "string" ||
    typeof session !== "string" ||
    source === undefined ||
    !isTextOrAbsent(cwd) ||
    !Array.isArray(accept) ||
    !accept.every(isLevel) ||
    !isLevel(expect) ||
    !accept.includes(expect) ||
    !isChanges(changes) ||
    typeof why !== "string" ||
    typeof technique !== "string"
  ) {
    throw new Error(`Line ${number}: a field is missing or has a value of its own`);
  }
  const { agent, projectRoot } = source;
  const place = cwd ?? projectRoot;
  return {
    command,
    session,
    agent,
    accept,
    changes,
    options: {
      ...(projectRoot === undefined ? {} : { projectRoot }),
      ...(place === undefined ? {} : { cwd: place }),
    },
  };
}

/** One half of the set, or `undefined` where its file is not here. */
export function half(name: "tuning" | "held-out"): readonly TrajectoryLine[] | undefined {
  const path =
    name === "tuning"
      ? join(vectors, "exec-trajectories.jsonl")
      : (process.env["ACP_HELD_OUT"] ?? join(vectors, "exec-trajectories-held-out.jsonl"));
  if (!existsSync(path)) return undefined;
  return readRecords(path).map((line, index) => readLine(line, index + 1));
}

/** What is counted (spec/exec-trajectories.md §4). */
export interface AskedFigures {
  readonly lines: number;
  /**
   * Shares of the lines that are asked about: of all, of those that only read, of those that may be
   * safe.
   */
  readonly asked: number;
  readonly askedReading: number;
  readonly askedNeedlessly: number;
  /** Lines that change state and are called safe. */
  readonly changesApproved: readonly string[];
  /** Lines that run code or read what only a person may allow, and are called safe. */
  readonly approvedWrongly: readonly string[];
  /** Lines that are called dangerous and do not accept it. */
  readonly calledDangerous: readonly string[];
  /** Lines that are asked about and have no reason. */
  readonly withoutReason: number;
}

export function figuresOf(
  lines: readonly TrajectoryLine[],
  evaluate: (command: string, options: SafetyOptions) => CommandSafety,
): AskedFigures {
  const judged = lines.map((line) => ({ ...line, safety: evaluate(line.command, line.options) }));
  type Judged = (typeof judged)[number];
  const isAsked = ({ safety }: Judged): boolean => safety.riskLevel !== "safe";
  const share = (among: readonly Judged[]): number =>
    among.length === 0 ? Number.NaN : among.filter(isAsked).length / among.length;
  const texts = (hit: (each: Judged) => boolean): readonly string[] =>
    judged.filter(hit).map(({ command }) => JSON.stringify(command));
  const isApproved = (each: Judged): boolean => !isAsked(each) && !each.accept.includes("safe");
  return {
    lines: judged.length,
    asked: share(judged),
    askedReading: share(judged.filter(({ changes }) => changes === "no")),
    askedNeedlessly: share(judged.filter(({ accept }) => accept.includes("safe"))),
    changesApproved: texts((each) => isApproved(each) && each.changes === "yes"),
    approvedWrongly: texts((each) => isApproved(each) && each.changes !== "yes"),
    calledDangerous: texts(
      ({ accept, safety }) => safety.riskLevel === "dangerous" && !accept.includes("dangerous"),
    ),
    withoutReason: judged.filter((each) => isAsked(each) && each.safety.reasons.length === 0)
      .length,
  };
}
