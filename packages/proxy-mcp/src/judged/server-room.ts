/**
 * Server room: how much judging servers may cause by what they ask of the client. Each request takes
 * a place of the client's room, as a call does, and one server has only a few questions open: the
 * client's other calls need people too. Rules: spec/mcp-proxy.md §18.
 */
import { createHash } from "node:crypto";
import type { Clock, JsonObject } from "@acp/core";
import type { RequestRoom } from "../in-flight.js";

/** What a request is about: the same one again continues its question. */
export interface ServersQuestion {
  readonly method: string;
  readonly args: JsonObject;
  /** Of its line. */
  readonly bytes: number;
}

/** A place for one request. */
export interface ServerPlace {
  /** It is judged: no question of it is open any more. */
  judged(): void;
  /** It is answered. @param openUntilMs - Wall time until which its question may stay open. */
  over(openUntilMs?: number): void;
}

/** The places of all servers of one client. */
export interface ServerRoom {
  /** `undefined` where there is none. */
  enter(server: string, question: ServersQuestion): ServerPlace | undefined;
}

/** Requests of one server that may be before the gate, or a person, at a time. */
export const QUESTIONS_MAX = 2;
/** Requests of one server that may come at once; each of them is in the log. */
const BURST_MAX = 8;
/** After this there is one more. */
const REFILL_MS = 500;

interface Question {
  readonly key: string;
  /** `undefined` while its request is under way. */
  openUntilMs: number | undefined;
}

/** What one server has. */
interface Own {
  questions: Question[];
  burst: number;
  filledAtMs: number;
}

/** Nobody asked yet. */
export function createServerRoom(clock: Clock, room: RequestRoom | undefined): ServerRoom {
  const servers = new Map<string, Own>();
  return {
    enter(server, { method, args, bytes }) {
      const own = servers.get(server) ?? {
        questions: [],
        burst: BURST_MAX,
        filledAtMs: clock.monotonic(),
      };
      servers.set(server, own);
      refill(own, clock.monotonic());
      if (own.burst < 1) return undefined;
      const key = createHash("sha256")
        .update(JSON.stringify([method, args]))
        .digest("hex");
      const others = own.questions.filter(
        ({ key: each, openUntilMs }) =>
          openUntilMs === undefined || (openUntilMs > clock.now() && each !== key),
      );
      if (others.length >= QUESTIONS_MAX) return undefined;
      const place = room?.enter({ bytes, isCall: true });
      if (place !== undefined && "full" in place) return undefined;
      own.burst--;
      const question: Question = { key, openUntilMs: undefined };
      own.questions = [...others, question];
      const judged = (): void => {
        own.questions = own.questions.filter((each) => each !== question);
      };
      return {
        judged,
        over(openUntilMs): void {
          place?.leave();
          if (openUntilMs === undefined) judged();
          else question.openUntilMs = openUntilMs;
        },
      };
    },
  };
}

function refill(own: Own, nowMs: number): void {
  own.burst = Math.min(BURST_MAX, own.burst + (nowMs - own.filledAtMs) / REFILL_MS);
  own.filledAtMs = nowMs;
}
