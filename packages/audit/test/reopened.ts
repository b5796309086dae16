/** A log that a process left, and the next one opens. */
import { expect } from "vitest";
import { openAuditLog } from "../src/audit-log.js";
import type { AuditEvent } from "../src/event.js";
import { readAuditLog } from "../src/read.js";
import { verifyAuditLog } from "../src/verify.js";
import { collect, makeEvent, manualTime, scratchLog } from "./support.js";

export const START = Date.UTC(2026, 0, 15, 10, 30);
export const question = (requestId: string) =>
  makeEvent(1, {
    eventType: "consent_requested",
    requestId,
    decision: "ask",
    tool: `tool of ${requestId}`,
  });
export const yes = (requestId: string) =>
  makeEvent(1, {
    eventType: "consent_approved",
    requestId,
    decision: "approved",
    tool: `tool of ${requestId}`,
  });
export const call = (fields: object = {}) =>
  makeEvent(1, { eventType: "tool_call_forwarded", ...fields });
export const done = (fields: object = {}) =>
  makeEvent(1, { eventType: "tool_call_completed", ...fields });

/**
 * A log with these events, opened again with `recover`: what that added, without the last one,
 * `log_opened`.
 */
export async function reopened(
  events: Parameters<typeof makeEvent>[1][],
  pendingIds: readonly string[] = [],
  untakenIds?: readonly string[],
): Promise<{
  readonly path: string;
  readonly ended: number;
  readonly added: readonly AuditEvent[];
}> {
  const path = await scratchLog();
  const clock = manualTime(START);
  await using first = await openAuditLog({ path, clock, rotation: { maxBytes: 2_000 } });
  for (const [number, event] of events.entries()) await first.append([makeEvent(number, event)]);
  await first.close();
  clock.pass(60_000);
  await using second = await openAuditLog({
    path,
    clock,
    recover: {
      pendingIds: new Set(pendingIds),
      ...(untakenIds && { untakenIds: new Set(untakenIds) }),
    },
  });
  const { ended } = second;
  await second.close();
  expect(await verifyAuditLog(path)).toMatchObject({ ok: true });
  const all = await collect(readAuditLog(path));
  const added = all.slice(events.length);
  expect(added.at(-1)).toMatchObject({ eventType: "log_opened", agent: "" });
  return { path, ended, added: added.slice(0, -1) };
}
