/**
 * The people that a gate is given: checked once, so that no two names are one person and nobody
 * counts twice. Format: spec/consent.md §9.
 */
import { personKey } from "../approval/person.js";
import { ConsentError } from "../errors.js";
import type { Policy, RuleSummary } from "../policy/policy.js";
import { quote } from "@acp/exec-safety/text";
import type { Approver, GateOptions } from "./consent-gate.js";

/** @throws ConsentError `options_invalid` where it does not hold. */
export function requireOption(holds: boolean, why: string): void {
  if (!holds) throw new ConsentError("options_invalid", `Cannot create a gate: ${why}`);
}

function checkApprovers(approvers: readonly Approver[]): void {
  const [names, subjects] = [new Map<string, string>(), new Map<string, string>()];
  for (const { id, channel, subject } of approvers) {
    requireOption(
      [id, channel, subject].every((text) => personKey(text) !== ""),
      'an approver has an "id", a "channel" or a "subject" in which nothing can be seen',
    );
    const name = names.get(personKey(id)) ?? id;
    requireOption(name === id, `${quote(name)} and ${quote(id)} are the same name of an approver`);
    names.set(personKey(id), id);
    const place = JSON.stringify([channel, personKey(subject)]);
    const other = subjects.get(place) ?? id;
    requireOption(
      other === id,
      `${quote(other)} and ${quote(id)} are the same subject ${quote(subject)} of the channel ${quote(channel)}`,
    );
    subjects.set(place, id);
  }
}

function checkGroups(
  groups: NonNullable<GateOptions["groups"]>,
  approvers: readonly Approver[] | undefined,
): void {
  const ids = new Set((approvers ?? []).map(({ id }) => personKey(id)));
  const names = new Map<string, string>();
  for (const [name, members] of Object.entries(groups)) {
    const other = names.get(personKey(name));
    requireOption(
      other === undefined,
      `the groups ${quote(other ?? "")} and ${quote(name)} have the same name`,
    );
    names.set(personKey(name), name);
    requireOption(
      !ids.has(personKey(name)),
      `the group ${quote(name)} has the name of an approver`,
    );
    for (const id of members)
      requireOption(
        approvers === undefined || ids.has(personKey(id)),
        `the group ${quote(name)} names ${quote(id)}, who is not an approver`,
      );
  }
}

/** Who a gate is given to ask, and what it asks them for. */
export interface People {
  readonly policy?: GateOptions["policy"] | undefined;
  readonly approvers?: GateOptions["approvers"] | undefined;
  readonly groups?: GateOptions["groups"] | undefined;
}

/**
 * The first rule that asks several people; `undefined` where none does. Several approvals count
 * only where a gate has named `approvers`: without them, one person on two channels would count
 * twice.
 */
export function ruleForSeveral({ rules }: Policy): RuleSummary | undefined {
  return rules.find(({ quorum = 1 }) => quorum > 1);
}

/**
 * Checks a gate's approvers and groups, and that a policy that asks several people has named ones.
 * A policy that is a function is checked at each decision.
 *
 * @throws ConsentError `options_invalid`.
 */
export function checkPeople({ policy, approvers, groups }: People): void {
  checkApprovers(approvers ?? []);
  checkGroups(groups ?? {}, approvers);
  if (approvers !== undefined || policy === undefined || typeof policy === "function") return;
  const rule = ruleForSeveral(policy);
  requireOption(
    rule === undefined,
    `rule "${rule?.ruleId}" needs ${rule?.quorum} people, and "approvers" names nobody`,
  );
}
