/** Config, people: who may answer, and the groups that rules name. */
import { type Approver, quoteText } from "@acp/core";
import { type Spot, invalid, readList, readMap, readText } from "@acp/core/yaml";
import type { ChannelStage } from "./config-channels.js";
import { required } from "./config-values.js";

const NAME_CHARS_MAX = 256;
const CHANNEL = /^[a-z][a-z0-9-]*$/;

/** The list `approvers`. One person may have several entries; one subject of a channel is one person. */
export function readApprovers(spot: Spot): readonly Approver[] {
  const known = new Set<string>();
  return readList(spot).map((each) => {
    const entries = readMap(each, ["id", "channel", "subject"]);
    const text = (key: string): string => readText(required(each, entries, key), NAME_CHARS_MAX);
    const approver: Approver = { id: text("id"), channel: text("channel"), subject: text("subject") };
    if (!CHANNEL.test(approver.channel))
      throw invalid(entries.get("channel") ?? each, "a channel's name has small letters, digits and dashes");
    const key = `${approver.channel} ${approver.subject}`;
    if (known.has(key)) throw invalid(each, "another approver has the same channel and subject");
    known.add(key);
    return approver;
  });
}

/** The map `groups`: names to lists of approver ids. */
export function readGroups(spot: Spot | undefined, approvers: readonly Approver[]): Readonly<Record<string, readonly string[]>> {
  if (spot === undefined) return {};
  const ids = new Set(approvers.map(({ id }) => id));
  const groups = [...readMap(spot)].map(([name, each]) => {
    if (ids.has(name)) throw invalid(each, "a group and an approver have the same name", { part: "key" });
    return [name, readList(each).map((member) => readMember(member, ids))] as const;
  });
  return Object.fromEntries(groups);
}

function readMember(spot: Spot, ids: ReadonlySet<string>): string {
  const id = readText(spot, NAME_CHARS_MAX);
  if (!ids.has(id)) throw invalid(spot, `there is no approver with the id ${quoteText(id)}`);
  return id;
}

/** Who the file knows. */
interface People {
  readonly approvers: readonly Approver[] | undefined;
  readonly groups: Readonly<Record<string, readonly string[]>>;
}

/** A stage that names somebody unknown would wait for nobody. */
export function checkPeople(spot: Spot | undefined, stages: readonly ChannelStage[], { approvers, groups }: People): void {
  if (spot === undefined) return;
  const known = new Set([...(approvers ?? []).map(({ id }) => id), ...Object.keys(groups)]);
  for (const name of stages.flatMap(({ approvers: named }) => named ?? []))
    if (!known.has(name)) throw invalid(spot, `there is no approver and no group with the name ${quoteText(name)}`);
}
