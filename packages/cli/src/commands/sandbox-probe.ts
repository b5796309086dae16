/**
 * `acp sandbox probe`: what each sandbox can enforce on this host, found by trying.
 */
import { probeLinuxSandboxes } from "@acp/sandbox-linux";
import type { Run } from "../command.js";
import { BARRIERS } from "../run/plan.js";
import { renderReports } from "../run/probe-table.js";

/** Runs the command. */
export const sandboxProbe: Run = async ({ values, print }) => {
  const { user } = values;
  const reports = await probeLinuxSandboxes(user === undefined ? {} : { user });
  print.result({ sandboxes: reports }, () => renderReports(reports, print));
  return reports.some(({ isAvailable, level }) => isAvailable && BARRIERS.includes(level))
    ? "ok"
    : "nothing";
};
