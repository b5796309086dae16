/** Config, people: who may answer, and the groups that rules name. */
import { type Approver, type ConsentError, personKey, quoteText } from "@acp/core";
import { invalid, type Spot } from "@acp/core/yaml";
import {
  below,
  list,
  map,
  refined,
  required,
  section,
  type Shape,
  text,
  textLike,
} from "@acp/core/unstable";
import type { ChannelStage } from "./config-channels.js";

const NAME_CHARS_MAX = 256;

/** A name that has something in it that can be seen. */
const visibleName: Shape<string> = refined(text(NAME_CHARS_MAX), (value, spot) => {
  if (personKey(value) === "") throw invalid(spot, "it has no visible character");
  return value;
});

const approver: Shape<Approver> = section({
  id: required("id", visibleName, "Who it is, in rules, logs and groups."),
  channel: required(
    "channel",
    textLike(/^[a-z][a-z0-9-]*$/, {
      charsMax: NAME_CHARS_MAX,
      problem: "a channel's name consists of lowercase letters, digits and dashes",
    }),
    "Name of the channel that authenticates the person.",
  ),
  subject: required("subject", visibleName, "Who the person is to that channel."),
});

/**
 * The list `approvers`. One person may have several entries, all with one spelling of the name; one
 * subject of a channel is one person.
 */
export const approvers: Shape<readonly Approver[]> = refined(list(approver), (people, spot) => {
  const [subjects, names] = [new Set<string>(), new Map<string, string>()];
  for (const [at, { id, channel, subject }] of people.entries()) {
    const here = below(spot, at);
    const place = JSON.stringify([channel, personKey(subject)]);
    if (subjects.has(place))
      throw invalid(here, "another approver has the same channel and subject");
    subjects.add(place);
    const known = names.get(personKey(id)) ?? id;
    if (known !== id)
      throw invalid(
        below(here, "id"),
        `${quoteText(known)} and ${quoteText(id)} are the same name; spell it the same way`,
      );
    names.set(personKey(id), id);
  }
  return people;
});

/** The map `groups`: names to lists of approver ids. */
export const groups: Shape<Readonly<Record<string, readonly string[]>>> = map(
  list(text(NAME_CHARS_MAX)),
);

/** Who the file knows. */
export interface People {
  readonly approvers: readonly Approver[];
  readonly groups: Readonly<Record<string, readonly string[]>>;
}

/** What is wrong with the groups at this spot: names that mean two things, and unknown members. */
export function* groupMistakes(
  spot: Spot,
  { approvers: people, groups: named }: People,
): Generator<ConsentError> {
  const ids = new Set(people.map(({ id }) => personKey(id)));
  const names = new Set<string>();
  for (const [name, members] of Object.entries(named)) {
    const here = below(spot, name);
    const key = personKey(name);
    if (ids.has(key))
      yield invalid(here, "a group and an approver have the same name", { part: "key" });
    else if (names.has(key))
      yield invalid(here, "another group has the same name", { part: "key" });
    names.add(key);
    for (const [at, id] of members.entries())
      if (!ids.has(personKey(id)))
        yield invalid(below(here, at), `there is no approver with the id ${quoteText(id)}`);
  }
}

/** A stage that names somebody unknown would wait for nobody. */
export function* stageMistakes(
  spot: Spot,
  stages: readonly ChannelStage[],
  { approvers: people, groups: named }: People,
): Generator<ConsentError> {
  const known = new Set([...people.map(({ id }) => id), ...Object.keys(named)].map(personKey));
  for (const name of stages.flatMap((stage) => stage.approvers ?? []))
    if (!known.has(personKey(name)))
      yield invalid(spot, `there is no approver and no group with the name ${quoteText(name)}`);
}
