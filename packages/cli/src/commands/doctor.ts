/**
 * `acp doctor`: what is wrong with the home, why it matters and what mends it; with --fix it mends
 * what it can.
 */
import { ConsentError, escapeText, nearest, systemClock } from "@acp/core";
import { homePaths } from "@acp/home";
import { askYes } from "../ask-yes.js";
import type { Invocation, Run } from "../command.js";
import { FINDINGS } from "../doctor/codes.js";
import { createContext } from "../doctor/context.js";
import type { DoctorContext } from "../doctor/context.js";
import { examine } from "../doctor/examine.js";
import type { Finding } from "../doctor/finding.js";
import { fix } from "../doctor/fix.js";
import { isOk, reportJson, reportLines } from "../doctor/report.js";
import type { ReportParts } from "../doctor/report.js";
import { homePath } from "../home/home-source.js";
import { createPercent } from "../percent.js";

/** Runs the command. */
export const doctor: Run = async (invocation) => {
  const { flags, print } = invocation;
  const code = readCode(invocation);
  checkFlags(invocation);
  const home = homePath(invocation);
  const progress = createPercent(invocation);
  const context = (): DoctorContext => contextOf(invocation, home, progress.show);
  const parts: ReportParts = {
    home,
    ...(flags.has("fix")
      ? await fix({ context, code, agrees: askOrAgree(invocation, progress.clear) })
      : { all: await examine(context()), mended: [] }),
  };
  progress.clear();
  print.result(reportJson(parts), () => reportLines(parts, print));
  return isOk(parts) ? "ok" : "failed";
};

/** The finding that --fix is about. */
function readCode({ operands, flags }: Invocation): string | undefined {
  const [code] = operands;
  if (code === undefined) return undefined;
  if (!flags.has("fix"))
    throw new ConsentError(
      "options_invalid",
      `Cannot read ${JSON.stringify(code)}: it names a finding; write acp doctor --fix ${code}`,
    );
  const codes = Object.keys(FINDINGS);
  if (codes.includes(code)) return code;
  const suggestion = nearest(code, codes);
  throw new ConsentError(
    "options_invalid",
    `Cannot fix ${JSON.stringify(code)}: there is no such finding`,
    suggestion === undefined ? {} : { suggestion },
  );
}

function checkFlags({ flags, io }: Invocation): void {
  if (flags.has("quick") && flags.has("full"))
    throw new ConsentError("options_invalid", "Cannot use --quick with --full: it is the opposite");
  if (flags.has("yes") && !flags.has("fix"))
    throw new ConsentError("options_invalid", "Cannot use --yes alone: it agrees to --fix");
  if (flags.has("fix") && !flags.has("yes") && !io.stdin.isTTY)
    throw new ConsentError(
      "options_invalid",
      "Cannot ask you before each change: standard input is not a terminal; add --yes to agree to all of them",
    );
}

function contextOf(
  { flags, io, values }: Invocation,
  home: string,
  onProgress: DoctorContext["onProgress"],
): DoctorContext {
  return createContext({
    io,
    values,
    home: homePaths(home),
    nowMs: systemClock.now(),
    isQuick: flags.has("quick"),
    isFull: flags.has("full"),
    isOnline: flags.has("online"),
    onProgress,
  });
}

/** Asks on the terminal; --yes agrees to everything. */
function askOrAgree(
  { flags, io }: Invocation,
  clear: () => void,
): (finding: Finding, what: string) => Promise<boolean> {
  if (flags.has("yes")) return () => Promise.resolve(true);
  return async ({ code, found }, what) => {
    clear();
    return askYes(io, `${code}: ${escapeText(found)}\nShall I ${escapeText(what)}?`);
  };
}
