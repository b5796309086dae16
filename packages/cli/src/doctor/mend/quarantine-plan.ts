/**
 * Quarantine plan: what is set aside of a broken log, written down before anything is moved, so that
 * whoever comes after a crash finishes the same. Format: spec/audit.md §6.1.
 */
import { createReadStream } from "node:fs";
import { lstat, mkdir, readdir, readFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { decodeEvent, LINE_BYTES_MAX, listArchives } from "@acp/audit";
import { isJsonObject } from "@acp/core";
import type { JsonObject } from "@acp/core";
import { keepNewest, readStateMarks, STATE_EVENT_TYPES } from "@acp/core/unstable";
import type { StateKind, StateMark } from "@acp/core/unstable";
import { makePrivateDirectory, writeFileAtomic } from "@acp/home";
import type { HomePaths } from "@acp/home";
import { readSeam, seamMetadata, seamsOf } from "../../logs/log-seams.js";
import type { Seam, SetAsideFile } from "../../logs/log-seams.js";
import { hashFile } from "./hash-file.js";
import { quarantinePath } from "./set-aside.js";

/** What is done about one broken log. */
export interface QuarantinePlan extends Seam {
  /** How many logs of this name were set aside before. */
  readonly seams: number;
  /** The newest states that the old log notes, with their time and number. */
  readonly carried: readonly CarriedMark[];
  readonly isDone: boolean;
}

/** A state that the new log notes again. */
export interface CarriedMark extends StateMark {
  readonly atMs: number;
  /** The number of the event that noted it. */
  readonly seq: number;
}

/** What is wrong with the log, and where its good part ends. */
export type LogFault = Pick<Seam, "code" | "message" | "events" | "head">;

const PLAN = "quarantine.json";

/** Where the plan of a folder is. */
export function planPath(folder: string): string {
  return join(folder, PLAN);
}

/** Every plan of a home. One that cannot be read is left out: its folder has no log then. */
export async function readPlans(home: Pick<HomePaths, "dir">): Promise<readonly QuarantinePlan[]> {
  const all = quarantinePath(home);
  const names: string[] = await readdir(all).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return [];
    throw error;
  });
  const plans = await Promise.all(names.sort().map((name) => readPlan(join(all, name))));
  return plans.flatMap((plan) => plan ?? []);
}

async function readPlan(folder: string): Promise<QuarantinePlan | undefined> {
  const text = await readFile(planPath(folder), "utf8").catch(() => "");
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? parsePlan(value) : undefined;
  } catch {
    return undefined;
  }
}

function parsePlan(value: JsonObject): QuarantinePlan | undefined {
  const seam = readSeam(value);
  const { seams, carried, is_done: isDone } = value;
  if (seam === undefined || typeof seams !== "number") return undefined;
  return {
    ...seam,
    seams,
    isDone: isDone === true,
    carried: Array.isArray(carried) ? carried.flatMap((each) => readCarried(each)) : [],
  };
}

function readCarried(value: unknown): readonly CarriedMark[] {
  if (!isJsonObject(value)) return [];
  const { at_ms: atMs, seq } = value;
  if (typeof atMs !== "number" || typeof seq !== "number") return [];
  const marks = readStateMarks({ eventType: "state_saved", metadata: value });
  return marks.map((mark) => ({ ...mark, atMs, seq }));
}

/** Writes a plan, durable. */
export async function writePlan(home: Pick<HomePaths, "dir">, plan: QuarantinePlan): Promise<void> {
  const { seams, carried, isDone, ...seam } = plan;
  const value = {
    version: "1",
    ...seamMetadata(seam),
    seams,
    is_done: isDone,
    carried: carried.map(({ kind, counter, hash, atMs, seq }) => ({
      file: kind,
      counter,
      hash,
      at_ms: atMs,
      seq,
    })),
  };
  const folder = join(home.dir, plan.folder);
  await writeFileAtomic(planPath(folder), `${JSON.stringify(value, undefined, 2)}\n`);
}

/**
 * Plans to set a log aside, and writes the plan.
 *
 * @param fault - With the folder of a plan that is made again; else it gets one of its own.
 */
export async function makePlan(
  home: HomePaths,
  path: string,
  { code, message, events, head, folder: into }: LogFault & { readonly folder?: string },
): Promise<QuarantinePlan> {
  const log = basename(path);
  const seams = await seamsOf(path);
  const folder = into ?? (await makeFolder(home, log, seams + 1));
  const names = await namesOf(path);
  const files = await Promise.all(
    names.map(
      async (name): Promise<SetAsideFile> => ({
        name,
        ...(await hashFile(join(home.dir, name))),
      }),
    ),
  );
  const carried = await findMarks(names.map((name) => join(home.dir, name)));
  const plan: QuarantinePlan = {
    log,
    folder,
    files,
    code,
    message,
    events,
    ...(head !== undefined && { head }),
    seams,
    carried,
    isDone: false,
  };
  await writePlan(home, plan);
  return plan;
}

/** The files of a log and its checkpoints, as they are in the home. */
async function namesOf(path: string): Promise<readonly string[]> {
  const archives = (await listArchives(path)).map((archive) => basename(archive.path));
  const log = basename(path);
  const parts = new Set([log, `${log}.checkpoints`, ...archives]);
  const names = (await readdir(dirname(path))).filter((name) => parts.has(name)).sort();
  const plain = await Promise.all(
    names.map(async (name) => (await lstat(join(dirname(path), name))).isFile()),
  );
  return names.filter((_, index) => plain[index] === true);
}

/** A new folder, or an empty one that a crash left. */
async function makeFolder(home: HomePaths, log: string, first: number): Promise<string> {
  const all = quarantinePath(home);
  await makePrivateDirectory(all);
  for (let number = first; ; number++) {
    const name = `${log}.${number}`;
    const made = await mkdir(join(all, name), { mode: 0o700 }).then(
      () => true,
      () => false,
    );
    const isFree = made || (await readdir(join(all, name)).catch(() => ["?"])).length === 0;
    if (isFree) return `quarantined/${name}`;
  }
}

const MARKERS = STATE_EVENT_TYPES.map((type) => `"event_type":"${type}"`);

/**
 * The newest states that files note, whatever else is wrong with them: a line that is one event has
 * a hash of its own, so that no damage makes it up.
 */
async function findMarks(paths: readonly string[]): Promise<readonly CarriedMark[]> {
  const newest = new Map<StateKind, CarriedMark>();
  for (const path of paths) {
    for await (const line of linesOf(path)) {
      if (!MARKERS.some((marker) => line.includes(marker))) continue;
      const decoded = decodeEvent(line);
      if (!decoded.ok) continue;
      const { atMs, seq } = decoded.event;
      for (const mark of readStateMarks(decoded.event)) keepNewest(newest, { ...mark, atMs, seq });
    }
  }
  return [...newest.values()];
}

/** Lines of a file that may hold anything; one that is too long for a log is passed over. */
async function* linesOf(path: string): AsyncGenerator<string> {
  let rest = "";
  for await (const chunk of createReadStream(path, "utf8")) {
    rest += String(chunk);
    const lines = rest.split("\n");
    rest = lines.pop() ?? "";
    yield* lines;
    if (rest.length > LINE_BYTES_MAX) rest = "";
  }
}
