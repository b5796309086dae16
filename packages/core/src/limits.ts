/**
 * Limits: every size, count and time bound of the core, with its unit and reason.
 */

/**
 * Nesting of JSON that is parsed or signed; RFC 8259 §9 lets a parser set one, and a signer must
 * not overflow its stack.
 */
export const JSON_DEPTH_MAX = 64;
/** Bytes of one JSON text; the MCP SDK's own read buffer ends at the same size. */
export const JSON_BYTES_MAX: number = 10 * 1024 * 1024;
/** Bytes of the canonical form of one Action: what a person could still be shown in parts. */
export const ACTION_BYTES_MAX: number = 1024 * 1024;
/**
 * Nesting of an Action's arguments: the messages and log lines that carry them add levels of their
 * own, and stay within {@link JSON_DEPTH_MAX}.
 */
export const ACTION_DEPTH_MAX = 56;
/** Characters of a tool, server, agent or approver name. */
export const NAME_CHARS_MAX = 256;
/** Characters of an id that an `Ids` gives: a prefix, a UUID, and room for those of other kinds. */
export const ID_CHARS_MAX = 128;
/** Characters of a channel's name; that of one made of others joins theirs. */
export const CHANNEL_NAME_CHARS_MAX = 1_024;
/** Approvers of one gate, and members of one group. */
export const APPROVERS_MAX = 10_000;
/** Characters of an error's text that a verdict, a receipt or an event repeats. */
export const ERROR_CHARS_MAX = 2_000;
/** Characters of an agent's command line, as a question shows it and its codec reads it. */
export const AGENT_COMMAND_CHARS_MAX = 4_096;
/** Agents that stand above one agent: each starts the next, and a person is shown all of them. */
export const AGENT_PARENTS_MAX = 64;
/**
 * Values, keys and UTF-16 units of a tool definition's schema and annotations; it is kept with
 * every question about the tool.
 */
export const TOOL_DEFINITION_UNITS_MAX: number = 256 * 1024;
/** Notes about a tool's definition that a person is shown: more would push the question away. */
export const TOOL_NOTES_MAX = 8;
/** Characters of one such note. */
export const TOOL_NOTE_CHARS_MAX = 300;
/** Characters of what an argument check says; the agent, the approver and the log get it. */
export const ARGUMENT_PROBLEM_CHARS_MAX = 2_000;
/** Characters of a host name, RFC 1035 §2.3.4 in text form. */
export const HOST_CHARS_MAX = 253;
/** Characters of a URL. */
export const URL_CHARS_MAX = 8_192;

/** Bytes of a policy text. */
export const POLICY_BYTES_MAX: number = 4 * 1024 * 1024;
/** Rules in one policy. */
export const POLICY_RULES_MAX = 100_000;
/** Characters of a glob pattern. */
export const GLOB_CHARS_MAX = 4_096;
/** Characters of a path handed to path matching. */
export const PATH_CHARS_MAX = 4_096;
/**
 * Characters of one segment of a path handed to path matching; the longest file name of common file
 * systems.
 */
export const PATH_SEGMENT_CHARS_MAX = 255;

/**
 * UTF-16 units of the reason that a judge may give: what is longer is cut, since it may quote the
 * agent.
 */
export const RULING_REASON_CHARS_MAX = 4_096;
/** How long a question stays open unless a rule says otherwise (S0 §8.1). */
export const ASK_TIMEOUT_MS = 120_000;
/** The longest a question may stay open: one week. */
export const ASK_TIMEOUT_MS_MAX: number = 7 * 24 * 3_600_000;
/**
 * Questions of one agent, with all that it started, unless the gate is told otherwise: one every
 * ten seconds is more than a person reads.
 */
export const PROMPTS_MAX = 60;
/** The time in which {@link PROMPTS_MAX} are counted. */
export const PROMPT_WINDOW_MS: number = 10 * 60_000;
/** The longest window of a prompt limit: one day. */
export const PROMPT_WINDOW_MS_MAX: number = 24 * 3_600_000;
/**
 * Denials of one agent by one rule with one code that are written one by one within {@link
 * DENIALS_WINDOW_MS}: more than a person reads.
 */
export const DENIALS_WRITTEN_MAX = 100;
/** The time in which {@link DENIALS_WRITTEN_MAX} are counted. */
export const DENIALS_WINDOW_MS = 60_000;
/**
 * Denials that are counted before their number is written: what a process that is killed forgets at
 * most, a kind.
 */
export const DENIALS_COUNTED_MAX = 1_000;
/**
 * Kinds of denials that are counted at once; the rules of a policy times the codes that they meet
 * are fewer.
 */
export const DENIAL_KINDS_MAX = 1_000;
/** Different names (tools, hosts) that the event of counted denials holds. */
export const DENIAL_NAMES_MAX = 20;
/** How long a Permit can be redeemed. */
export const PERMIT_TTL_MS = 30_000;
/**
 * How long a decision waits for the retry of a caller that was told "call again", counted from the
 * answer.
 */
export const DECISION_TTL_MS = 300_000;
/**
 * How long a question whose caller went away stays open for the same call of the same agent, unless
 * the gate is told otherwise.
 */
export const RETRY_WINDOW_MS = 60_000;
/** The longest that time may be: 10 minutes. */
export const RETRY_WINDOW_MS_MAX = 600_000;
/**
 * Questions of one agent, with all that it started, that are kept open for a retry; one more ends
 * the oldest of them.
 */
export const HELD_PER_AGENT_MAX = 8;
/**
 * How long a yes that nobody was seen to wait for may go uncollected before it counts as not
 * collected.
 */
export const COLLECT_WAIT_MS = 30_000;
/**
 * How long a caller that performs by itself may take to report what came of it; afterwards the
 * outcome is unknown.
 */
export const REPORT_WAIT_MS = 900_000;
/** How long an outcome is waited for at all; longer than any tunnel lives. */
export const OUTCOME_WAIT_MS_MAX: number = 24 * 3_600_000;
/** Characters of the detail of an outcome: one line of a screen. */
export const OUTCOME_DETAIL_CHARS_MAX = 200;
/** How far the clock that a proof was made by may be ahead of the gate's: 1 minute. */
export const EVIDENCE_AHEAD_MS_MAX = 60_000;
/** The longest a Grant may live: 24 hours. */
export const GRANT_TTL_MS_MAX: number = 24 * 3_600_000;
/** Offers of one rule: what a person can still choose from. */
export const OFFERS_MAX = 16;
/** Steps of one escalation. */
export const ESCALATION_STEPS_MAX = 16;
/** People that one question may need. */
export const QUORUM_MAX = 1_000;
/**
 * How long a part (audit, store, vault, assessor) may take before its silence counts as a failure.
 */
export const PART_TIMEOUT_MS = 30_000;
/** How often a transition is tried again after losing a race, before the store counts as failed. */
export const TRANSITION_TRIES_MAX = 64;
/**
 * Questions open at once in one gate; beyond it an ask is denied, so that an agent cannot exhaust
 * memory.
 */
export const PENDING_MAX = 10_000;
/**
 * Of these, questions of one agent with all that it started: a tenth, so that one that asks for a
 * week-long answer each time leaves room for the others.
 */
export const PENDING_PER_AGENT_MAX = 1_000;
/**
 * Ended questions that the memory store remembers, so that a late answer can be told what happened.
 */
export const ENDED_KEPT_MAX = 1_000;
/**
 * Records of a store that a gate names in the log because it ignores them: somebody who forges more
 * fills no log.
 */
export const IGNORED_NOTED_MAX = 100;
/** Bytes of the shortest key that says which stored records a gate wrote. */
export const RECORD_KEY_BYTES_MIN = 32;
/** Answers of one batch: more questions than that nobody has read. */
export const BATCH_MAX = 100;
/** UTF-16 units of the text a person is shown; what needs more is not asked but denied. */
export const TEXT_UNITS_MAX: number = 2 * 1024 * 1024;
/** Characters of the reason a person may give. */
export const REASON_CHARS_MAX = 1_000;
/** Bytes of one answer as JSON. */
export const RESPONSE_BYTES_MAX: number = 2 * 1024 * 1024;

/**
 * Bytes of the shortest secret: a shorter one could be guessed through its mask, and masking it
 * would destroy unrelated text.
 */
export const SECRET_BYTES_MIN = 8;
/** Bytes of the longest secret: a certificate chain with its key. */
export const SECRET_BYTES_MAX: number = 16 * 1024;
/** Bytes of a vault's contents as JSON: its masks need up to 300 times as much memory. */
export const VAULT_BYTES_MAX: number = 256 * 1024;
/** Servers, and hosts, that one secret is bound to. */
export const SECRET_BINDINGS_MAX = 64;
