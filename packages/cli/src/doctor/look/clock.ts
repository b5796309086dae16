/** Examination of the clock, against what the logs say of the time. */
import { readLastEventMs } from "@acp/audit";
import { isoTime } from "@acp/core";
import type { DoctorContext } from "../context.js";
import type { Examination } from "../examination.js";
import { makeFound } from "../finding.js";
import type { Found } from "../finding.js";
import { listAuditFiles } from "../../logs/log-files.js";

/** The clock. */
export const clockExamination: Examination = {
  id: "clock",
  looksAt: "The clock is not behind what the logs say",
  look,
};

/** This version was not there before: 2026-01-01T00:00:00Z. */
const EARLIEST_MS = 1_767_225_600_000;
/** Two machines on one home, or a clock that NTP corrects, differ by less. */
const SLACK_MS = 2_000;
/** Nobody sets a clock back by more: then it is the events that are wrong. */
const FUTURE_MS: number = 24 * 60 * 60 * 1_000;

async function look({ home, nowMs }: DoctorContext): Promise<readonly Found[]> {
  if (nowMs < EARLIEST_MS)
    return [makeFound("clock_wrong", { found: `The clock says ${isoTime(nowMs)}` })];
  const found: Found[] = [];
  for (const path of await listAuditFiles(home.dir)) {
    // A log that cannot be read is another examination's finding.
    const lastMs = await readLastEventMs(path).catch(() => undefined);
    if (lastMs === undefined || lastMs <= nowMs + SLACK_MS) continue;
    const code = lastMs > nowMs + FUTURE_MS ? "clock_future_events" : "clock_behind";
    const text = `Its last event is of ${isoTime(lastMs)}, and the clock says ${isoTime(nowMs)}`;
    found.push(makeFound(code, { path, found: text }));
  }
  return found;
}
