/** Refuse invalid: what becomes of a call whose arguments do not fit the tool's schema. */
import type { ConsentGate, Pending, Verdict } from "@acp/core";
import { deniedResult, invalidResult } from "./call-result.js";
import type { NoticeResult } from "./call-result.js";

/**
 * What does not fit the schema is decided like any other call, so that the log has it; nobody is
 * asked about it, and nothing is forwarded.
 */
export async function refuseInvalid(
  gate: ConsentGate,
  problem: string,
  opened: Verdict | Pending,
): Promise<NoticeResult> {
  if (opened.decision === "pending") await opened.withdraw(problem);
  if (opened.decision === "deny" && opened.code !== "not_performable") return deniedResult(opened);
  if (opened.decision === "allow")
    await gate.perform(opened, () => Promise.reject(new Error(problem))).catch(() => undefined);
  return invalidResult(problem);
}
