/**
 * Options: what a webhook channel is made of, checked once.
 */
import { type Claims, type Clock, ConsentError, parseHttpUrl, systemClock } from "@acp/core";
import { createPost } from "./post.js";
import { replaySet } from "./replay-set.js";
import { readSecrets } from "./secret.js";
import type { SendParts } from "./send.js";
import { type Resolve, readTarget, systemResolve } from "./target.js";

/** How long one attempt may take. */
const TIMEOUT_MS = 30_000;
/** The longest that a receiver may hold a question before it answers. */
const TIMEOUT_MS_MAX: number = 60 * 60_000;
/** People on one channel. */
const APPROVERS_MAX = 1_000;
/** Characters of a subject; as core's names. */
const SUBJECT_CHARS_MAX = 256;

/** Options of {@link createWebhookChannel}. */
export interface WebhookChannelOptions {
  /** Address of the receiver: https, or http to localhost, 127.0.0.1 or [::1]. */
  readonly url: string;
  /**
   * The secret shared with the receiver, `whsec_…`. Pass several while one replaces another: each
   * message is signed with all of them, and an answer needs only one.
   */
  readonly secret: string | readonly string[];
  /**
   * Subjects who may answer: people whom the receiver authenticates and names in `approver.id`.
   * Absent: whoever holds the secret counts as one person, with the subject `webhook`. Empty:
   * nobody.
   */
  readonly approvers?: readonly string[];
  /**
   * Where people reach the `handler` with a browser. If given, every question carries a link for
   * each approver; otherwise no page is served.
   */
  readonly linkUrl?: string;
  /**
   * Hosts that may have addresses of your own network, e.g. `["approvals.internal"]`; none unless
   * given.
   */
  readonly allowPrivateHosts?: readonly string[];
  /** Authorities to trust instead of the system's, as PEM. */
  readonly ca?: string;
  /**
   * How long the receiver may take for one attempt, in milliseconds, reply included; 30,000 unless
   * given.
   */
  readonly timeoutMs?: number;
  /** Keeps the ids of messages that were taken; in this process's memory unless given. */
  readonly claims?: Pick<Claims, "claimOnce">;
  /** Resolves the receiver's host name; the system's resolver unless given. */
  readonly resolve?: Resolve;
  /** Called about attempts that failed and replies that decided nothing. */
  readonly warn?: (message: string) => void;
  /** Default: the system's clock. */
  readonly clock?: Clock;
}

/** The options, checked and completed. */
export interface Settings {
  readonly sendParts: SendParts;
  readonly claims: Pick<Claims, "claimOnce">;
  readonly approvers: readonly string[] | undefined;
  /** What links start with, ending in a slash. */
  readonly linkBase: string | undefined;
}

function requireOption(holds: boolean, why: string): void {
  if (!holds) throw new ConsentError("options_invalid", `Cannot create a webhook channel: ${why}`);
}

function readApprovers(approvers: readonly string[]): readonly string[] {
  requireOption(
    Array.isArray(approvers) && approvers.length <= APPROVERS_MAX,
    `"approvers" is not a list of at most ${APPROVERS_MAX}`,
  );
  for (const subject of approvers)
    requireOption(
      typeof subject === "string" && subject !== "" && subject.length <= SUBJECT_CHARS_MAX,
      `an approver is not a string of 1 to ${SUBJECT_CHARS_MAX} characters`,
    );
  return [...new Set(approvers)];
}

/** Who listens to warnings can break nothing. */
function quietly(warn: (message: string) => void): (message: string) => void {
  return (message) => {
    try {
      warn(message);
    } catch {
      // Their own affair.
    }
  };
}

/** People's browsers go there: the same rule as for the receiver, but no name is resolved. */
function readLinkBase(linkUrl: string): string {
  const { href, search } = new URL(readTarget(linkUrl, [parseHttpUrl(linkUrl).host]).url);
  requireOption(search === "", `"linkUrl" has a query`);
  return href.endsWith("/") ? href : `${href}/`;
}

/**
 * Checks the options and completes them.
 *
 * @throws ConsentError `options_invalid` or `host_invalid`.
 */
export function readOptions(options: WebhookChannelOptions): Settings {
  const { allowPrivateHosts = [], timeoutMs = TIMEOUT_MS, clock = systemClock } = options;
  const target = readTarget(options.url, allowPrivateHosts);
  requireOption(
    Number.isFinite(timeoutMs) && timeoutMs > 0 && timeoutMs <= TIMEOUT_MS_MAX,
    `"timeoutMs" is not between 1 ms and ${TIMEOUT_MS_MAX} ms`,
  );
  return {
    sendParts: {
      target,
      keys: readSecrets(options.secret),
      post: createPost(target, options.ca),
      resolve: options.resolve ?? systemResolve,
      timeoutMs,
      clock,
      warn: quietly(options.warn ?? (() => undefined)),
    },
    claims: options.claims ?? replaySet(clock),
    approvers: options.approvers === undefined ? undefined : readApprovers(options.approvers),
    linkBase: options.linkUrl === undefined ? undefined : readLinkBase(options.linkUrl),
  };
}
