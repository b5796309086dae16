/**
 * ConsentRequest: the question sent to a person. Inside the process camelCase; on the wire S0 §4.1
 * by {@link encodeRequest}. Format: spec/consent.md.
 */
import type { JsonObject } from "../json/value.js";
import type { Agent } from "../types/agent.js";
import type { GrantOffer } from "../types/scope.js";
import type { Category, RiskLevel } from "../types/words.js";
import type { EscalationStep } from "./escalation.js";

/** The version of S0's messages that we write and read. */
export const MESSAGE_VERSION = "0.2.0";

/** S0's flat view of an Action: `tool`, `server`, `parameters`, for every kind. */
export interface RequestAction {
  /** The tool; the method; the program. */
  readonly tool: string;
  /** The server; the host; `"shell"`. */
  readonly server: string;
  /** What kind of effect it has, as the policy classifies it. */
  readonly category: Category;
  /** How risky it is, as the policy classifies it. */
  readonly riskLevel: RiskLevel;
  /** The arguments; for other kinds, what they are made of. */
  readonly parameters: JsonObject;
  /** One line for a list of questions. */
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
  /** Why a person is asked. */
  readonly policy: {
    /** The rule that asks. */
    readonly ruleId: string;
    /** Its name for people; `""` where it has none. */
    readonly ruleName: string;
    /**
     * The highest level that a ruling wants, or the action's risk. `critical` takes a typed
     * word.
     */
    readonly requiredLevel: RiskLevel;
  };
  /** Random text that binds an answer to this question. */
  readonly nonce: string;
  /** Digest of the Action asked about: `sha256:<hex>`. */
  readonly actionDigest: string;
  /** Everything a person must see, already escaped; made by `renderText`. Show it whole. */
  readonly text: string;
  /** Ids of those who may answer; left out means the channel's own authenticated person. */
  readonly approvers?: readonly string[];
  /**
   * Which of them wait for a step, and where it is shown later; left out where there is no step.
   */
  readonly escalation?: readonly EscalationStep[];
  /** How many distinct approvers must say yes, at least 1. */
  readonly quorum: number;
  /** What a yes must be proven with. */
  readonly evidence: "any" | "passkey";
  /** What a yes may also cover; empty where nothing is offered. */
  readonly offers: readonly GrantOffer[];
  /** Names of the secrets that a yes releases. */
  readonly secrets: readonly string[];
}
