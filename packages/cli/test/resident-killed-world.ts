/**
 * A home whose resident is killed at a named moment while many clients call: real clients, real
 * servers with a journal of their own, three approvers with a list of their own answers. The judge
 * is that journal against that list, not our log.
 */
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { mkdir } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { attachApprovers } from "@acp/channel-terminal";
import type { ApproverClients } from "@acp/channel-terminal";
import { makeResponse } from "@acp/core";
import { followOutcomes } from "../src/outcomes/logged-outcomes.js";
import { BIN } from "./harness.js";
import { textOf } from "./resident-world.js";
import type { Answer, RawClient, ResidentWorld } from "./resident-world.js";

const HOOK = fileURLToPath(new URL("fixtures/die-at.mjs", import.meta.url));
const APPROVERS = 3;

/** How the resident ends. */
export type Death =
  /** By itself, at a moment that fixtures/die-at.mjs knows. */
  | { readonly at: string }
  /** Killed from outside, so long after the calls were sent. */
  | { readonly killedAfterMs: number }
  /** Stopped, and killed or let go on after a while. */
  | { readonly stoppedAfterMs: number; readonly forMs: number; readonly isKilled: boolean };

/** What is called while it dies. */
export interface Load {
  readonly clients: number;
  /** Calls of each client: one half asks a person, the other is allowed. */
  readonly calls: number;
  /** Characters that each call carries besides. */
  readonly pad?: number;
  /** How long the server takes. */
  readonly ms?: number;
}

/** What was seen of one death, after it was judged; no list of wrong things is here. */
export interface Seen {
  readonly answers: number;
  readonly ran: number;
  readonly unknown: number;
  readonly denied: number;
  /** Questions that a crash made unanswerable: they end by their time. */
  readonly spent: number;
  /** Whether it died where it was to. */
  readonly isDead: boolean;
}

/** A person's answers: what they were asked, by the id of the question and the number of the call. */
interface Person {
  readonly said: Map<string, { readonly n: number; readonly decision: "approved" | "denied" }>;
  /** Questions of which the gate said that the answer counts. */
  readonly taken: Set<string>;
  /** Those of which it said that they were answered before. */
  readonly spent: Set<string>;
}

const decisionOf = (n: number): "approved" | "denied" => (n % 5 === 0 ? "denied" : "approved");

let next = 1;

/** Starts the resident itself, with the hook; clients start the ones after it. */
function startResident(home: string, at: string): ChildProcess {
  return spawn(process.execPath, ["--import", HOOK, BIN, "resident", "serve", "--home", home], {
    env: { PATH: "/usr/bin:/bin", HOME: homedir(), ACP_TEST_DIE: at },
    stdio: ["ignore", "pipe", "pipe"],
  });
}

async function answerAll(person: Person, clients: ApproverClients, own: number): Promise<void> {
  for (const { request } of clients.pending()) {
    const n = Number(request.action.parameters["n"]);
    const isOver = person.taken.has(request.id) || person.spent.has(request.id);
    if (n % APPROVERS !== own || isOver) continue;
    const decision = decisionOf(n);
    person.said.set(request.id, { n, decision });
    const nowMs = Date.now();
    const channel = "test";
    // Short: where a log was pruned meanwhile, a call ends as unknown and leaves its yes to its time.
    const validUntilMs = nowMs + 30_000;
    const receipt = await clients
      .answer(makeResponse(request, { decision, nowMs, validUntilMs, channel }))
      .catch(() => undefined);
    if (receipt?.status === "final") person.taken.add(request.id);
    // A crash came as it was taken: it counts for nothing, and cannot be given again. The question
    // ends by its time.
    if (receipt?.status === "refused" && receipt.code === "already_answered")
      person.spent.add(request.id);
  }
}

/** What is wrong with one call; nothing where all is well. */
function judge(
  { n, isAsk, answers }: Call,
  done: readonly string[],
  said: Person["said"],
): readonly string[] {
  const ran = done.filter((each) => each === String(n)).length;
  const yeses = [...said.values()].filter((each) => each.n === n && each.decision === "approved");
  const [answer] = answers();
  const isDone = answer !== undefined && textOf(answer) === String(n);
  return [
    ...(answers().length === 1 ? [] : [`${n}: ${answers().length} answers`]),
    ...(ran > 1 ? [`${n}: ran ${ran} times`] : []),
    ...(isAsk && ran > 0 && yeses.length === 0 ? [`${n}: ran without a yes`] : []),
    ...(isDone && ran === 0 ? [`${n}: answered and did not run`] : []),
    ...(!isDone && !isUnknown(answer) && ran > 0 ? [`${n}: ran, and its caller was told no`] : []),
  ];
}

const isUnknown = (answer: Answer | undefined): boolean =>
  answer?.error?.data?.code === "outcome_unknown";

interface Call {
  readonly n: number;
  readonly isAsk: boolean;
  readonly answers: () => readonly Answer[];
  readonly over: Promise<unknown>;
}

function callAll(all: readonly RawClient[], { calls, pad = 0, ms = 0 }: Load): readonly Call[] {
  return Array.from({ length: calls }).flatMap((_, turn) =>
    all.map((client): Call => {
      const n = next++;
      const isAsk = turn % 2 === 0;
      const id = client.nextId();
      const over = client.call(isAsk ? "ask" : "act", { n, ms, pad: "x".repeat(pad) });
      return { n, isAsk, answers: () => client.answers.get(id) ?? [], over };
    }),
  );
}

async function end(
  death: Death,
  child: ChildProcess | undefined,
  at: ResidentWorld,
): Promise<void> {
  if ("at" in death || child?.pid === undefined) return;
  await wait("killedAfterMs" in death ? death.killedAfterMs : death.stoppedAfterMs);
  if ("killedAfterMs" in death) return void child.kill("SIGKILL");
  child.kill("SIGSTOP");
  await wait(death.forMs);
  child.kill(death.isKilled ? "SIGKILL" : "SIGCONT");
  if (!death.isKilled) await at.acp(["resident", "status"]);
}

/**
 * Lets a resident die under load, and judges what came of every call and every answer.
 *
 * @returns What is wrong, and what was seen.
 */
export async function dieUnderLoad(
  at: ResidentWorld,
  death: Death,
  load: Load,
): Promise<{ readonly wrong: readonly string[]; readonly seen: Seen }> {
  await using outcomes = await followOutcomes(at.home);
  const child = startResident(at.home, "at" in death ? death.at : "");
  const gone = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  let text = "";
  const isUp = new Promise<void>((resolve) => {
    for (const stream of [child.stdout, child.stderr])
      stream?.on("data", (chunk) => {
        text += String(chunk);
        if (text.includes("Serving")) resolve();
      });
  });
  await Promise.race([isUp, gone]);
  const stop = new AbortController();
  const directory = join(at.home, "run");
  const people = Array.from(
    { length: APPROVERS },
    (): Person => ({ said: new Map(), taken: new Set(), spent: new Set() }),
  );
  const answering = people.map(async (person, own) => {
    await using clients = await attachApprovers({ directory, signal: stop.signal });
    while (!stop.signal.aborted) {
      await answerAll(person, clients, own);
      await wait(10);
    }
  });
  const all = await Promise.all(
    Array.from({ length: load.clients }, async (_, index) => {
      const cwd = join(at.path, `cwd-${index}`);
      await mkdir(cwd, { recursive: true });
      return at.client({ args: ["--agent", `a-${index}`], env: { TOKEN: `t-${index}` }, cwd });
    }),
  );
  const calls = callAll(all, load);
  await Promise.all([end(death, child, at), ...calls.map(({ over }) => over)]);
  const said = new Map(people.flatMap((person) => [...person.said]));
  const wrong = calls.flatMap((call) => judge(call, at.done(), said));
  const told = await untilTold(said, people, outcomes, at);
  stop.abort();
  await Promise.all(answering);
  await Promise.all(all.map((each) => each[Symbol.asyncDispose]()));
  await at.acp(["resident", "stop"]);
  // It may also die as it closes.
  const isDead = child.signalCode === "SIGKILL";
  child.kill("SIGKILL");
  await gone;
  const answers = calls.flatMap((call) => call.answers());
  const ran = new Set(at.done());
  return {
    wrong: [...wrong, ...told, ...askedTwice(people)],
    seen: {
      answers: answers.length,
      ran: calls.filter(({ n }) => ran.has(String(n))).length,
      unknown: answers.filter(isUnknown).length,
      denied: answers.filter((each) => textOf(each) !== "" && !/^\d+$/.test(textOf(each))).length,
      spent: people.reduce((sum, { spent }) => sum + spent.size, 0),
      isDead,
    },
  };
}

/** Who said yes is asked again only where that yes was used up. */
function askedTwice(people: readonly Person[]): readonly string[] {
  return people.flatMap(({ said, taken }) => {
    const numbers = [...taken].flatMap((id) => said.get(id)?.n ?? []);
    return numbers.filter((n, at) => numbers.indexOf(n) !== at).map((n) => `${n}: asked twice`);
  });
}

/** Every yes that counted has an outcome that is true by the servers' journal. */
async function untilTold(
  said: Person["said"],
  people: readonly Person[],
  outcomes: Awaited<ReturnType<typeof followOutcomes>>,
  at: ResidentWorld,
): Promise<readonly string[]> {
  const ids = people
    .flatMap(({ taken }) => [...taken])
    .filter((id) => said.get(id)?.decision === "approved");
  for (;;) {
    const found = await outcomes.find(ids);
    const states = new Map(found.map(({ id, run }) => [id, run?.state ?? "waiting"]));
    // It has an end, in time: what nobody comes back for ends after a minute.
    if (ids.some((id) => ["waiting", "started"].includes(states.get(id) ?? "waiting"))) {
      await wait(50);
      continue;
    }
    const done = new Set(at.done());
    return ids.flatMap((id) => {
      const n = String(said.get(id)?.n);
      const state = states.get(id);
      const isTrue = state === "unknown" || (state === "ran" || state === "failed") === done.has(n);
      return isTrue ? [] : [`${n}: its approver was told "${state}"`];
    });
  }
}
