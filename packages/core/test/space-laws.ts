/**
 * What must hold of a world after every step, and what a world looks like to who compares states.
 */
import {
  actionDigest,
  canonicalJson,
  toolAction,
  type JsonObject,
  type PendingRecord,
} from "../src/index.js";
import { actionOf, EDITED, PEOPLE, type World } from "./space-world.js";

const ENDS = [
  "consent_approved",
  "consent_denied",
  "consent_expired",
  "consent_cancelled",
  "consent_failed",
  "consent_superseded",
];
const STORY = [
  "tool_call_forwarded",
  "tool_call_completed",
  "consent_not_collected",
  "outcome_unknown",
];
const isYes = (record: PendingRecord): boolean => record.end?.effectiveDigest !== undefined;

function must(holds: boolean, law: string, what: unknown): void {
  if (!holds) throw new Error(`${law}: ${JSON.stringify(what)}`);
}

/** Laws of a world as it is. */
export function checkWorld({ log, released, calls, record, records }: World, quorum: number): void {
  for (const [index] of calls.entries()) {
    const mine = released.filter(({ call }) => call === index);
    must(mine.length <= 1, "a call is released at most once", mine);
  }
  for (const { call, digest, requestId, logged } of released) {
    const before = log.slice(0, logged).filter((event) => event.requestId === requestId);
    const approved = before.find(({ eventType }) => eventType === "consent_approved");
    // written by the gate; compared below
    const approvers = (approved?.metadata["approvers"] ?? []) as readonly string[];
    must(approved !== undefined, "nothing is released before its approval is durable", before);
    must(
      before.some(({ eventType }) => eventType === "tool_call_forwarded"),
      "nothing is released before it is said to be",
      before,
    );
    must(
      approved?.metadata["effective_digest"] === digest,
      "released bytes have the approved digest",
      { approved, digest },
    );
    const wanted = [actionOf(call), toolAction("files", "write_file", EDITED)].map((action) =>
      actionDigest(action),
    );
    must(wanted.includes(digest), "what is released is what was asked, or the edit", {
      call,
      digest,
    });
    must(
      new Set(approvers).size >= (record(call)?.end?.modifications === undefined ? quorum : 1),
      "as many people said yes as it takes",
      approvers,
    );
    must(
      approvers.every((id) => PEOPLE.some((known) => known === id)),
      "only people of the list",
      approvers,
    );
    must(
      record(call)?.id === requestId && record(call)?.end?.recorded === true,
      "the end behind a release is recorded",
      record(call),
    );
  }
  for (const { id, end } of records()) {
    const ends = log.filter((event) => event.requestId === id && ENDS.includes(event.eventType));
    must(ends.length <= 1, "a question has one end in the log", ends);
    const story = log
      .filter((event) => event.requestId === id)
      .flatMap(({ eventType }) => (STORY.includes(eventType) ? eventType : []));
    // A log that was silent for too long may still keep that it begins, after it was said that it
    // did not.
    const isOne =
      story.length <= 1 || story.toSorted().join() === "tool_call_completed,tool_call_forwarded";
    must(isOne, "what became of a yes is said once", story);
    const isNo = ends.some(
      ({ eventType }) => eventType === "consent_denied" || eventType === "consent_expired",
    );
    must(
      !isNo || !released.some(({ requestId }) => requestId === id),
      "denial and expiry are final",
      id,
    );
    // An end that the log could not keep in time is a failure, whatever it was; the log may still
    // get the event later. One that died between its claim and the log is a failure too: a store
    // that was set back looks the same.
    const isLost = end?.denyCode === "audit_failed" || end?.denyCode === "store_failed";
    must(
      end?.recorded !== true || isLost || ends.length === 1,
      "an end that is recorded is in the log",
      end,
    );
  }
}

/**
 * Whether nothing changed but what became of the yes, which a call that is under way tells at any
 * time.
 */
function isUnmoved(old: PendingRecord, now: PendingRecord | undefined): boolean {
  const [before, after] = [old, now].map((record) => ({
    ...record,
    version: 0,
    mac: "",
    outcome: null,
  }));
  return canonicalJson(before) === canonicalJson(after);
}

/** Laws of one step: an end stays, and who is nobody changes nothing. */
export function checkStep(
  before: readonly PendingRecord[],
  after: readonly PendingRecord[],
  isByNobody: boolean,
): void {
  for (const old of before) {
    const now = after.find(({ id }) => id === old.id);
    must(now !== undefined && now.version >= old.version, "a record is never set back", {
      old,
      now,
    });
    const isSame = now?.end?.status === old.end?.status;
    must(
      old.end === undefined || isSame || (!old.end.recorded && now?.end?.status === "failed"),
      "an end is final",
      { old, now },
    );
    must(!isByNobody || isUnmoved(old, now), "nobody outside the list moves the state", {
      old,
      now,
    });
  }
}

const NAMES: ReadonlyMap<string, string> = new Map([
  ["ada", "bob"],
  ["bob", "ada"],
]);

/** One call as it matters for what comes next. */
function viewOf(
  { calls, record, released }: World,
  index: number,
  nameOf: (id: string) => string,
): JsonObject {
  const kept = record(index);
  const end = kept?.end;
  return {
    call: calls[index]?.state ?? "",
    asked: calls[index]?.requestId !== undefined,
    released: released.filter(({ call }) => call === index).length,
    status: kept?.status ?? "",
    yes: (kept?.approvals ?? []).map(({ approverId }) => nameOf(approverId)),
    end:
      end === undefined
        ? ""
        : `${end.status} by ${end.approverIds.map(nameOf).join()}${end.recorded ? "" : ", not recorded"}`,
    isYes: kept !== undefined && isYes(kept),
    flags: `${kept?.deferred === true ? "deferred" : ""} ${kept?.adopted === true ? "adopted" : ""}`,
    rest: [...new Set((kept?.approvals ?? []).map(({ channel }) => channel))],
  };
}

const same = (id: string): string => id;
const swapped = (id: string): string => NAMES.get(id) ?? id;

function spell(world: World, nameOf: (id: string) => string): string {
  const calls = world.calls.map((_, index) => JSON.stringify(viewOf(world, index, nameOf)));
  return `${world.process === undefined ? "down" : "up"} ${world.phase} ${calls.toSorted().join("\n")}`;
}

/** A state as it is, and as it were if ada and bob changed places. */
export const spellings = (world: World): readonly [string, string] => [
  spell(world, same),
  spell(world, swapped),
];

/**
 * A name for everything that can matter for what comes next. Calls and people that are alike may
 * change places.
 */
export const stateOf = (world: World): string => spellings(world).toSorted()[0] ?? "";

/** Whether nothing tells one person, or one call, from the other. */
export const arePeopleAlike = (world: World): boolean =>
  spell(world, same) === spell(world, swapped);
export const areCallsAlike = (world: World): boolean =>
  world.calls.length === 2 &&
  JSON.stringify(viewOf(world, 0, same)) === JSON.stringify(viewOf(world, 1, same));
