/**
 * Server room: how much judging servers may cause by what they ask of the client. Each request takes
 * a place of the client's room, as a call does. What has no turn waits, and what rules allow does not
 * wait for people: one server has only a few questions open, because the client's other calls need
 * people too. Rules: spec/mcp-proxy.md §18.
 */
import { createHash } from "node:crypto";
import type { Clock, JsonObject, Ruling } from "@acp/core";
import type { RequestRoom } from "../in-flight.js";

/** What a request is about: the same one again continues its question. */
export interface ServersQuestion {
  readonly method: string;
  readonly args: JsonObject;
  /** Of its line. */
  readonly bytes: number;
  /** What the rules say of it now. */
  readonly effect: Ruling["effect"];
}

/** A place for one request. */
export interface ServerPlace {
  /** It is judged: no question of it is open any more. */
  judged(): void;
  /**
   * It is answered, or taken back; one that waits for its turn gets none.
   *
   * @param openUntilMs - Wall time until which its question may stay open.
   */
  over(openUntilMs?: number): void;
}

/** The places of all servers of one client. */
export interface ServerRoom {
  /**
   * @param begin - Called once, when it is its turn; perhaps before this returns.
   * @returns `undefined` where the client has no room for it.
   */
  enter(server: string, question: ServersQuestion, begin: () => void): ServerPlace | undefined;
  /** A server is gone: what waits gets no turn. */
  forget(server: string): void;
}

/** Questions of one server that may be before people at a time. */
export const QUESTIONS_MAX = 2;

/** How many begin at once, and after how long there is one more. */
interface Rate {
  readonly burst: number;
  readonly everyMs: number;
}

/** Of what people are asked about, or what is denied: each of them is in the log. */
const SLOW: Rate = { burst: 8, everyMs: 500 };
/** Of what rules allow: each of them is in the log, too. */
const QUICK: Rate = { burst: 64, everyMs: 50 };

interface Brake {
  readonly rate: Rate;
  left: number;
  filledAtMs: number;
}

interface Question {
  readonly key: string;
  /** `undefined` while its request is under way. */
  openUntilMs: number | undefined;
}

interface Waiting {
  readonly question: Question;
  readonly effect: Ruling["effect"];
  readonly begin: () => void;
}

/** What one server has. */
interface Own {
  questions: readonly Question[];
  /** In the order in which they came. */
  waiting: readonly Waiting[];
  readonly slow: Brake;
  readonly quick: Brake;
  /** Ends the wait for the next turn. */
  stop: AbortController;
}

/** Nobody asked yet. */
export function createServerRoom(clock: Clock, room: RequestRoom | undefined): ServerRoom {
  const servers = new Map<string, Own>();
  const ownOf = (server: string): Own => {
    const own = servers.get(server) ?? newOwn(clock);
    servers.set(server, own);
    return own;
  };
  return {
    enter(server, { method, args, bytes, effect }, begin) {
      const own = ownOf(server);
      const place = room?.enter({ bytes, isCall: true });
      if (place !== undefined && "full" in place) return undefined;
      const text = JSON.stringify([method, args]);
      const key = createHash("sha256").update(text).digest("hex");
      const question: Question = { key, openUntilMs: undefined };
      own.waiting = [...own.waiting, { question, effect, begin }];
      const judged = (): void => {
        own.questions = own.questions.filter((each) => each !== question);
        own.waiting = own.waiting.filter((each) => each.question !== question);
        giveTurns(own, clock);
      };
      giveTurns(own, clock);
      return {
        judged,
        over(openUntilMs): void {
          place?.leave();
          question.openUntilMs = openUntilMs;
          if (openUntilMs === undefined) judged();
          else giveTurns(own, clock);
        },
      };
    },
    forget(server): void {
      const own = servers.get(server);
      if (own === undefined) return;
      own.waiting = [];
      own.stop.abort();
    },
  };
}

function newOwn(clock: Clock): Own {
  const brake = (rate: Rate): Brake => ({ rate, left: rate.burst, filledAtMs: clock.monotonic() });
  return {
    questions: [],
    waiting: [],
    slow: brake(SLOW),
    quick: brake(QUICK),
    stop: new AbortController(),
  };
}

/** Begins what has a turn now, and comes back when the next one may have. */
function giveTurns(own: Own, clock: Clock): void {
  const nowMs = clock.now();
  own.questions = own.questions.filter(({ openUntilMs = Infinity }) => openUntilMs > nowMs);
  for (const brake of [own.slow, own.quick]) refill(brake, clock.monotonic());
  const begun = own.waiting.filter((each) => takesTurn(own, each));
  own.waiting = own.waiting.filter((each) => !begun.includes(each));
  own.stop.abort();
  own.stop = new AbortController();
  const ms = nextMs(own, nowMs);
  if (ms !== undefined)
    clock.sleep(ms, { signal: own.stop.signal, background: true }).then(
      () => giveTurns(own, clock),
      () => {},
    );
  // Last: what begins may be over at once, and give turns itself.
  for (const { begin } of begun) begin();
}

function takesTurn(own: Own, { question, effect }: Waiting): boolean {
  const brake = effect === "allow" ? own.quick : own.slow;
  if (brake.left < 1) return false;
  if (effect === "ask") {
    // The same again, whose question goes on without its request, continues that.
    const others = own.questions.filter(
      ({ key, openUntilMs }) => openUntilMs === undefined || key !== question.key,
    );
    if (others.length >= QUESTIONS_MAX) return false;
    own.questions = [...others, question];
  }
  brake.left--;
  return true;
}

/** When something may change by itself; `undefined` where nothing waits for that. */
function nextMs({ waiting, questions, slow, quick }: Own, nowMs: number): number | undefined {
  const times = waiting.flatMap(({ effect }) => {
    const { left, rate } = effect === "allow" ? quick : slow;
    if (left < 1) return [Math.ceil((1 - left) * rate.everyMs)];
    return questions.flatMap(({ openUntilMs }) =>
      openUntilMs === undefined ? [] : [Math.max(1, openUntilMs - nowMs)],
    );
  });
  return times.length === 0 ? undefined : Math.min(...times);
}

function refill(brake: Brake, nowMs: number): void {
  const { burst, everyMs } = brake.rate;
  brake.left = Math.min(burst, brake.left + (nowMs - brake.filledAtMs) / everyMs);
  brake.filledAtMs = nowMs;
}
