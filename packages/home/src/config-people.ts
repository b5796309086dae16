/** Config, people: who may answer, and the groups that rules name. */
import { type Approver, personKey, quoteText } from "@acp/core";
import { type Spot, invalid, readList, readMap, readText } from "@acp/core/yaml";
import type { ChannelStage } from "./config-channels.js";
import { required } from "./config-values.js";

const NAME_CHARS_MAX = 256;
const CHANNEL = /^[a-z][a-z0-9-]*$/;

/**
 * The list `approvers`. One person may have several entries, all with one spelling of the name; one
 * subject of a channel is one person.
 */
export function readApprovers(spot: Spot): readonly Approver[] {
  const [subjects, names] = [new Set<string>(), new Map<string, string>()];
  return readList(spot).map((each) => {
    const entries = readMap(each, ["id", "channel", "subject"]);
    const text = (key: string): string => readName(required(each, entries, key));
    const approver: Approver = {
      id: text("id"),
      channel: text("channel"),
      subject: text("subject"),
    };
    if (!CHANNEL.test(approver.channel))
      throw invalid(
        entries.get("channel") ?? each,
        "a channel's name has small letters, digits and dashes",
      );
    const place = JSON.stringify([approver.channel, personKey(approver.subject)]);
    if (subjects.has(place))
      throw invalid(each, "another approver has the same channel and subject");
    subjects.add(place);
    const known = names.get(personKey(approver.id)) ?? approver.id;
    if (known !== approver.id)
      throw invalid(
        entries.get("id") ?? each,
        `${quoteText(known)} and ${quoteText(approver.id)} are one name; write it in one way`,
      );
    names.set(personKey(approver.id), approver.id);
    return approver;
  });
}

/** A name that has something in it that can be seen. */
function readName(spot: Spot): string {
  const text = readText(spot, NAME_CHARS_MAX);
  if (personKey(text) === "") throw invalid(spot, "there is nothing in it that can be seen");
  return text;
}

/** The map `groups`: names to lists of approver ids. */
export function readGroups(
  spot: Spot | undefined,
  approvers: readonly Approver[],
): Readonly<Record<string, readonly string[]>> {
  if (spot === undefined) return {};
  const ids = new Set(approvers.map(({ id }) => personKey(id)));
  const names = new Set<string>();
  const groups = [...readMap(spot)].map(([name, each]) => {
    const key = personKey(name);
    if (ids.has(key))
      throw invalid(each, "a group and an approver have the same name", { part: "key" });
    if (names.has(key)) throw invalid(each, "another group has the same name", { part: "key" });
    names.add(key);
    return [name, readList(each).map((member) => readMember(member, ids))] as const;
  });
  return Object.fromEntries(groups);
}

function readMember(spot: Spot, ids: ReadonlySet<string>): string {
  const id = readText(spot, NAME_CHARS_MAX);
  if (!ids.has(personKey(id)))
    throw invalid(spot, `there is no approver with the id ${quoteText(id)}`);
  return id;
}

/** Who the file knows. */
interface People {
  readonly approvers: readonly Approver[] | undefined;
  readonly groups: Readonly<Record<string, readonly string[]>>;
}

/** A stage that names somebody unknown would wait for nobody. */
export function checkPeople(
  spot: Spot | undefined,
  stages: readonly ChannelStage[],
  { approvers, groups }: People,
): void {
  if (spot === undefined) return;
  const known = new Set(
    [...(approvers ?? []).map(({ id }) => id), ...Object.keys(groups)].map(personKey),
  );
  for (const name of stages.flatMap(({ approvers: named }) => named ?? []))
    if (!known.has(personKey(name)))
      throw invalid(spot, `there is no approver and no group with the name ${quoteText(name)}`);
}
