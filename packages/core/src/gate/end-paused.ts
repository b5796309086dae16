/**
 * EndPaused: the open questions of agents that are paused end as denied. Who may pause is not
 * decided here: the gate asks its own `pausedAgent`, so that whoever asks for this can end nothing
 * that is not paused already.
 */
import { endQuestion } from "./end-question.js";
import type { JudgeParts, OpenParts, QuestionParts } from "./gate-parts.js";
import type { PausedEnd } from "./reports.js";

/** Questions that are ended at once: their events share few writes of the log. */
const AT_ONCE = 32;

/**
 * Ends one question where its agent is paused; `undefined` where it is not, or the question is
 * over. Never rejects.
 */
async function endOne(
  parts: QuestionParts & JudgeParts,
  id: string,
): Promise<keyof PausedEnd | undefined> {
  try {
    const record = await parts.within(parts.store.pending.get(id), "the store");
    const why =
      record === undefined || record.status === "ended"
        ? undefined
        : parts.pausedAgent(record.request.agent);
    if (why === undefined) return undefined;
    return (await endQuestion(parts, id, {
      type: "pause",
      reason: why,
      denyCode: "agent_paused",
    }))
      ? "ended"
      : undefined;
  } catch {
    return "left";
  }
}

/** Ends every open question of this gate whose agent is paused now. Never rejects. */
export async function endPaused(parts: QuestionParts & JudgeParts & OpenParts): Promise<PausedEnd> {
  const ids = parts.questions.ids();
  const ends: (keyof PausedEnd | undefined)[] = [];
  for (let at = 0; at < ids.length; at += AT_ONCE)
    ends.push(...(await Promise.all(ids.slice(at, at + AT_ONCE).map((id) => endOne(parts, id)))));
  const count = (which: keyof PausedEnd): number => ends.filter((end) => end === which).length;
  return { ended: count("ended"), left: count("left") };
}
