/**
 * `acp why`: one decision explained, found by its ID or by its time; or the decisions of a day.
 */
import { ConsentError, escapeText } from "@acp/core";
import type { Invocation, Run } from "../command.js";
import { homePath } from "../home/home-source.js";
import type { Printer } from "../printer.js";
import { explain } from "../why/explain.js";
import type { Explanation } from "../why/explanation.js";
import { type FoundEvent, openHomeEvents } from "../why/find-events.js";
import { numberAt, textAt, textsAt } from "../why/fields.js";
import { toJson } from "../why/json.js";
import { loadById, loadInTime } from "../why/load.js";
import { type LookUpParts, lookUp } from "../why/look-up.js";
import { decisionLine, explanationLines } from "../why/text.js";
import { type When, looksLikeTime, readMoment } from "../why/when.js";
import { showLocal, zoneName } from "../why/zone.js";

/** Decisions of a stretch of time that are listed. */
const LISTED_MAX = 50;

/** Runs the command. */
export const why: Run = async (invocation) => {
  const given = invocation.operands.join(" ").trim();
  if (given === "")
    throw new ConsentError(
      "options_invalid",
      'Cannot explain: name an ID or a time, such as acp why cr_1f0c… or acp why "yesterday 14:03"',
    );
  const home = homePath(invocation);
  const moment = looksLikeTime(given) ? readMoment(given, Date.now()) : undefined;
  await using events = openHomeEvents(home);
  const parts: LookUpParts = { find: events.find, home, invocation };
  return await (moment === undefined
    ? whyId(given, invocation, parts)
    : whyAt(moment, invocation, parts));
};

async function whyId(given: string, { print }: Invocation, parts: LookUpParts) {
  const found = await loadById(parts.find, given);
  if (found.kind === "story") {
    const explanation = await lookUp(found.story, parts);
    print.result(toJson(explanation), () => explanationLines(explanation, print));
    return "ok";
  }
  if (found.kind === "several") {
    const ids = found.ids.slice(0, LISTED_MAX);
    print.notice(`"${given}" fits ${found.ids.length} decisions: ${ids.join(", ")}`);
    return "nothing";
  }
  const [near] = found.near;
  const hint = near === undefined ? "" : `; did you mean ${near}?`;
  print.notice(
    `No decision in the logs of this home has the ID ${given}${hint}; acp why today lists them`,
  );
  return "nothing";
}

async function whyAt(when: When, invocation: Invocation, parts: LookUpParts) {
  const { values, flags, print } = invocation;
  const { stories, counted } = await loadInTime(parts.find, { when, agent: values.agent });
  const isWanted = ({ verdict }: Explanation): boolean =>
    !flags.has("denied") || verdict.standing === "denied";
  const wanted = stories
    .map((story) => ({ story, brief: explain(story) }))
    .filter(({ brief }) => isWanted(brief));
  for (const note of when.notes) print.notice(note);
  if (wanted.length === 0 && counted.length === 0) {
    print.notice(`No ${flags.has("denied") ? "denial" : "decision"} ${stretchOf(when)}`);
    return "nothing";
  }
  const { atMs } = when;
  const nearest = atMs === undefined ? undefined : nearestOf(wanted, atMs);
  const full = nearest === undefined ? undefined : await lookUp(nearest.story, parts);
  const briefs = wanted.map(({ brief }) => brief);
  print.result(
    {
      from: new Date(when.fromMs).toISOString(),
      to: new Date(when.toMs).toISOString(),
      zone: zoneName(),
      ...(full !== undefined && { nearest: toJson(full) }),
      decisions: briefs.map(toJson),
      counted_denials: counted.map(({ event }) => ({ agent: event.agent, ...event.metadata })),
    },
    () => inTimeLines({ when, full, briefs, counted }, print),
  );
  return "ok";
}

/** The decision nearest to a moment, by any of the events that decided it. */
function nearestOf<T extends { readonly brief: Explanation }>(
  wanted: readonly T[],
  atMs: number,
): T | undefined {
  const distance = ({ brief: { atMs: askedMs, question } }: T): number =>
    Math.min(...[askedMs, question?.endedMs ?? askedMs].map((ms) => Math.abs(ms - atMs)));
  return wanted.toSorted((one, other) => distance(one) - distance(other))[0];
}

interface Found {
  readonly when: When;
  readonly full: Explanation | undefined;
  readonly briefs: readonly Explanation[];
  readonly counted: readonly FoundEvent[];
}

function inTimeLines({ when, full, briefs, counted }: Found, print: Printer): readonly string[] {
  const others = briefs.filter(({ id }) => id !== full?.id);
  const listed = others.slice(-LISTED_MAX);
  const more = others.length - listed.length;
  const title = full === undefined ? "Decisions" : "Other decisions";
  return [
    ...(full === undefined ? [] : explanationLines(full, print)),
    ...(others.length === 0
      ? []
      : [...(full === undefined ? [] : [""]), `${title} ${stretchOf(when)}:`]),
    ...(more === 0 ? [] : [`  … ${more} earlier ones; --json shows all`]),
    ...listed.map((each) => `  ${decisionLine(each, print)}`),
    ...counted.map(countedLine),
  ];
}

/** A flood of denials is counted, and the log has no event of each. */
function countedLine({ event: { agent, policyRule, metadata } }: FoundEvent): string {
  const names = textsAt(metadata, "names").join(", ");
  const count = numberAt(metadata, "count") ?? 0;
  const code = textAt(metadata, "code") ?? "";
  return escapeText(
    `  and ${count} more denials of ${agent} by rule ${policyRule} [${code}], counted and not written one by one: ${names}`,
  );
}

function stretchOf({ fromMs, toMs }: When): string {
  return `from ${showLocal(fromMs)} to ${showLocal(toMs)} (${zoneName()})`;
}
