/**
 * ConsentRequest: the question sent to a person. Inside the process camelCase; on the wire S0 §4.1
 * by {@link encodeRequest}. Format: spec/consent.md.
 */
import type { JsonObject } from "../json/value.js";
import type { Agent } from "../types/agent.js";
import type { GrantOffer } from "../types/scope.js";
import type { Category, RiskLevel } from "../types/words.js";
import type { EscalationStep } from "./escalation.js";

/** The version of ACP's messages that this package writes and reads. */
export const MESSAGE_VERSION = "0.2.0";

/** The flat view of an Action of any kind (ACP v0.2 §4.1), with the policy's classification. */
export interface RequestAction {
  /** The tool's name; of an HTTP request, the method; of a command, its program or `""`. */
  readonly tool: string;
  /** The server's name; of an HTTP request, the host; of a command, `"shell"`. */
  readonly server: string;
  /** What kind of effect it has, as the policy classifies it. */
  readonly category: Category;
  /** How risky it is, as the policy classifies it. */
  readonly riskLevel: RiskLevel;
  /** The arguments of a tool call; for the other kinds see {@link FlatAction.parameters}. */
  readonly parameters: JsonObject;
  /** The action in one line, for a list of questions. */
  readonly description: string;
}

/** The question a person is asked. Frozen. */
export interface ConsentRequest {
  /** Starts with `cr_`; an answer names it. */
  readonly id: string;
  /** Wall time of asking, milliseconds since 1970. */
  readonly createdAtMs: number;
  /** Wall time from which no answer counts, milliseconds since 1970. */
  readonly expiresAtMs: number;
  /** Who wants to act. */
  readonly agent: Agent;
  /** What it wants to do. */
  readonly action: RequestAction;
  /** Which rule asks, and how serious the question is. */
  readonly policy: {
    /** The rule that asks. */
    readonly ruleId: string;
    /** Its name for people; `""` where it has none. */
    readonly ruleName: string;
    /**
     * The highest level that a ruling names, or the action's risk. To approve a `critical`
     * question, a person types a word: see `confirmationWord`.
     */
    readonly requiredLevel: RiskLevel;
  };
  /** Random text that an answer repeats, so that it fits this question only. */
  readonly nonce: string;
  /** Digest of the Action asked about: `sha256:<hex>`. */
  readonly actionDigest: string;
  /**
   * Everything that a person must see, already escaped. Show it whole. Format:
   * spec/question-text.md.
   */
  readonly text: string;
  /**
   * Ids of the people who may answer, at once or after a step; absent: whoever the channel
   * authenticates.
   */
  readonly approvers?: readonly string[];
  /**
   * Which of them wait for a step, and where the question is shown later; absent where there is no
   * step.
   */
  readonly escalation?: readonly EscalationStep[];
  /** How many distinct approvers must approve, at least 1. */
  readonly quorum: number;
  /** What an approval must be proven with. */
  readonly evidence: "any" | "passkey";
  /** What an approval may also cover; empty where nothing is offered. */
  readonly offers: readonly GrantOffer[];
  /** Names of the secrets that an approval releases; empty where there are none. */
  readonly secrets: readonly string[];
}
