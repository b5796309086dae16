/**
 * The people and the judge of resident-killed-world.ts: three approvers who keep a list of what they
 * answered, and what is wrong with a call by that list and the servers' journal. The gate's log is
 * asked for one thing only: what it says came of each answer.
 */
import { setTimeout as wait } from "node:timers/promises";
import { attachApprovers } from "@acp/channel-terminal";
import type { ApproverClients } from "@acp/channel-terminal";
import { makeResponse } from "@acp/core";
import { followOutcomes } from "../src/outcomes/logged-outcomes.js";
import { textOf } from "./resident-world.js";
import type { Answer, ResidentWorld } from "./resident-world.js";

const APPROVERS = 3;
const LOOK_EVERY_MS = 20;
/** What is kept of a dead resident ends after a minute, and so may a yes that nobody came back for. */
const VALID_MS = 100_000;
/** Who is asked again sooner is not asked because the first answer had its time. */
const AGAIN_MS = 50_000;

/** A tool call, by a number that no other has. */
export interface Call {
  readonly n: number;
  /** Whether a person is asked. */
  readonly isAsk: boolean;
  readonly answers: () => readonly Answer[];
  readonly over: Promise<unknown>;
}

interface Said {
  readonly n: number;
  readonly decision: "approved" | "denied";
  readonly atMs: number;
}

/** A person's list, by the id of the question. */
interface Person {
  readonly said: Map<string, Said>;
  /** Questions of which the gate said that the answer counts. */
  readonly taken: Set<string>;
  /** Those of which it said that they were answered before. */
  readonly spent: Set<string>;
}

/** The approvers of a home. */
export interface People extends AsyncDisposable {
  /** Questions that are open. */
  open(): number;
  /** From now on they answer, or do not. */
  answer(isAnswering: boolean): void;
  /** How many questions a crash made unanswerable. */
  spent(): number;
  /** What is wrong with the calls. */
  judge(calls: readonly Call[]): readonly string[];
  /** What is wrong with what they were told, and asked, once all of it has ended. */
  told(): Promise<readonly string[]>;
}

/** What a person says about the call of this number. */
export const decisionOf = (n: number): Said["decision"] => (n % 5 === 0 ? "denied" : "approved");

/** What a client was told: that it is done, or the code of why not. */
export function outcomeOf({ n, answers }: Call): string {
  const [answer] = answers();
  if (answer === undefined) return "none";
  const text = textOf(answer);
  if (text === String(n)) return "done";
  return (
    answer.error?.data?.code ??
    /"code":"(\w+)"/.exec(JSON.stringify(answer).replaceAll("\\", ""))?.[1] ??
    text
  );
}

/** How often each number is in the servers' journal. */
export function ranIn(at: Pick<ResidentWorld, "done">): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const n of at.done()) counts.set(n, (counts.get(n) ?? 0) + 1);
  return counts;
}

/**
 * Attaches them; they answer nothing yet.
 *
 * @param clock - Their wall clock.
 */
export async function invitePeople(at: ResidentWorld, clock: () => number): Promise<People> {
  const outcomes = await followOutcomes(at.home);
  const stop = new AbortController();
  const directory = `${at.home}/run`;
  const people = Array.from(
    { length: APPROVERS },
    (): Person => ({ said: new Map(), taken: new Set(), spent: new Set() }),
  );
  const attached = await Promise.all(
    people.map(() => attachApprovers({ directory, signal: stop.signal })),
  );
  let isAnswering = false;
  const answering = people.map(async (person, own) => {
    const clients = attached[own];
    while (!stop.signal.aborted && clients !== undefined) {
      if (isAnswering) await answerAll(person, clients, { own, nowMs: clock() });
      await wait(LOOK_EVERY_MS);
    }
  });
  return {
    open: () => attached[0]?.pending().length ?? 0,
    answer: (next) => void (isAnswering = next),
    spent: () => people.reduce((sum, { spent }) => sum + spent.size, 0),
    judge(calls) {
      const ran = ranIn(at);
      const said = people.flatMap((person) => [...person.said.values()]);
      const yeses = new Set(said.flatMap(({ n, decision }) => (decision === "approved" ? n : [])));
      return calls.flatMap((call) => judge(call, ran.get(String(call.n)) ?? 0, yeses.has(call.n)));
    },
    told: async () => [...(await untilTold(people, outcomes, at)), ...askedTwice(people)],
    async [Symbol.asyncDispose]() {
      stop.abort();
      await Promise.all(answering);
      await Promise.all(attached.map((each) => each.close()));
      await outcomes[Symbol.asyncDispose]();
    },
  };
}

async function answerAll(
  person: Person,
  clients: ApproverClients,
  { own, nowMs }: { readonly own: number; readonly nowMs: number },
): Promise<void> {
  const asked = clients.pending().filter(({ request: { id, action } }) => {
    const isOver = person.taken.has(id) || person.spent.has(id);
    return Number(action.parameters["n"]) % APPROVERS === own && !isOver;
  });
  await Promise.all(
    asked.map(async ({ request }) => {
      const n = Number(request.action.parameters["n"]);
      const decision = decisionOf(n);
      person.said.set(request.id, { n, decision, atMs: nowMs });
      const how = { decision, nowMs, validUntilMs: nowMs + VALID_MS, channel: "test" };
      const receipt = await clients.answer(makeResponse(request, how)).catch(() => undefined);
      if (receipt?.status === "final") person.taken.add(request.id);
      // A crash came as it was taken: it counts for nothing, and cannot be given again. The question
      // ends by its time.
      if (receipt?.status === "refused" && receipt.code === "already_answered")
        person.spent.add(request.id);
    }),
  );
}

/** What a client may be told; whatever else is a fault of ours. What a dead resident left open counts. */
const EXPECTED: ReadonlySet<string> = new Set([
  "done",
  "consent_denied",
  "consent_expired",
  "client_limit_reached",
  "pending",
  "outcome_unknown",
  "key_locked",
  "resident_unavailable",
]);

/** What is wrong with one call; nothing where all is well. */
function judge(call: Call, ran: number, hasYes: boolean): readonly string[] {
  const { n, isAsk, answers } = call;
  const outcome = outcomeOf(call);
  const isUnsure = outcome === "done" || outcome === "outcome_unknown";
  const isDenied = outcome === "consent_denied";
  return [
    ...(answers().length === 1 ? [] : [`${n}: ${answers().length} answers`]),
    ...(ran > 1 ? [`${n}: ran ${ran} times`] : []),
    ...(isAsk && ran > 0 && !hasYes ? [`${n}: ran without a yes`] : []),
    ...(outcome === "done" && ran === 0 ? [`${n}: answered and did not run`] : []),
    ...(!isUnsure && ran > 0 ? [`${n}: ran, and its caller was told ${outcome}`] : []),
    ...(EXPECTED.has(outcome) ? [] : [`${n}: told ${JSON.stringify(answers()[0])}`]),
    ...(isDenied && decisionOf(n) !== "denied" ? [`${n}: denied, and nobody said no`] : []),
  ];
}

/** Who said yes is asked again only where that yes was used up, or had its time. */
function askedTwice(people: readonly Person[]): readonly string[] {
  return people.flatMap(({ said, taken }) => {
    const answers = [...said].flatMap(([id, each]) => (taken.has(id) ? [each] : []));
    return answers.flatMap(({ n, atMs }, at) => {
      const before = answers.slice(0, at).findLast((each) => each.n === n);
      return before === undefined || atMs - before.atMs > AGAIN_MS ? [] : [`${n}: asked twice`];
    });
  });
}

type Outcomes = Awaited<ReturnType<typeof followOutcomes>>;

/** Every answer that counted has an outcome that is true by the servers' journal. */
async function untilTold(
  people: readonly Person[],
  outcomes: Outcomes,
  at: ResidentWorld,
): Promise<readonly string[]> {
  const answers = people.flatMap(({ said, taken }) =>
    [...said].flatMap(([id, each]) => (taken.has(id) ? [{ id, ...each }] : [])),
  );
  for (;;) {
    const found = await outcomes.find(answers.map(({ id }) => id));
    const by = new Map(found.map((each) => [each.id, each]));
    const stateOf = ({ id, decision }: (typeof answers)[number]): string =>
      decision === "approved"
        ? (by.get(id)?.run?.state ?? "waiting")
        : (by.get(id)?.status ?? "waiting");
    // It has an end, in time: what nobody comes back for ends after a minute.
    if (answers.some((each) => ["waiting", "started"].includes(stateOf(each)))) {
      await wait(100);
      continue;
    }
    return untrue(
      answers.map((each) => ({ ...each, state: stateOf(each) })),
      ranIn(at),
    );
  }
}

/** Of several answers to one call one at most has run. */
function untrue(
  answers: readonly (Said & { readonly state: string })[],
  ran: ReturnType<typeof ranIn>,
): readonly string[] {
  return [...new Set(answers.map(({ n }) => n))].flatMap((n) => {
    const own = answers.filter((each) => each.n === n);
    const states = own.map(({ state }) => state);
    const told = states.filter((state) => state === "ran" || state === "failed").length;
    const isRun = ran.has(String(n));
    const isOpen = states.includes("unknown");
    const isNo = own.every(({ decision }) => decision === "denied");
    const isTrue = isNo
      ? !isRun && states.every((state) => state === "denied")
      : told === Number(isRun) || (isOpen && told === 0);
    return isTrue ? [] : [`${n}: its approver was told "${states.join()}"`];
  });
}
