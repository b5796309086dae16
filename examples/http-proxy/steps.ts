/**
 * What each agent does, in order, what the scripted approver answers, and how it has to end.
 */

/** One request of an agent. */
export interface Step {
  readonly method: "GET" | "POST" | "DELETE";
  readonly status: number;
  /** How it is decided, in words. */
  readonly decided: string;
  /** What the answer holds. */
  readonly says: string;
  /** What the approver answers; left out where nobody may be asked. */
  readonly answer?: {
    readonly decision: "approved" | "denied";
    readonly reason?: string;
    readonly grantId?: string;
  };
}

/** The requests of every agent. */
export const STEPS: readonly Step[] = [
  { method: "GET", status: 200, decided: "allowed by the policy", says: "umbrellas: 12" },
  { method: "DELETE", status: 403, decided: "denied by the policy", says: "policy_denied" },
  {
    method: "POST",
    status: 403,
    decided: "asked: no",
    says: "not before payday",
    answer: { decision: "denied", reason: "not before payday" },
  },
  {
    method: "POST",
    status: 200,
    decided: "asked: yes, this host for 3 min",
    says: "ordered: item=umbrella",
    answer: { decision: "approved", grantId: "host" },
  },
  { method: "POST", status: 200, decided: "covered by that yes", says: "ordered: item=umbrella" },
];
