/**
 * A small world around real gates: processes that die and start again over one store and one log
 * that do not. Every operation on store and log goes through a turnstile, so that a process can die
 * at each of them, and operations under way can be let through in any order.
 */
import {
  type Action,
  actionDigest,
  type AnswerParts,
  type AnswerReceipt,
  type AskSession,
  type AuditEventInput,
  type Clock,
  type ConsentGate,
  type ConsentRequest,
  createConsentGate,
  makeResponse,
  memoryStore,
  type Pending,
  type PendingRecord,
  type Policy,
  toolAction,
  type Verdict,
} from "../src/index.js";
import { seededIds } from "@acp/testing";
import { AsyncLocalStorage } from "node:async_hooks";
import { never, turnedStore } from "./space-store.js";

export const AGENT = { id: "demo" };
export const PEOPLE = ["ada", "bob"] as const;
export const EDITED = { path: "edited" };
/** The action that call `index` asks for. */
export const actionOf = (index: number): Action =>
  toolAction("files", "write_file", { path: `call ${index}` });

/**
 * Turns after which nothing of the world has anything left to do: none of its operations takes a
 * timer. More change no figure of any test.
 */
const TURNS = 80;
const TURN: Promise<void> = Promise.resolve();

/** Lets everything run that waits for nothing but its turn. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < TURNS; turn++) await TURN;
}

/** One operation on store or log that waits for its turn. */
export interface Waiting {
  /** Who does it: the work it belongs to, and what it is. */
  readonly thread: string;
  readonly what: string;
  /** Lets it through. */
  readonly pass: () => void;
}

/** An operation on store or log, and how much was released when it began. */
export interface Operation {
  readonly what: string;
  readonly released: number;
}

/** What was performed. */
export interface Released {
  readonly call: number;
  readonly digest: string;
  readonly requestId: string;
  /** How long the log was. */
  readonly logged: number;
}

/** One call of the agent, over all processes. */
interface Call {
  readonly action: Action;
  /** The question that was asked for it first. */
  requestId?: string;
  pending?: Pending;
  state: "none" | "waiting" | "over" | "deferred" | "gone";
}

interface Shown {
  readonly request: ConsentRequest;
  readonly session: AskSession;
}

/** A process: a gate, and whether it is alive. */
export interface Process {
  readonly gate: ConsentGate;
  readonly shown: Map<string, Shown>;
  alive: boolean;
}

/**
 * Lets operations through: at once, until one at which the process dies, or when the test says so.
 */
export type Turnstile =
  | { readonly kind: "open" }
  /**
   * Dies at operation `at`, counted from 1: before it has an effect, or after it and before anybody
   * hears of it.
   */
  | { readonly kind: "dies"; readonly at: number; readonly applied: boolean }
  | { readonly kind: "by hand" };

export interface World {
  readonly log: readonly AuditEventInput[];
  readonly released: readonly Released[];
  readonly calls: readonly Call[];
  readonly waiting: readonly Waiting[];
  /** What every thread found out so far: all that its next operation can depend on. */
  readonly history: ReadonlyMap<string, readonly string[]>;
  process: Process | undefined;
  turnstile: Turnstile;
  /** Operations since the turnstile was set. */
  readonly operations: Operation[];
  /** How often the clock was set forward. */
  phase: number;
  record(index: number): PendingRecord | undefined;
  records(): readonly PendingRecord[];
  ask(index: number): Promise<void>;
  defer(index: number): Promise<void>;
  retry(index: number): Promise<void>;
  answer(
    index: number,
    who: string,
    decision: AnswerParts["decision"],
    nonceOf?: number,
  ): Promise<AnswerReceipt | undefined>;
  /** Hands an answer in without waiting; `told` hears what became of it. */
  submit(
    index: number,
    who: string,
    decision: AnswerParts["decision"],
    told: (receipt: AnswerReceipt) => void,
    nonceOf?: number,
  ): void;
  advance(ms: number): Promise<void>;
  /** Sets the clock forward when its turn comes, as one operation among others. */
  advanceLater(ms: number): void;
  now(): number;
  crash(): void;
  restart(): Promise<readonly string[]>;
}

interface Sleeper {
  readonly dueMs: number;
  readonly wake: () => void;
}

/** What an operation told who did it: of a record its version says all. */
function summaryOf(result: unknown): string {
  return typeof result === "object" && result !== null && "version" in result
    ? String(result.version)
    : (JSON.stringify(result) ?? "");
}

const thread = new AsyncLocalStorage<string>();
/** Runs work whose operations are told apart from others'. */
export const inThread = <T>(name: string, work: () => T): T => thread.run(name, work);

export function makeWorld({
  policy,
  calls: count,
}: {
  readonly policy: Policy;
  readonly calls: number;
}): World {
  let nowMs = 1_768_473_000_000;
  let processes = 0;
  let sleepers = new Set<Sleeper>();
  const clock: Clock = {
    now: () => nowMs,
    monotonic: () => nowMs,
    bootId: () => "boot_1",
    uptimeMs: () => nowMs,
    sleep: (ms, { signal }) =>
      new Promise((resolve, reject) => {
        const mine = sleepers;
        const sleeper = { dueMs: nowMs + ms, wake: resolve };
        mine.add(sleeper);
        signal.addEventListener("abort", () => (mine.delete(sleeper), reject(new Error("over"))), {
          once: true,
        });
      }),
  };
  const log: AuditEventInput[] = [];
  const released: Released[] = [];
  const waiting: Waiting[] = [];
  const history = new Map<string, string[]>();
  const store = memoryStore(clock);
  const seen = new Map<string, PendingRecord>();
  const calls: Call[] = Array.from({ length: count }, (_, index) => ({
    action: actionOf(index),
    state: "none",
  }));

  /** One operation of a process. A dead one waits for ever. */
  const turn = async <T>(process: Process, what: string, work: () => Promise<T>): Promise<T> => {
    if (!process.alive) return never();
    const at = world.operations.push({ what, released: released.length });
    const { turnstile } = world;
    if (turnstile.kind === "dies" && at >= turnstile.at) {
      if (turnstile.applied && at === turnstile.at) await work();
      world.crash();
      return never();
    }
    if (turnstile.kind === "by hand") {
      await new Promise<void>((resolve) => {
        const one: Waiting = {
          thread: thread.getStore() ?? "",
          what,
          pass: () => (waiting.splice(waiting.indexOf(one), 1), resolve()),
        };
        waiting.push(one);
      });
      if (!process.alive) return never();
    }
    const result = await work();
    if (!process.alive) return never();
    const name = thread.getStore() ?? "";
    history.set(name, [...(history.get(name) ?? []), `${what} ${summaryOf(result)}`]);
    return result;
  };

  const start = (): Process => {
    const shown = new Map<string, Shown>();
    const process: Process = { shown, alive: true, gate: undefined as never };
    const gate = createConsentGate({
      policy,
      clock,
      ids: seededIds(++processes),
      store: turnedStore(store, {
        seen,
        turn: (what, work) => turn(process, what, work),
        isAlive: () => process.alive,
      }),
      approvers: [...PEOPLE, AGENT.id].map((id) => ({ id, channel: "test", subject: id })),
      channel: {
        name: "test",
        deliver(request, session) {
          shown.set(request.id, { request, session });
          return Promise.resolve();
        },
      },
      audit: {
        append: (events) =>
          turn(process, "append", () => {
            log.push(...events);
            return Promise.resolve({ seq: log.length - 1, hash: "" });
          }),
      },
    });
    return Object.assign(process, { gate });
  };

  /** What an agent does with its verdict: it performs what it may. */
  const take = (process: Process, index: number, settled: Promise<Verdict>): void => {
    const call = calls[index];
    void settled.then(async (verdict) => {
      if (!process.alive || call === undefined) return;
      if (call.state !== "deferred") call.state = "over";
      if (verdict.decision === "deny") return;
      await process.gate.perform(verdict, (release) => {
        released.push({
          call: index,
          digest: actionDigest(release.action),
          requestId: verdict.requestId ?? "",
          logged: log.length,
        });
        return Promise.resolve();
      });
    });
  };

  const open = async (index: number): Promise<Verdict | Pending | undefined> => {
    const [process, call] = [world.process, calls[index]];
    let result: Verdict | Pending | undefined;
    if (process === undefined || call === undefined) return undefined;
    void process.gate.open(call.action, { agent: AGENT }).then((opened) => (result = opened));
    await settle();
    return process.alive ? result : undefined;
  };

  const world: World = {
    log,
    released,
    calls,
    waiting,
    history,
    process: undefined,
    turnstile: { kind: "open" },
    operations: [],
    phase: 0,
    record: (index) => seen.get(calls[index]?.requestId ?? ""),
    records: () => [...seen.values()],
    async ask(index) {
      const [process, call] = [world.process, calls[index]];
      if (process === undefined || call === undefined) return;
      const before = new Set(seen.keys());
      const opened = await open(index);
      // Also a process that dies while it asks may have left a question behind.
      call.requestId ??= [...seen.keys()].find((id) => !before.has(id)) ?? "";
      if (opened === undefined || opened.decision !== "pending") return void (call.state = "gone");
      [call.state, call.pending] = ["waiting", opened];
      take(process, index, opened.settled);
      await settle();
    },
    async defer(index) {
      const call = calls[index];
      if (call?.pending === undefined || call.state !== "waiting") return;
      call.state = "deferred";
      void call.pending.defer().then((isDeferred) => {
        if (!isDeferred && call.state === "deferred") call.state = "over";
      });
      await settle();
    },
    async retry(index) {
      const [process, call] = [world.process, calls[index]];
      if (process === undefined || call === undefined) return;
      const opened = await open(index);
      if (opened === undefined) return;
      if (opened.decision !== "pending") {
        call.state = "over";
        return (take(process, index, Promise.resolve(opened)), settle());
      }
      if (opened.requestId === call.requestId) {
        [call.state, call.pending] = ["waiting", opened];
        take(process, index, opened.settled);
      } else void opened.withdraw("a question of its own is not looked into");
      await settle();
    },
    submit(index, who, decision, told, nonceOf = index) {
      const process = world.process;
      const { requestId = "" } = calls[index] ?? {};
      const request = seen.get(requestId)?.request;
      const nonce = seen.get(calls[nonceOf]?.requestId ?? "")?.request.nonce;
      if (process === undefined || request === undefined || nonce === undefined) return;
      const parts = { decision, nowMs, channel: "test", validUntilMs: nowMs + 300_000 };
      const edit = decision === "approved_with_modifications" ? { modifications: EDITED } : {};
      const claim = makeResponse({ ...request, nonce }, { ...parts, ...edit });
      const session = process.shown.get(requestId)?.session;
      const given =
        session?.submit(claim, { subject: who }) ??
        process.gate.answer(claim, { channel: "test", subject: who });
      void given.then(told);
    },
    async answer(index, who, decision, nonceOf) {
      let receipt: AnswerReceipt | undefined;
      world.submit(index, who, decision, (each) => (receipt = each), nonceOf);
      await settle();
      return receipt;
    },
    async advance(ms) {
      nowMs += ms;
      world.phase++;
      for (const { dueMs, wake } of [...sleepers].toSorted((a, b) => a.dueMs - b.dueMs))
        if (dueMs <= nowMs) wake();
      await settle();
    },
    advanceLater(ms) {
      const one: Waiting = {
        thread: thread.getStore() ?? "",
        what: "time passes",
        pass: () => {
          waiting.splice(waiting.indexOf(one), 1);
          void world.advance(ms);
        },
      };
      waiting.push(one);
    },
    now: () => nowMs,
    crash() {
      if (world.process === undefined) return;
      world.process.alive = false;
      world.process = undefined;
      sleepers = new Set();
      waiting.length = 0;
      for (const call of calls) {
        delete call.pending;
        if (call.state === "waiting") call.state = "gone";
      }
    },
    async restart() {
      world.turnstile = { kind: "open" };
      world.operations.length = 0;
      const process = start();
      world.process = process;
      await process.gate.resume();
      await settle();
      return [...process.shown].filter(([, { session }]) => session.redelivery).map(([id]) => id);
    },
  };
  world.process = start();
  return world;
}
