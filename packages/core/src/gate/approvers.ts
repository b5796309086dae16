/** Approvers: who of the people that a gate was given may answer a question, and who did. */
import { quote } from "@acp/exec-safety/text";
import { distinctPeople, includesPerson } from "../approval/person.js";
import type { Agent } from "../types/agent.js";
import type { PeopleParts } from "./gate-parts.js";
import type { MergedAsk } from "./merge-ask.js";

/**
 * Who may answer a question: `undefined` where the channel's own authenticated person may, empty
 * where nobody may. The agent and its parents never do.
 */
export function eligibleApprovers(
  parts: Pick<PeopleParts, "approvers">,
  { approvers: wanted }: Pick<MergedAsk, "approvers">,
  agent: Agent,
): readonly string[] | undefined {
  const known =
    parts.approvers === undefined ? undefined : distinctPeople(parts.approvers.map(({ id }) => id));
  const both =
    known === undefined || wanted === undefined
      ? (known ?? wanted)
      : known.filter((id) => includesPerson(wanted, id));
  const excluded = [agent.id, ...(agent.parents ?? [])];
  return both?.filter((id) => !includesPerson(excluded, id));
}

/** The approver that a channel's authenticated subject is, or `undefined` for nobody we know. */
export function approverOf(
  { approvers }: Pick<PeopleParts, "approvers">,
  by: { readonly channel: string; readonly subject: string },
): string | undefined {
  if (approvers === undefined) return by.subject;
  return approvers.find(({ channel, subject }) => channel === by.channel && subject === by.subject)
    ?.id;
}

/**
 * That somebody whose yes was taken is no approver any more, as after a start with other people;
 * `undefined` where all of them are.
 */
export function whoLeft(
  { approvers }: Pick<PeopleParts, "approvers">,
  ids: readonly string[],
): string | undefined {
  const known = approvers?.map(({ id }) => id);
  const left = known === undefined ? undefined : ids.find((id) => !includesPerson(known, id));
  return left === undefined ? undefined : `${quote(left)}, who approved, is no longer an approver`;
}
