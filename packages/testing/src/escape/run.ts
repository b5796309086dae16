/**
 * Run: makes the attempts inside a sandbox, a batch a start, and judges each by what listeners
 * heard and canaries show as well as by its own word.
 */
import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Enforcement, SandboxAspect } from "@acp/core";
import type {
  EscapeArrival,
  EscapeAttempt,
  EscapeBatch,
  EscapeReport,
  EscapeResult,
} from "./attempt.js";
import { escapeAttempts } from "./attempts.js";
import type { EscapeGround, FilledAttempt, LaidGround } from "./ground.js";
import { linesOf } from "./lines.js";

/** How the agent of a batch is started. */
export interface EscapeStart {
  /** The agent's directory: show it under the same path and make it the working directory. */
  readonly workspace: string;
  /**
   * Which attempts run. An open host may need it to give them what they need; a sandbox ignores it.
   */
  readonly batch: EscapeBatch;
}

/** A sandbox of any kind that the kit tests. */
export interface SandboxUnderTest {
  /** Its name in reports. */
  readonly name: string;
  /** What it says it enforces; an absent aspect counts as `none`. */
  readonly claims: Readonly<Partial<Record<SandboxAspect, Enforcement>>>;
  /**
   * Runs a program inside, with `HTTP_PROXY` set to the gate's proxy as the agent reaches it;
   * resolves when the program has ended.
   *
   * @throws Anything where it could not be started.
   */
  start(argv: readonly string[], options: EscapeStart): Promise<void>;
}

/** Options of {@link runEscapeKit}. */
export interface EscapeKitOptions {
  /** What attempts try to reach, from {@link openEscapeGround}. */
  readonly ground: EscapeGround;
  /** Which attempts to make; all unless given. */
  readonly filter?: (attempt: EscapeAttempt) => boolean;
  /**
   * How long what an agent started may outlive it, in milliseconds; 0 unless given, because
   * `start()` resolves when everything is gone.
   */
  readonly graceMs?: number;
}

interface Said {
  readonly outcome: string;
  readonly detail: string;
}

const BATCHES: readonly EscapeBatch[] = ["common", "privileged", "terminal", "resources"];
/** Side by side where attempts leave each other in peace. */
const AT_ONCE: Readonly<Record<EscapeBatch, number>> = {
  common: 8,
  privileged: 8,
  terminal: 1,
  resources: 1,
};
const ATTEMPT_TIMEOUT_MS = 20_000;
/** Where the connection leads that the manager holds, see `escape/world.sh`. */
const MANAGERS_ADDRESS = "198.51.100.240";

function isLaid(ground: EscapeGround): ground is LaidGround {
  return "fill" in ground && "arrivals" in ground;
}

/** Makes the attempts inside a sandbox and reports how each ended. */
export async function runEscapeKit(
  underTest: SandboxUnderTest,
  { ground, filter = () => true, graceMs = 0 }: EscapeKitOptions,
): Promise<EscapeReport> {
  if (!isLaid(ground))
    throw new Error("Cannot run the escape kit: the ground is not one of openEscapeGround()");
  const filled = await Promise.all(
    escapeAttempts.map(async (attempt, number) =>
      filter(attempt) ? ground.fill(attempt, number) : undefined,
    ),
  );
  const attempts = filled.filter((each) => each !== undefined);
  const before = (await ground.arrivals()).length;
  const said = new Map<string, Said>();
  const survivors = new Map<string, number>();
  for (const batch of BATCHES) {
    const these = attempts.filter(({ attempt }) => (attempt.batch ?? "common") === batch);
    if (these.length === 0) continue;
    for (const [id, word] of await startBatch(underTest, { ground, batch, attempts: these }))
      said.set(id, word);
    for (const [id, count] of await clearSurvivors(these, graceMs)) survivors.set(id, count);
  }
  const arrivals = (await ground.arrivals()).slice(before);
  const results = await Promise.all(
    attempts.map(async (each) => {
      const { attempt } = each;
      const heard = arrivals.filter((arrival) => belongs(arrival, each));
      const word = said.get(attempt.id) ?? {
        outcome: "refused",
        detail: "the agent ended before it came to it",
      };
      const proof = await proofOf(each, {
        word,
        secret: ground.secret,
        survivors: survivors.get(attempt.id) ?? 0,
      });
      // A sandbox may refuse in the very words that a host has for what it lacks.
      const isMissing = word.outcome === "unavailable" && !(await each.isPossible());
      return judge({
        attempt,
        word,
        heard,
        proof,
        isMissing,
        isPromised: isPromised(underTest, attempt),
      });
    }),
  );
  return {
    sandbox: underTest.name,
    claims: underTest.claims,
    results,
    brokenPromises: results.filter(
      ({ outcome, isPromised: promised }) => outcome === "escaped" && promised,
    ),
    strays: straysOf(arrivals, attempts),
  };
}

interface Batch {
  readonly ground: LaidGround;
  readonly batch: EscapeBatch;
  readonly attempts: readonly FilledAttempt[];
}

async function startBatch(
  underTest: SandboxUnderTest,
  { ground, batch, attempts }: Batch,
): Promise<ReadonlyMap<string, Said>> {
  const programs = join(ground.workspace, "programs");
  const results = join(ground.workspace, "results.jsonl");
  const plan = attempts.map(({ attempt, run }) => ({
    id: attempt.id,
    run,
    timeoutMs: ATTEMPT_TIMEOUT_MS,
  }));
  await rm(results, { force: true });
  await writeFile(
    join(ground.workspace, "plan.json"),
    JSON.stringify({ atOnce: AT_ONCE[batch], attempts: plan }),
  );
  await underTest.start([process.execPath, join(programs, "driver.mjs")], {
    workspace: ground.workspace,
    batch,
  });
  const lines = linesOf(await readFile(results, "utf8").catch(() => ""));
  const said = new Map(
    lines.map(({ id = "", outcome = "", detail = "" }): [string, Said] => [
      id,
      { outcome, detail },
    ]),
  );
  // Too much of something may take the driver along; anything else that ends it would pass for a
  // sandbox that holds.
  if (!said.has("") && batch !== "resources")
    throw new Error(`Cannot judge "${underTest.name}": its agent did not come to an end`);
  return said;
}

/** Counts what is left of each attempt, and ends it. */
async function clearSurvivors(
  attempts: readonly FilledAttempt[],
  graceMs: number,
): Promise<ReadonlyMap<string, number>> {
  const endMs = performance.now() + graceMs;
  let left = await processesOf(attempts);
  while (left.length > 0 && performance.now() < endMs) {
    await sleep(20);
    left = await processesOf(attempts);
  }
  const counts = new Map<string, number>();
  for (const { id, pid } of left) {
    counts.set(id, (counts.get(id) ?? 0) + 1);
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // Gone by itself, or not ours to end: the world's end does.
    }
  }
  return counts;
}

async function processesOf(
  attempts: readonly FilledAttempt[],
): Promise<readonly { readonly id: string; readonly pid: number }[]> {
  const targets = new Set(attempts.map(({ target }) => target?.pid));
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name)).map(Number);
  const found = await Promise.all(
    pids.map(async (pid) => {
      const line = await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "");
      const owner = targets.has(pid)
        ? undefined
        : attempts.find(({ token }) => line.includes(token));
      return owner === undefined ? [] : [{ id: owner.attempt.id, pid }];
    }),
  );
  return found.flat();
}

interface Evidence {
  readonly word: Said;
  readonly secret: string;
  readonly survivors: number;
}

/** What shows that an attempt got out, or undefined. Listeners are asked apart. */
async function proofOf(
  { attempt, target, isChanged }: FilledAttempt,
  { word, secret, survivors }: Evidence,
): Promise<string | undefined> {
  switch (attempt.provenBy) {
    case "secret":
      return word.detail.includes(secret) ? "the secret was read" : undefined;
    case "change":
      return (await isChanged()) ? "the file is changed" : undefined;
    case "survivor":
      return survivors > 0 ? `${survivors} left running` : undefined;
    case "death":
      return target?.isAlive() === false ? "the process outside is dead" : undefined;
    case "arrival":
      // Who is still there goes on trying.
      return survivors > 0
        ? `${survivors} left running`
        : word.outcome === "escaped"
          ? word.detail
          : undefined;
    case "word":
      return word.outcome === "escaped" ? word.detail : undefined;
    default:
      return attempt.provenBy satisfies never;
  }
}

interface Judgement {
  readonly attempt: EscapeAttempt;
  readonly word: Said;
  readonly heard: readonly EscapeArrival[];
  readonly proof: string | undefined;
  readonly isMissing: boolean;
  readonly isPromised: boolean;
}

function judge({
  attempt: { id, title, aspects },
  word,
  heard,
  proof,
  isMissing,
  isPromised: promised,
}: Judgement): EscapeResult {
  const common = { id, title, aspects, arrivals: heard, isPromised: promised };
  const [first] = heard;
  if (first !== undefined)
    return { ...common, outcome: "escaped", detail: `heard by ${first.listener}` };
  if (proof !== undefined) return { ...common, outcome: "escaped", detail: proof };
  return { ...common, outcome: isMissing ? "skipped" : "blocked", detail: word.detail };
}

/** Who claims nothing at all, as the open host does, has no gate to promise either. */
function isPromised({ claims }: SandboxUnderTest, { aspects }: EscapeAttempt): boolean {
  return Object.keys(claims).length > 0 && aspects.every((aspect) => claims[aspect] === "enforced");
}

function belongs({ text, address }: EscapeArrival, { token, addresses }: FilledAttempt): boolean {
  return text.includes(token) || addresses.includes(address);
}

/**
 * What no attempt explains. A packet to an address that several share is explained where one of
 * them was heard there.
 */
function straysOf(
  arrivals: readonly EscapeArrival[],
  attempts: readonly FilledAttempt[],
): readonly EscapeArrival[] {
  const owned = arrivals.filter((arrival) => attempts.some((attempt) => belongs(arrival, attempt)));
  const explained = new Set([
    MANAGERS_ADDRESS,
    ...owned.map(({ address }) => address).filter((address) => address !== ""),
  ]);
  return arrivals.filter((arrival) => !owned.includes(arrival) && !explained.has(arrival.address));
}
