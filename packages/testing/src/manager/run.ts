/**
 * Run: has a manager start an agent twice in one workspace, where the agent prepares what it likes
 * in between, and judges by what happened outside.
 */
import { chmod, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type {
  ManagerAttempt,
  ManagerClass,
  ManagerGroup,
  ManagerReport,
  ManagerResult,
} from "./attempt.js";
import { managerAttempts } from "./attempts.js";
import type { LaidManagerGround, ManagerGround, ManagerPlace } from "./ground.js";
import { type Evidence, judgeAttempt } from "./judge.js";
import { endAll, type ManagerEnd, processesNaming, startManager } from "./start.js";

/** What the agent may see of the host. */
export interface ManagerStart {
  /** The agent's folder: show it readable and writable, and make it the working directory. */
  readonly workspace: string;
  /** A further folder that the agent may read. */
  readonly readable?: string;
  /**
   * Command of a server that the manager's configuration must name; absent: remove an earlier one.
   */
  readonly server?: readonly string[];
}

/** A manager of any kind that the kit tests. */
export interface ManagerUnderTest {
  /** Its name in reports. */
  readonly name: string;
  /** The classes of attempts that it says it stops. */
  readonly claims: readonly ManagerClass[];
  /**
   * The command line that makes the manager start a program inside; the kit runs it, as a person
   * does.
   */
  command(argv: readonly string[], start: ManagerStart): Promise<readonly string[]>;
}

/** Options of {@link runManagerKit}. */
export interface ManagerKitOptions {
  /** What attempts try to reach, from {@link openManagerGround}. */
  readonly ground: ManagerGround;
  /** Which attempts to make; all unless given. */
  readonly filter?: (attempt: ManagerAttempt) => boolean;
  /** How long a run may take before it counts as stuck, in milliseconds; 120,000 unless given. */
  readonly limitMs?: number;
  /** As `limitMs`, for attempts that only a run without an end proves; `limitMs` unless given. */
  readonly stuckMs?: number;
  /** How many second runs are started while files are swapped; 2 unless given. */
  readonly races?: number;
  /** How long what an agent started may outlive it, in milliseconds; 0 unless given. */
  readonly graceMs?: number;
}

interface Parts extends Required<Omit<ManagerKitOptions, "filter" | "ground">> {
  readonly ground: LaidManagerGround;
  readonly underTest: ManagerUnderTest;
}

const SHARED: readonly ManagerGroup[] = ["shared", "told", "second_run", "terminal"];
const WAITS_MAX = 600;

function isLaid(ground: ManagerGround): ground is LaidManagerGround {
  return "layOut" in ground && "markOf" in ground;
}

/** Makes the attempts against a manager and reports how each ended. */
export async function runManagerKit(
  underTest: ManagerUnderTest,
  {
    ground,
    filter = () => true,
    limitMs = 120_000,
    stuckMs = limitMs,
    races = 2,
    graceMs = 0,
  }: ManagerKitOptions,
): Promise<ManagerReport> {
  if (!isLaid(ground))
    throw new Error("Cannot run the manager kit: the ground is not one of openManagerGround()");
  const parts: Parts = { underTest, ground, limitMs, stuckMs, races, graceMs };
  const results: ManagerResult[] = [];
  const attempts: ManagerAttempt[] = [];
  for (const attempt of managerAttempts.filter(filter)) {
    if (await isPossible(attempt, ground)) attempts.push(attempt);
    else
      results.push(
        judgeAttempt(attempt, { claims: underTest.claims, missing: attempt.needs ?? "" }),
      );
  }
  const inGroup = (group: ManagerGroup): readonly ManagerAttempt[] =>
    attempts.filter((each) => (each.group ?? "shared") === group);
  for (const group of SHARED) results.push(...(await runShared(group, inGroup(group), parts)));
  for (const attempt of inGroup("own"))
    results.push(...(await runTwice(attempt.id, [attempt], parts)).results);
  results.push(...(await runRaces(inGroup("race"), parts)));
  return {
    manager: underTest.name,
    claims: underTest.claims,
    results,
    brokenPromises: results.filter(
      ({ outcome, isPromised }) => outcome === "escaped" && isPromised,
    ),
  };
}

async function isPossible({ needs }: ManagerAttempt, { env }: LaidManagerGround): Promise<boolean> {
  if (needs === undefined) return true;
  return promisify(execFile)("sh", ["-c", needs], { env }).then(
    () => true,
    () => false,
  );
}

async function runShared(
  group: ManagerGroup,
  attempts: readonly ManagerAttempt[],
  parts: Parts,
): Promise<readonly ManagerResult[]> {
  if (attempts.length === 0) return [];
  const { results, isFirstDone, isSecondDone, said } = await runTwice(group, attempts, parts);
  const areSplit = group === "second_run" || group === "terminal";
  if (!isFirstDone && !areSplit)
    throw new Error(
      `Cannot judge "${parts.underTest.name}": its agent did not come to an end; it said: ${said}`,
    );
  if (!areSplit || (isFirstDone && isSecondDone)) return results;
  // One of them ended a run, or kept it from starting: which?
  const alone: ManagerResult[] = [];
  for (const attempt of attempts)
    alone.push(...(await runTwice(`alone-${attempt.id}`, [attempt], parts)).results);
  return alone;
}

interface Pair {
  readonly results: readonly ManagerResult[];
  readonly isFirstDone: boolean;
  readonly isSecondDone: boolean;
  readonly said: string;
}

/** Two starts, and what a person does in between. */
async function runTwice(
  name: string,
  attempts: readonly ManagerAttempt[],
  parts: Parts,
): Promise<Pair> {
  const { ground, underTest } = parts;
  const place = await ground.layOut(name, attempts);
  const states = new Map<string, string>();
  for (const attempt of attempts) states.set(attempt.id, await ground.stateOf(attempt, place));
  const left = new Map<string, number>();
  const start = async (run: "1" | "2"): Promise<ManagerEnd> => {
    const end = await startOnce(run, { name, attempts, place, parts });
    for (const { id } of attempts)
      left.set(
        id,
        (left.get(id) ?? 0) + (await clear(`kit-${ground.secret.slice(-8)}-${id}`, parts.graceMs)),
      );
    return end;
  };
  const first = await start("1");
  await stepIn(attempts, place, ground);
  const second = await start("2");
  await stepIn(attempts, place, ground);
  // Who closed it may open it; where the manager is somebody else the kit is root.
  await chmod(place.workspace, 0o755).catch(() => undefined);
  const isSecondDone = second.isOver && (await place.isDone("2"));
  const results: ManagerResult[] = [];
  for (const attempt of attempts) {
    const evidence: Evidence = {
      claims: underTest.claims,
      secret: ground.secret,
      mark: await ground.markOf(attempt.id),
      isChanged: (await ground.stateOf(attempt, place)) !== states.get(attempt.id),
      survivors: left.get(attempt.id) ?? 0,
      isStuck: !first.isOver || !isSecondDone,
      said: (await place.said("1", attempt.id)) + (await place.said("2", attempt.id)),
      managerSaid: first.said,
      lastWords: (isSecondDone ? first : second).said,
    };
    results.push(judgeAttempt(attempt, evidence));
  }
  return {
    results,
    isFirstDone: first.isOver && (await place.isDone("1")),
    isSecondDone,
    said: first.said,
  };
}

interface OneStart {
  readonly name: string;
  readonly attempts: readonly ManagerAttempt[];
  readonly place: ManagerPlace;
  readonly parts: Parts;
}

/** Starts the manager; what an attempt of its own group says of variables and a server holds. */
async function startOnce(
  run: "1" | "2",
  { name, attempts, place, parts: { ground, underTest, limitMs, stuckMs } }: OneStart,
): Promise<ManagerEnd> {
  const [lead] = attempts;
  const own = lead?.group === "own" ? lead : undefined;
  const filled = (word: string): string => word.replace("{work}", place.workspace);
  const variables = Object.fromEntries<string>(
    Object.entries<string>(own?.env ?? {}).map(([key, value]) => [key, filled(value)]),
  );
  const env = { ...ground.env, ...variables };
  const server = own?.server?.map(filled);
  const isAlone = attempts.length === 1;
  const isAtTerminal = lead?.group === "terminal" || lead?.isAtTerminal === true;
  return startManager({
    command: await underTest.command(place.agent(run), {
      workspace: place.workspace,
      ...(server !== undefined && { server }),
    }),
    env: run === "1" ? env : taskRunner(env, place),
    cwd: place.workspace,
    output: join(ground.home, `output-${name}-${run}`),
    limitMs: isAlone && lead?.provenBy === "stuck" ? stuckMs : limitMs,
    ...(isAtTerminal && {
      mark: join(env["MARKS"] ?? "", isAlone ? (lead?.id ?? "") : "the-shell"),
    }),
  });
}

/** What the person does when a run has ended. */
async function stepIn(
  attempts: readonly ManagerAttempt[],
  place: ManagerPlace,
  ground: LaidManagerGround,
): Promise<void> {
  for (const { id, after } of attempts)
    if (after !== undefined) await ground.asPerson(after, place, id);
}

/**
 * The environment of somebody who works in the folder: what task runners, `direnv` and hand-written
 * profiles make of it.
 */
function taskRunner(
  env: Readonly<Record<string, string>>,
  { workspace }: ManagerPlace,
): Readonly<Record<string, string>> {
  const at = (name: string): string => join(workspace, name);
  return {
    ...env,
    PATH: `${at("node_modules/.bin")}:tools::${env["PATH"] ?? ""}`,
    NODE_PATH: at("modules"),
    PYTHONPATH: at("lib"),
    PYTHONUSERBASE: at(".pyuser"),
    BASH_ENV: at("bash-env"),
    CPATH: at("include"),
    COMPILER_PATH: at("toolchain"),
    // Nothing is cached: what is made at a first start is made again.
    XDG_CACHE_HOME: env["XDG_CACHE_HOME"] ?? join(env["HOME"] ?? "", ".cache-2"),
  };
}

/** Counts what is left of an attempt, and ends it. */
async function clear(token: string, graceMs: number): Promise<number> {
  const endMs = performance.now() + graceMs;
  let left = await processesNaming(token);
  while (left.length > 0 && performance.now() < endMs) {
    await sleep(50);
    left = await processesNaming(token);
  }
  endAll(left);
  return left.length;
}

/** A first run that exchanges places, and second ones that are given them. */
async function runRaces(
  attempts: readonly ManagerAttempt[],
  parts: Parts,
): Promise<readonly ManagerResult[]> {
  if (attempts.length === 0) return [];
  const { ground, underTest } = parts;
  const place = await ground.layOut("race", attempts);
  const elsewhere = (await ground.layOut("race-elsewhere", [])).workspace;
  const output = (name: string): string => join(ground.home, `output-${name}`);
  const common = { env: ground.env, limitMs: parts.limitMs };
  const command = await underTest.command(place.agent("waiting"), { workspace: place.workspace });
  const first = startManager({ ...common, command, cwd: place.workspace, output: output("race") });
  for (let waits = 0; waits < WAITS_MAX && !(await place.isDone("waiting")); waits++)
    await sleep(100);
  const isReady = await place.isDone("waiting");
  const said = new Map<string, string>();
  for (let turn = 0; isReady && turn < parts.races; turn++) {
    for (const attempt of attempts.filter(
      ({ id }) => said.get(id)?.includes(ground.secret) !== true,
    )) {
      const path = join(place.workspace, attempt.id, attempt.place?.path ?? "");
      const isReadable = attempt.place?.as === "readable";
      const argv = ["/bin/sh", "-c", (attempt.again ?? "").replace("$PLACE", path)];
      const second = await startManager({
        ...common,
        command: await underTest.command(
          argv,
          isReadable ? { workspace: elsewhere, readable: path } : { workspace: path },
        ),
        cwd: elsewhere,
        output: output(`${attempt.id}-${turn}`),
      });
      said.set(attempt.id, (said.get(attempt.id) ?? "") + second.said);
    }
  }
  await writeFile(join(place.workspace, ".kit/stop"), "");
  const { said: firstSaid } = await first;
  if (!isReady)
    throw new Error(
      `Cannot judge "${underTest.name}": its agent did not begin to exchange places; it said: ${firstSaid}`,
    );
  return attempts.map((attempt) =>
    judgeAttempt(attempt, {
      claims: underTest.claims,
      secret: ground.secret,
      said: said.get(attempt.id) ?? "",
      lastWords: said.get(attempt.id) ?? "",
    }),
  );
}
