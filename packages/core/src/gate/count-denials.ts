/**
 * Counting denials: an agent that is refused the same thing in a loop must not fill the log. The
 * first of a kind are written one by one; what comes after them within the window is refused all
 * the same, counted, and written as one event. Format: spec/audit.md §3.
 */
import { actionDigest, sha256Digest } from "../action/digest.js";
import type { Action } from "../action/action.js";
import { rootOf } from "../layers.js";
import {
  DENIALS_COUNTED_MAX,
  DENIALS_WINDOW_MS,
  DENIALS_WRITTEN_MAX,
  DENIAL_KINDS_MAX,
  DENIAL_NAMES_MAX,
} from "../limits.js";
import { logEvent } from "../log-event.js";
import type { Agent } from "../types/agent.js";
import type { AuditEventInput } from "../types/audit-event.js";
import type { Clock, Ids } from "../types/clock.js";
import type { DenyCode } from "../deny-codes.js";

/** A denial, as far as it says which others are of its kind. */
export interface CountedDenial {
  readonly agent: Agent;
  readonly action: Action;
  readonly rule: string;
  readonly code: DenyCode;
}

/** The denials of one gate. */
export interface DenialCount {
  /**
   * Takes the next one.
   *
   * @returns Whether it is written itself, and what was counted and is to be written before it.
   */
  take(denial: CountedDenial): {
    readonly isWritten: boolean;
    readonly due: readonly AuditEventInput[];
  };
  /** All that was counted and is not written yet: where the gate closes. */
  rest(): readonly AuditEventInput[];
}

/**
 * What was refused within one window for one reason: whose it was, the rule and the code are not
 * the agent's to choose, as names and arguments are.
 */
interface Kind {
  readonly agent: string;
  readonly rule: string;
  readonly code: DenyCode;
  readonly sinceMs: number;
  written: number;
  counted: number;
  firstMs: number;
  lastMs: number;
  digest: string;
  names: readonly string[];
}

/** Makes the count of one gate. */
export function createDenialCount({
  clock,
  ids,
  isolation,
}: {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly isolation: string;
}): DenialCount {
  const kinds = new Map<string, Kind>();
  const takeOut = (kind: Kind): readonly AuditEventInput[] => {
    if (kind.counted === 0) return [];
    const { agent, rule, code, counted: count, firstMs, lastMs, names, digest } = kind;
    const text = `${count} more denials of this agent were enforced and not written one by one`;
    const metadata = {
      isolation,
      notice: "denials_counted",
      text,
      code,
      count,
      first_ms: firstMs,
      last_ms: lastMs,
      names: [...names],
      digest,
    };
    Object.assign(kind, { counted: 0, digest: "", names: [] });
    const event = logEvent("gate_notice", { id: ids.next("ae"), atMs: clock.now() }, metadata);
    return [{ ...event, agent, decision: "deny", policyRule: rule }];
  };
  /** Windows that are over. A clock that went back ends them as well. */
  const close = (nowMs: number): readonly AuditEventInput[] => {
    const over = [...kinds].filter(
      ([, { sinceMs }]) => nowMs - sinceMs >= DENIALS_WINDOW_MS || nowMs < sinceMs,
    );
    for (const [key] of over) kinds.delete(key);
    return over.flatMap(([, kind]) => takeOut(kind));
  };
  return {
    take({ agent, action, rule, code }) {
      const nowMs = clock.now();
      const due = close(nowMs);
      const key = JSON.stringify([rootOf(agent), action.meta.kind, rule, code]);
      const kind = kinds.get(key) ?? makeKind({ agent: rootOf(agent), rule, code, sinceMs: nowMs });
      // Rules are a policy's, and few; should there be more than can be counted, they are written.
      if (kinds.size < DENIAL_KINDS_MAX) kinds.set(key, kind);
      if (!kinds.has(key) || kind.written < DENIALS_WRITTEN_MAX) {
        kind.written += 1;
        return { isWritten: true, due };
      }
      countOne(kind, action, nowMs);
      return {
        isWritten: false,
        due: kind.counted < DENIALS_COUNTED_MAX ? due : [...due, ...takeOut(kind)],
      };
    },
    rest: () => [...kinds.values()].flatMap(takeOut),
  };
}

function makeKind(kind: Pick<Kind, "agent" | "rule" | "code" | "sinceMs">): Kind {
  return { ...kind, written: 0, counted: 0, firstMs: 0, lastMs: 0, digest: "", names: [] };
}

function countOne(kind: Kind, action: Action, nowMs: number): void {
  if (kind.counted === 0) kind.firstMs = nowMs;
  kind.counted += 1;
  kind.lastMs = nowMs;
  // Over the one before and this action's: whoever has the actions can show that it was these, in
  // this order.
  kind.digest = sha256Digest([kind.digest, actionDigest(action)]);
  const name = whatOf(action);
  if (!kind.names.includes(name) && kind.names.length < DENIAL_NAMES_MAX)
    kind.names = [...kind.names, name];
}

function whatOf({ name, meta }: Action): string {
  if (meta.kind === "http") return `${meta.host}:${meta.port}`;
  return meta.kind === "tool" ? `${meta.server}/${name}` : name;
}
