/**
 * Fix: mends what can be mended, each change only if a person agrees, and says it in the audit log:
 * before it is done where a log can be written, and afterwards where only the change makes that
 * possible.
 */
import { asError, logEvent, randomIds, systemClock } from "@acp/core";
import { readAuditConfig } from "../logs/log-settings.js";
import { openHomeAudit } from "../logs/open-audit.js";
import type { DoctorContext } from "./context.js";
import type { FindingCode } from "./codes.js";
import type { Examination } from "./examination.js";
import { examine } from "./examine.js";
import type { Examined } from "./examine.js";
import type { Finding, Mend } from "./finding.js";

/** What came of one change. Plain JSON data. */
export interface Mended {
  readonly code: FindingCode;
  readonly path?: string;
  readonly is_done: boolean;
  /** What was done, or why not. */
  readonly text: string;
}

/** How to mend. */
export interface FixParts {
  /** A new context for each look: what was read once may have changed. */
  readonly context: () => DoctorContext;
  /** Only findings of this code; all where it is left out. */
  readonly code: string | undefined;
  /** Whether a person agrees to a change. */
  readonly agrees: (finding: Finding, what: string) => Promise<boolean>;
  /** What is looked at; everything where it is left out. */
  readonly examinations?: readonly Examination[];
}

/** A change may uncover the next finding: a file that may be read turns out to be broken. */
const PASSES_MAX = 8;
/** Modes first, then the logs, then what the logs are told of before. */
const ORDER: readonly Mend["note"][] = ["after", "own", "before"];

interface Wanted {
  readonly finding: Finding;
  readonly mend: Mend;
}

/** Mends until nothing is left that can be mended, or that somebody agrees to. */
export async function fix(
  parts: FixParts,
): Promise<{ readonly all: readonly Examined[]; readonly mended: readonly Mended[] }> {
  const mended: Mended[] = [];
  const tried = new Set<string>();
  let all = await examine(parts.context(), parts.examinations);
  for (let pass = 1; pass <= PASSES_MAX; pass++) {
    const wanted = wantedIn(all, parts.code).filter(({ finding }) => !tried.has(keyOf(finding)));
    if (wanted.length === 0) break;
    const notes: string[] = [];
    // One kind at a time: what a mode or a log made look broken is looked at again after it.
    const kind = wanted[0]?.mend.note;
    for (const each of wanted.filter(({ mend }) => mend.note === kind)) {
      tried.add(keyOf(each.finding));
      if (!(await parts.agrees(each.finding, each.mend.what))) continue;
      mended.push(await mendOne(parts.context(), each, notes));
    }
    mended.push(...(await noteAll(parts.context(), notes)));
    all = await examine(parts.context(), parts.examinations);
  }
  return { all, mended };
}

const keyOf = ({ code, path }: Finding): string => `${code} ${path ?? ""}`;

function wantedIn(all: readonly Examined[], code: string | undefined): readonly Wanted[] {
  return all
    .flatMap(({ found }) => found)
    .flatMap(({ finding, mend }) =>
      mend === undefined || (code !== undefined && finding.code !== code)
        ? []
        : [{ finding, mend }],
    )
    .toSorted((one, other) => ORDER.indexOf(one.mend.note) - ORDER.indexOf(other.mend.note));
}

async function mendOne(
  context: DoctorContext,
  { finding, mend }: Wanted,
  notes: string[],
): Promise<Mended> {
  const { code, path } = finding;
  const base = { code, ...(path !== undefined && { path }) };
  try {
    // What cannot be written down is not done.
    if (mend.note === "before") await note(context, [`${code}: about to ${mend.what}`]);
    const text = await mend.run();
    if (mend.note === "after") notes.push(`${code}: ${text}`);
    return { ...base, is_done: true, text };
  } catch (error) {
    return { ...base, is_done: false, text: asError(error).message };
  }
}

/** Says what was done; that it could not be said is an outcome too. */
async function noteAll(
  context: DoctorContext,
  notes: readonly string[],
): Promise<readonly Mended[]> {
  if (notes.length === 0) return [];
  try {
    await note(context, notes);
    return [];
  } catch (error) {
    const text = `the audit log does not say what was fixed: ${asError(error).message}`;
    return [{ code: "log_unreadable", is_done: false, text }];
  }
}

async function note({ home, io }: DoctorContext, texts: readonly string[]): Promise<void> {
  const config = await readAuditConfig({ home, io });
  await using audit = await openHomeAudit(home, { config });
  await audit.append(
    texts.map((text) =>
      logEvent(
        "gate_notice",
        { id: randomIds.next("ae"), atMs: systemClock.now() },
        { notice: "doctor_fixed", text },
      ),
    ),
  );
}
