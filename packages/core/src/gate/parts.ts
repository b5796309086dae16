/**
 * Parts: what createConsentGate was given, checked once and completed with defaults.
 */
import type { Approver, GateOptions } from "./consent-gate.js";
import { type ConsentSigner, isConsentSigner } from "../consent-signer.js";
import { createDeadline, type Deadline } from "./deadline.js";
import type { AnswerTimes } from "../approval/escalation.js";
import { compositeOf, joinLeaves } from "../channels/composite.js";
import { ConsentError } from "../errors.js";
import type { Judges } from "./evaluate.js";
import type { Facts } from "../layers.js";
import { ASK_TIMEOUT_MS, ASK_TIMEOUT_MS_MAX, PART_TIMEOUT_MS, PROMPT_WINDOW_MS_MAX } from "../limits.js";
import type { MergedAsk } from "./merge-ask.js";
import type { Policy } from "../policy/policy.js";
import type { Assessor, AuditEventInput, AuditReceipt, Channel, Clock, EvidenceVerifier, Ids, Store, Vault } from "../ports.js";
import { memoryStore } from "../stores/memory-store.js";
import { randomIds, systemClock } from "../system.js";

/** The parts of one gate. */
export interface GateParts {
  /** Reads the policies in force. Throws what their functions throw. */
  readonly judges: () => Judges;
  readonly channel: Channel;
  /** Channels that a step may name. */
  readonly channels: ReadonlyMap<string, Channel>;
  /** Appends events; resolves when they are durable, rejects when they are not or the sink is silent for too long. */
  readonly append: (events: readonly AuditEventInput[]) => Promise<AuditReceipt>;
  readonly approvers: readonly Approver[] | undefined;
  readonly assessors: readonly Assessor[];
  readonly vault: Vault | undefined;
  readonly signer: ConsentSigner | undefined;
  readonly verifiers: readonly EvidenceVerifier[];
  readonly store: Store;
  readonly paused: () => string | undefined;
  readonly isolation: string;
  readonly promptLimit: GateOptions["promptLimit"];
  readonly clock: Clock;
  readonly ids: Ids;
  readonly within: Deadline;
  readonly shutdown: AbortController;
  /** What takes the open questions of waiting callers back when the gate closes. */
  readonly closers: Set<() => void>;
  /** Ids of the grants that this gate revoked. */
  readonly revoked: Set<string>;
  /** Ids of the questions that this gate shows. */
  readonly questions: Set<string>;
}

const CHANNEL_NAME = /^[a-z][a-z0-9-]*$/;

const asFunction = (policy: Policy | (() => Policy) | undefined): (() => Policy | undefined) =>
  typeof policy === "function" ? policy : () => policy;

function requireOption(holds: boolean, why: string): void {
  if (!holds) throw new ConsentError("options_invalid", `Cannot create the gate: ${why}`);
}

function checkOptions({ channel, audit, approvers, groups, signer, askTimeoutMs, promptLimit }: GateOptions): void {
  requireOption(typeof audit?.append === "function", `"audit" is no AuditSink`);
  requireOption(typeof channel?.deliver === "function", `"channel" is no Channel`);
  requireOption(CHANNEL_NAME.test(channel.name), `the channel's name ${JSON.stringify(channel.name)} is not of the form [a-z][a-z0-9-]*`);
  requireOption(signer === undefined || isConsentSigner(signer), `"signer" is not what createConsentSigner of "@acp/core/proof" made`);
  requireOption(
    askTimeoutMs === undefined || (askTimeoutMs > 0 && askTimeoutMs <= ASK_TIMEOUT_MS_MAX),
    `"askTimeoutMs" is not between 1 ms and a week`,
  );
  requireOption(
    promptLimit === undefined ||
      (Number.isSafeInteger(promptLimit.max) &&
        promptLimit.max > 0 &&
        promptLimit.windowMs > 0 &&
        promptLimit.windowMs <= PROMPT_WINDOW_MS_MAX),
    `"promptLimit" is not at least one question in at most a day`,
  );
  const ids = new Set((approvers ?? []).map(({ id }) => id));
  for (const approver of approvers ?? [])
    requireOption(
      [approver.id, approver.channel, approver.subject].every((part) => typeof part === "string" && part !== ""),
      `an approver lacks "id", "channel" or "subject"`,
    );
  for (const [name, members] of Object.entries(groups ?? {})) {
    requireOption(!ids.has(name), `the group "${name}" has the name of an approver`);
    for (const id of members)
      requireOption(approvers === undefined || ids.has(id), `the group "${name}" names "${id}", who is no approver`);
  }
}

/** The plain channels that the gate's are made of, and those that have a name as a whole: steps, and what was given for them. */
function channelsOf({ channel, channels = [] }: GateOptions): ReadonlyMap<string, Channel> {
  const named = [...channels, ...(compositeOf(channel)?.steps ?? []).map((step) => step.channel)];
  return new Map([...joinLeaves([channel, ...channels]), ...named.map((each) => [each.name, each] as const)]);
}

/** Who answers when, as a channel that escalates says it. */
function timesOf(channel: Channel): AnswerTimes | undefined {
  const composite = compositeOf(channel);
  if (composite === undefined) return undefined;
  return {
    approvers: composite.approvers,
    escalate: composite.steps.map(({ channel: later, ...step }) => ({ ...step, channel: later.name })),
  };
}

/**
 * Checks the options and completes them.
 *
 * @throws ConsentError `options_invalid`.
 */
export function makeParts(options: GateOptions): GateParts {
  checkOptions(options);
  const { audit, clock = systemClock, ids = randomIds, layers = [], askTimeoutMs = ASK_TIMEOUT_MS, groups = {} } = options;
  const defaultOffers = options.defaultOffers ?? (() => []);
  const channelTimes = timesOf(options.channel);
  const policy = asFunction(options.policy);
  const observed = asFunction(options.observe);
  const within = createDeadline(clock, PART_TIMEOUT_MS);
  return {
    judges: () => ({ policy: policy(), layers, observed: observed(), askTimeoutMs, groups, defaultOffers, channelTimes }),
    channel: options.channel,
    channels: channelsOf(options),
    append: async (events) => await within(audit.append(events), "the audit log"),
    approvers: options.approvers,
    assessors: options.assessors ?? [],
    vault: options.vault,
    signer: options.signer,
    verifiers: options.verifiers ?? [],
    store: { ...memoryStore(clock), ...options.store },
    paused: options.paused ?? (() => undefined),
    isolation: options.isolation ?? "none",
    promptLimit: options.promptLimit,
    clock,
    ids,
    within,
    shutdown: new AbortController(),
    closers: new Set(),
    revoked: new Set(),
    questions: new Set(),
  };
}

/** Who may answer a question: `undefined` where the channel's own authenticated person may, empty where nobody may. The agent and its parents never do. */
export function eligibleApprovers(parts: Pick<GateParts, "approvers">, ask: MergedAsk, { agent }: Facts): readonly string[] | undefined {
  const known = parts.approvers === undefined ? undefined : [...new Set(parts.approvers.map(({ id }) => id))];
  const wanted = ask.approvers;
  const both = known === undefined || wanted === undefined ? (known ?? wanted) : known.filter((id) => wanted.includes(id));
  return both?.filter((id) => id !== agent.id && !(agent.parents ?? []).includes(id));
}

/** The approver that a channel's authenticated subject is, or `undefined` for nobody we know. */
export function approverOf(
  { approvers }: Pick<GateParts, "approvers">,
  by: { readonly channel: string; readonly subject: string },
): string | undefined {
  if (by.subject === "") return undefined;
  if (approvers === undefined) return by.subject;
  return approvers.find(({ channel, subject }) => channel === by.channel && subject === by.subject)?.id;
}
