/**
 * Composite: what a channel made of others tells the gate, and nobody else. Which of its channels
 * authenticated a person is believed only where this module knows the channel: a plain channel
 * cannot speak for another one.
 */
import { isFromAnotherCopy, labelKind, OTHER_COPY } from "../copies.js";
import { asError, ConsentError, isConsentError } from "../errors.js";
import type { ConsentRequest } from "../approval/request.js";
import { CHANNEL_NAME_CHARS_MAX } from "../limits.js";
import type { AskSession, Channel } from "../ports.js";
import { quote } from "@acp/exec-safety/text";

/** Where a question was shown, and where it could not be. */
export interface Showing {
  readonly shown: readonly string[];
  readonly failed: readonly DeliveryFailure[];
}

/** A channel that could not show a question. */
export interface DeliveryFailure {
  readonly channel: string;
  readonly error: Error;
}

/** A later part of a channel that escalates. */
export interface ChannelStep {
  readonly channel: Channel;
  readonly afterMs: number;
  /** Ids or group names; who is named answers from here on. */
  readonly approvers?: readonly string[];
}

/** A channel that is made of others. */
export interface Composite {
  /** The plain channels that it is made of, by name, those of its steps too. */
  readonly leaves: ReadonlyMap<string, Channel>;
  /**
   * Shows a question at once wherever that is due; `skip` names where it stands already. Never
   * rejects.
   */
  readonly show: (
    request: ConsentRequest,
    session: AskSession,
    skip: ReadonlySet<string>,
  ) => Promise<Showing>;
  /** What comes later, in order. */
  readonly steps: readonly ChannelStep[];
  /** Who answers from the start; present where its steps name people. */
  readonly approvers?: readonly string[];
}

const composites = new WeakMap<Channel, Composite>();

/** Makes a channel known as one that is made of others. */
export function markComposite(channel: Channel, composite: Composite): void {
  composites.set(channel, composite);
  labelKind(channel, "composite channel");
}

/** What a channel is made of; `undefined` for a plain one. */
export function compositeOf(channel: Channel): Composite | undefined {
  return composites.get(channel);
}

/**
 * The plain channels of a channel, by name.
 *
 * @throws ConsentError `options_invalid` for one that another copy of the package made of others:
 *   taken for a plain one it would lose its steps.
 */
export function leavesOf(channel: Channel): ReadonlyMap<string, Channel> {
  if (isFromAnotherCopy(channel, "composite channel"))
    throw new ConsentError(
      "options_invalid",
      `Cannot use the channel ${quote(channel.name)}: ${OTHER_COPY}`,
    );
  return compositeOf(channel)?.leaves ?? new Map([[channelName(channel), channel]]);
}

/**
 * The plain channels of several channels.
 *
 * @throws ConsentError `options_invalid` where two of them share a name: nobody could say which of
 *   the two authenticated a person.
 */
export function joinLeaves(channels: readonly Channel[]): ReadonlyMap<string, Channel> {
  const joined = new Map<string, Channel>();
  for (const leaves of channels.map(leavesOf)) {
    for (const [name, channel] of leaves) {
      if ((joined.get(name) ?? channel) !== channel)
        throw new ConsentError(
          "options_invalid",
          `Cannot compose channels: two of them have the name "${name}"`,
        );
      joined.set(name, channel);
    }
  }
  return joined;
}

/** Whom a channel names; nobody where that cannot be read. */
function subjectOf(by: { readonly subject: string } | undefined): string {
  try {
    return by?.subject ?? LOCAL_SUBJECT;
  } catch {
    return "";
  }
}

const CHANNEL_NAME = /^[a-z][a-z0-9-]*$/;
const names = new WeakMap<Channel, string>();

/**
 * A channel's name as it was when it was first looked at: what it calls itself later makes nobody
 * somebody else's approver.
 *
 * @throws ConsentError `options_invalid` where it is not of the form of one.
 */
export function channelName(channel: Channel): string {
  const known = names.get(channel);
  if (known !== undefined) return known;
  const name: unknown = channel.name;
  if (
    typeof name !== "string" ||
    name.length > CHANNEL_NAME_CHARS_MAX ||
    !CHANNEL_NAME.test(name)
  ) {
    const shown = typeof name === "string" ? quote(name) : typeof name;
    throw new ConsentError(
      "options_invalid",
      `Cannot use a channel: its name ${shown} is not of the form [a-z][a-z0-9-]*`,
    );
  }
  names.set(channel, name);
  return name;
}

/** The session as one plain channel gets it: whoever it authenticated is that channel's. */
function sessionOf(session: AskSession, channel: string): AskSession {
  return {
    redelivery: session.redelivery,
    ended: session.ended,
    outcome: session.outcome,
    submit: (claim, by) => session.submit(claim, { subject: subjectOf(by), channel }),
  };
}

/** The subject of a channel with one local person. */
export const LOCAL_SUBJECT = "local";

/**
 * Shows a question on any channel. Never rejects; a plain channel that stays silent for too long is
 * for the caller to give up on.
 */
export async function showOn(
  channel: Channel,
  {
    request,
    session,
    skip,
  }: {
    readonly request: ConsentRequest;
    readonly session: AskSession;
    readonly skip: ReadonlySet<string>;
  },
): Promise<Showing> {
  const composite = compositeOf(channel);
  if (composite !== undefined) return composite.show(request, session, skip);
  const name = channelName(channel);
  if (skip.has(name)) return { shown: [], failed: [] };
  try {
    await channel.deliver(request, sessionOf(session, name));
    return { shown: [name], failed: [] };
  } catch (error) {
    return { shown: [], failed: [{ channel: name, error: asError(error) }] };
  }
}

/**
 * The error of a question that is shown nowhere: that nobody is there only where every channel says
 * so.
 */
export function undelivered(failed: readonly DeliveryFailure[]): ConsentError {
  const isUnavailable =
    failed.length > 0 && failed.every(({ error }) => isConsentError(error, "channel_unavailable"));
  const why = failed.map(({ channel, error }) => `${channel}: ${error.message}`).join("; ");
  return new ConsentError(
    isUnavailable ? "channel_unavailable" : "channel_failed",
    `Cannot show the question anywhere: ${why}`,
  );
}
