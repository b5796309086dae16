/**
 * Open questions: which of them a gate shows, and how many are whose. No agent can take all places,
 * so that none can keep another from asking.
 */
import { rootOf } from "../layers.js";
import { PENDING_MAX, PENDING_PER_AGENT_MAX } from "../limits.js";
import type { QuestionRoom } from "../ports.js";
import type { Agent } from "../types/agent.js";
import type { DenyCode } from "../deny-codes.js";

/** A place for a question that is about to be asked, or why there is none. */
export type QuestionPlace =
  | { readonly full: string; readonly code: DenyCode }
  /** Gives the place up; a question that is shown meanwhile has one of its own. */
  | { readonly leave: () => void };

/** The questions that one gate shows. */
export interface OpenQuestions {
  has(id: string): boolean;
  ids(): readonly string[];
  add(id: string, agent: Agent): void;
  remove(id: string): void;
  /** Takes a place before anything is waited for: calls that come at once count each other. */
  enter(agent: Agent): QuestionPlace;
}

/**
 * No question is open.
 *
 * @param room - Where the gate shares a limit with others.
 */
export function createOpenQuestions(room?: QuestionRoom): OpenQuestions {
  const roots = new Map<string, string>();
  const counts = new Map<string, number>();
  let total = 0;
  const count = (root: string, by: 1 | -1): void => {
    total += by;
    room?.count(by, root);
    const now = (counts.get(root) ?? 0) + by;
    if (now === 0) counts.delete(root);
    else counts.set(root, now);
  };
  return {
    has: (id) => roots.has(id),
    ids: () => [...roots.keys()],
    add(id, agent) {
      if (roots.has(id)) return;
      const root = rootOf(agent);
      roots.set(id, root);
      count(root, 1);
    },
    remove(id) {
      const root = roots.get(id);
      if (root === undefined) return;
      roots.delete(id);
      count(root, -1);
    },
    enter(agent) {
      const root = rootOf(agent);
      if (total >= PENDING_MAX) return full(`${PENDING_MAX} questions are open`);
      if ((counts.get(root) ?? 0) >= PENDING_PER_AGENT_MAX)
        return full(`${PENDING_PER_AGENT_MAX} questions of this agent are open`);
      const shared = room?.full(root);
      if (shared !== undefined) return full(shared, "client_limit_reached");
      count(root, 1);
      let isIn = true;
      const leave = (): void => {
        if (!isIn) return;
        isIn = false;
        count(root, -1);
      };
      return { leave };
    },
  };
}

function full(why: string, code: DenyCode = "too_many_pending"): QuestionPlace {
  return { full: why, code };
}
