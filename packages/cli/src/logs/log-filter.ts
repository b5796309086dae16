/**
 * Which events a command line asks for.
 */
import type { AuditFilter } from "@acp/audit";
import type { CommandLine } from "../command.js";
import type { OptionName } from "../options.js";
import { readWhen } from "../times.js";

/** Options that choose events. */
export const FILTER_OPTIONS: readonly OptionName[] = [
  "since",
  "until",
  "agent",
  "tool",
  "decision",
  "request",
  "approver",
];

/**
 * The filter of a command line.
 *
 * @throws ConsentError `options_invalid` for a time that is none.
 */
export function readFilter({ values }: Pick<CommandLine, "values">, nowMs: number): AuditFilter {
  const { since, until, agent, tool, decision, request, approver } = values;
  return {
    ...(since !== undefined && { sinceMs: readWhen(since, "since", nowMs) }),
    ...(until !== undefined && { untilMs: readWhen(until, "until", nowMs) }),
    ...(agent !== undefined && { agent }),
    ...(tool !== undefined && { tool }),
    ...(decision !== undefined && { decision }),
    ...(request !== undefined && { requestId: request }),
    ...(approver !== undefined && { approver }),
  };
}
