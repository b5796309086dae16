/** Creating the parts of a gate: what it was given, checked once and completed with defaults. */
import { authenticGrants } from "./authentic-grants.js";
import { authenticPending } from "./authentic-pending.js";
import type { GateOptions } from "./consent-gate.js";
import { checkOptions } from "./check-options.js";
import { createDenialCount } from "./count-denials.js";
import { createDeadline, type Deadline } from "./deadline.js";
import { asError } from "../errors.js";
import type { AnswerTimes } from "../approval/escalation.js";
import { channelName, compositeOf, joinLeaves } from "../channels/composite.js";
import { snapshotOptions } from "./snapshot-options.js";
import { messageOf } from "./deny.js";
import type { Judges } from "./evaluate.js";
import type { GateParts, JudgeParts, KeptParts, LogParts, PermitParts } from "./gate-parts.js";
import { noteIgnored } from "./ignored.js";
import {
  ASK_TIMEOUT_MS,
  PART_TIMEOUT_MS,
  PROMPT_WINDOW_MS,
  PROMPTS_MAX,
  RETRY_WINDOW_MS,
} from "../limits.js";
import { createOpenQuestions } from "./open-questions.js";
import { policySource } from "./policy-source.js";
import type { Channel, Store } from "../ports.js";
import { createRecordMacs } from "./record-mac.js";
import { memoryStore } from "../stores/memory-store.js";
import { processRecordKey, randomIds, systemClock } from "../system.js";

/**
 * The plain channels that the gate's are made of, and those that have a name as a whole: steps, and
 * what was given for them.
 */
function channelsOf({ channel, channels = [] }: GateOptions): ReadonlyMap<string, Channel> {
  const named = [...channels, ...(compositeOf(channel)?.steps ?? []).map((step) => step.channel)];
  return new Map([
    ...joinLeaves([channel, ...channels]),
    ...named.map((each) => [channelName(each), each] as const),
  ]);
}

/** Where it cannot be known whether an agent is paused, it is. */
function totalPause(pausedAgent: GateOptions["pausedAgent"]): JudgeParts["pausedAgent"] {
  return (agent) => {
    try {
      return pausedAgent?.(agent);
    } catch (error) {
      return `it cannot be known whether the agent is paused: ${messageOf(error)}`;
    }
  };
}

/** Who answers when, as a channel that escalates says it. */
function timesOf(channel: Channel): AnswerTimes | undefined {
  const composite = compositeOf(channel);
  if (composite === undefined) return undefined;
  return {
    approvers: composite.approvers,
    escalate: composite.steps.map(({ channel: later, ...step }) => ({
      ...step,
      channel: channelName(later),
    })),
  };
}

/** The key of now. One that is given as it is never changes: it is copied. */
function recordKeyOf({ recordKey: given }: GateOptions): () => Uint8Array {
  if (typeof given === "function") return given;
  const key = given === undefined ? processRecordKey() : Uint8Array.from(given);
  return () => key;
}

/** The stores, with what is read from them held against the gate's key. */
function storeOf(
  { store: given }: GateOptions,
  {
    clock,
    onIgnored,
    recordKey,
  }: Pick<KeptParts, "clock" | "onIgnored"> & Pick<PermitParts, "recordKey">,
): Store {
  const store = { ...memoryStore(clock), ...given };
  const macs = createRecordMacs(recordKey);
  const { claims } = store;
  return {
    ...store,
    pending: authenticPending({
      store: store.pending,
      mac: macs.question,
      claims,
      clock,
      onIgnored,
    }),
    grants: authenticGrants({ store: store.grants, mac: macs.grant, claims, onIgnored }),
  };
}

type Policies = Readonly<Record<"policy" | "observed", ReturnType<typeof policySource>>>;

/**
 * What judges, read once per decision. Only a function gives another policy for another decision.
 */
function judgesOf(options: GateOptions, policies: Policies): JudgeParts["judges"] {
  const {
    layers = [],
    askTimeoutMs = ASK_TIMEOUT_MS,
    groups = {},
    defaultOffers = () => [],
    argumentCheck,
  } = options;
  const channelTimes = timesOf(options.channel);
  const { policy, observed } = policies;
  const read = (): Judges => ({
    policy: policy(),
    layers,
    observed: observed(),
    askTimeoutMs,
    groups,
    defaultOffers,
    channelTimes,
    argumentCheck,
  });
  if (typeof options.policy === "function" || typeof options.observe === "function") return read;
  const judges = read();
  return () => judges;
}

/** The log that answers in time, and where it is known to end. */
function logOf(
  { audit, lastEventMs: startMs }: Pick<GateOptions, "audit" | "lastEventMs">,
  within: Deadline,
): Pick<LogParts, "append"> & Pick<KeptParts, "lastEventMs"> {
  const append: LogParts["append"] = (events, terms) => {
    try {
      return within(audit.append(events, terms), "the audit log");
    } catch (error) {
      return Promise.reject(asError(error));
    }
  };
  // Another promise for every event costs what a whole judgement does; it is only there where
  // somebody asks for the time.
  if (startMs === undefined) return { append, lastEventMs: () => undefined };
  let lastEventMs = startMs;
  return {
    append: async (events, terms) => {
      const receipt = await append(events, terms);
      lastEventMs = Math.max(lastEventMs, events.at(-1)?.atMs ?? 0);
      return receipt;
    },
    lastEventMs: () => lastEventMs,
  };
}

/**
 * Checks the options and completes them.
 *
 * @throws ConsentError `options_invalid`.
 */
export function createGateParts(given: GateOptions): GateParts {
  const options = snapshotOptions(given);
  const policies = {
    policy: policySource("policy", options.policy),
    observed: policySource("observe", options.observe),
  };
  checkOptions(options);
  const { clock = systemClock, ids = randomIds } = options;
  const isolation = options.isolation ?? "none";
  const within = createDeadline(clock, PART_TIMEOUT_MS);
  const { append, lastEventMs } = logOf(options, within);
  const onIgnored = noteIgnored({ append, clock, ids });
  const recordKey = recordKeyOf(options);
  return {
    // TimeParts
    clock,
    ids,
    within,
    shutdown: new AbortController(),
    // LogParts
    append,
    isolation,
    denials: createDenialCount({ clock, ids, isolation }),
    // KeptParts
    store: storeOf(options, { clock, onIgnored, recordKey }),
    onIgnored,
    lastEventMs,
    // JudgeParts
    judges: judgesOf(options, policies),
    assessors: options.assessors ?? [],
    pausedAgent: totalPause(options.pausedAgent),
    // PeopleParts
    approvers: options.approvers,
    verifiers: options.verifiers ?? [],
    signer: options.signer,
    rounds: new Map(),
    // AskParts
    channel: options.channel,
    channels: channelsOf(options),
    paused: options.paused ?? (() => undefined),
    promptLimit: options.promptLimit ?? { max: PROMPTS_MAX, windowMs: PROMPT_WINDOW_MS },
    // OpenParts
    questions: createOpenQuestions(options.questionRoom),
    followed: new Set(),
    held: new Map(),
    retryWindowMs: options.retryWindowMs ?? RETRY_WINDOW_MS,
    closers: new Set(),
    // PermitParts
    identity: Object.freeze({}),
    yeses: new WeakMap(),
    revoked: new Set(),
    recordKey,
    // PerformParts
    vault: options.vault,
  };
}
