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
  readonly tool: string;
  readonly server: string;
  readonly category: Category;
  readonly riskLevel: RiskLevel;
  readonly parameters: JsonObject;
  /** One line for a list of questions. */
  readonly description: string;
}

/** The question a person is asked. Frozen. */
export interface ConsentRequest {
  readonly id: string;
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
  readonly agent: Agent;
  readonly action: RequestAction;
  readonly policy: {
    readonly ruleId: string;
    readonly ruleName: string;
    readonly requiredLevel: RiskLevel;
  };
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
  readonly quorum: number;
  readonly evidence: "any" | "passkey";
  readonly offers: readonly GrantOffer[];
  /** Names of the secrets that a yes releases. */
  readonly secrets: readonly string[];
}
