/**
 * Whether others than root can read this checkout: tests that root runs start managers and agents
 * as somebody else.
 */
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

/** Why they cannot; `.ci/run` shows such a checkout where they can. */
export function whyClosed(): string | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const other = [
    "--reuid",
    "61100",
    "--regid",
    "61100",
    "--clear-groups",
    "test",
    "-r",
    fileURLToPath(import.meta.url),
  ];
  return spawnSync("setpriv", other).status === 0
    ? undefined
    : "nobody but root can read this checkout; .ci/run shows it to others";
}
