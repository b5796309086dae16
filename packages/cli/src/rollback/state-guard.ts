/**
 * State guard: holds the files of a home that carry consent against its logs, and notes each save
 * there. One for all of them; what is different is how a file says which save it is.
 */
import { randomIds, systemClock } from "@acp/core";
import type { AuditEventInput } from "@acp/core";
import { judgeState, stateSavedEvent } from "@acp/core/unstable";
import type { FileState, StateKind, StateMark } from "@acp/core/unstable";
import type { HomePaths, StateGuard } from "@acp/home";
import { followNotedStates } from "./noted-states.js";
import type { NotedFollower } from "./noted-states.js";

/** Writes events into a log of the home. */
export type Append = (events: readonly AuditEventInput[]) => Promise<unknown>;

/** For who saves nothing. */
export const nothingSaved: Append = () => Promise.resolve();

/** Guards the files of one home in one process. */
export interface RollbackGuard {
  /** The guard of one file. */
  of(kind: StateKind): StateGuard;
  /** Says that a file does not count, each text once. */
  tell(text: string): void;
  /** Where saves are noted from now on, and who hears of files that do not count. */
  heed(append: Append, say: (text: string) => void): void;
}

/**
 * Creates the guard; until it is told where, it notes nothing.
 *
 * @param noted - Of a process that has several guards: what one of them read, all know.
 */
export function createRollbackGuard(
  home: Pick<HomePaths, "dir" | "keysDir">,
  append: Append = nothingSaved,
  noted: NotedFollower = followNotedStates(home),
): RollbackGuard {
  const guards = new Map<StateKind, StateGuard>();
  const told = new Set<string>();
  const waiting: string[] = [];
  let write = append;
  let say: ((text: string) => void) | undefined;
  return {
    of(kind) {
      const there = guards.get(kind);
      if (there !== undefined) return there;
      const made = guardOf(kind, noted, (mark) => write([savedEvent(mark)]));
      guards.set(kind, made);
      return made;
    },
    tell(text) {
      if (told.has(text)) return;
      told.add(text);
      if (say === undefined) waiting.push(text);
      else say(text);
    },
    heed(nextAppend, nextSay) {
      write = nextAppend;
      say = nextSay;
      for (const text of waiting.splice(0)) say(text);
    },
  };
}

const savedEvent = (mark: StateMark): AuditEventInput =>
  stateSavedEvent(mark, { id: randomIds.next("ae"), atMs: systemClock.now() });

function guardOf(
  kind: StateKind,
  noted: NotedFollower,
  note: (mark: StateMark) => Promise<unknown>,
): StateGuard {
  // What this process has seen, which the log may not note: a use of a grant is not.
  let seen: { readonly counter: number; readonly restore: string | undefined } | undefined;
  return {
    async counter() {
      return Math.max((await noted.newest()).get(kind)?.counter ?? 0, seen?.counter ?? 0);
    },
    async whyNot(state) {
      const mark = (await noted.newest()).get(kind);
      const restore = mark?.event.eventType === "home_restored" ? mark.event.id : undefined;
      if (restore !== undefined && restore !== seen?.restore) seen = undefined;
      const why = whyOlder(state, mark);
      if (why !== undefined) return why;
      if (seen !== undefined && state.counter < seen.counter)
        return `it is an older one (save ${state.counter}) than this gate has seen (save ${seen.counter})`;
      // A number that nobody sealed would have every later save be above it.
      seen = { counter: state.isSealed ? state.counter : (seen?.counter ?? 0), restore };
      return undefined;
    },
    async saved({ counter, hash }, isNoted) {
      seen = { counter, restore: seen?.restore };
      if (isNoted) await note({ kind, counter, hash });
    },
  };
}

/** Why a state does not count; `undefined` where it does. */
export function whyOlder(state: FileState, mark: StateMark | undefined): string | undefined {
  const result = judgeState(state, mark);
  switch (result) {
    case "noted":
    case "newer":
      return undefined;
    case "older":
      return `it is an older one (save ${state.counter}) than the log notes (save ${mark?.counter ?? 0})`;
    case "other":
      return `it is another one (save ${state.counter}) than the log notes (save ${mark?.counter ?? 0})`;
    default:
      return result satisfies never;
  }
}

/** What a person is told of a file that does not count, with the command. */
export function olderText(path: string, kind: "grants" | "passkeys", why: string): string {
  return `${path} does not count: ${why}; acp doctor --fix ${kind}_rolled_back sets it aside`;
}
