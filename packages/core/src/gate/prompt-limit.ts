/**
 * Prompt limit: how many questions one agent may put to people. Who drowns in questions stops
 * reading them.
 */
import { rootOf } from "../layers.js";
import type { Denied } from "../verdict.js";
import { deny } from "./deny.js";
import type { AskParts, KeptParts } from "./gate-parts.js";
import type { Agent } from "../types/agent.js";

/** Counts one question; the deny where the agent has asked too many. */
export async function capPrompts(
  { store, within, promptLimit }: KeptParts & Pick<AskParts, "promptLimit">,
  agent: Agent,
): Promise<Denied | undefined> {
  if (promptLimit === "none") return undefined;
  const { max, windowMs } = promptLimit;
  const reserved = await within(
    store.limits.reserve([{ key: `prompts:${rootOf(agent)}`, amount: 1, max, windowMs }]),
    "the store",
  );
  if (!reserved.ok) {
    const { retryAfterMs } = reserved;
    return deny(
      "too_many_questions",
      `more than ${max} questions in ${Math.ceil(windowMs / 1_000)} s`,
      { retryAfterMs },
    );
  }
  await within(store.limits.settle(reserved.id, true), "the store");
  return undefined;
}
