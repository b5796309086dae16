/**
 * When: the times that `acp why` takes, as people say them. A time without a zone is one of this
 * machine's clock.
 */
import { ConsentError, parseIsoTime } from "@acp/core";
import {
  type LocalTime,
  dayFrom,
  localTime,
  momentsOf,
  offsetOf,
  showLocal,
  showLocalDate,
  startOfDay,
} from "./zone.js";

/** A stretch of time that somebody asks about. */
export interface When {
  /** The moment that is asked about; absent where it is a whole day. */
  readonly atMs?: number;
  readonly fromMs: number;
  /** The first moment after it. */
  readonly toMs: number;
  /** What the reader should know of how the text was read. */
  readonly notes: readonly string[];
}

/** How far around a moment decisions are looked for, in milliseconds. */
export const AROUND_MS: number = 5 * 60_000;

const CLOCK = /^(\d{1,2}):(\d\d)(?::(\d\d))?$/;
const DATE = /^(\d{4})-(\d\d)-(\d\d)$/;
const WORDS: Readonly<Record<string, number>> = { today: 0, yesterday: -1 };

/** Whether a text looks like a time rather than an ID. */
export function looksLikeTime(text: string): boolean {
  return /^(?:today|yesterday)\b|^\d{4}-\d|^\d{1,2}:/.test(text);
}

/**
 * Reads `14:03`, `yesterday 14:03`, `2026-11-25 14:03`, `yesterday`, `2026-11-25`, or a time with a
 * zone such as `2026-11-25T14:03:00+01:00`.
 *
 * @throws ConsentError `options_invalid` for anything else, and for a time that the clock skipped.
 */
export function readMoment(text: string, nowMs: number): When {
  const exact = parseIsoTime(text.replace(/^(\S+T\d\d:\d\d)(?=Z|[+-]\d\d:\d\d$)/, "$1:00"));
  if (exact !== undefined) return around([exact], []);
  const [first = "", second, ...more] = text.replace(/^(\d{4}-\d\d-\d\d)T/, "$1 ").split(/\s+/);
  if (more.length > 0) throw unreadable(text);
  if (CLOCK.test(first) && second === undefined) return lastTime(text, first, nowMs);
  const dayMs = readDay(first, nowMs);
  if (dayMs === undefined) throw unreadable(text);
  if (second === undefined) return { fromMs: dayMs, toMs: dayFrom(dayMs, 1), notes: [] };
  return onDay(text, dayMs, second);
}

/** The last time that the clock showed it: today's, or yesterday's where today's is to come. */
function lastTime(text: string, clock: string, nowMs: number): When {
  const today = dayFrom(nowMs, 0);
  const when = onDay(text, today, clock);
  if (when.atMs !== undefined && when.atMs <= nowMs) return when;
  const yesterday = onDay(text, dayFrom(nowMs, -1), clock);
  const note = `${clock} is still to come today; this is yesterday's, ${showLocalDate(yesterday.fromMs)}`;
  return { ...yesterday, notes: [note, ...yesterday.notes] };
}

function onDay(text: string, dayMs: number, clock: string): When {
  const [, hour, minute, second = "0"] = CLOCK.exec(clock) ?? [];
  const time: LocalTime = {
    ...localTime(dayMs),
    hour: Number(hour),
    minute: Number(minute),
    second: Number(second),
  };
  if (hour === undefined || time.hour > 23 || time.minute > 59 || time.second > 59)
    throw unreadable(text);
  const moments = momentsOf(time);
  if (moments.length === 0)
    throw new ConsentError(
      "options_invalid",
      `Cannot look at "${text}": the clock was set forward that day and skipped this time; write a time with a zone, such as 2026-01-15T10:30:00Z`,
    );
  return around(moments, moments.length > 1 ? [twice(clock, moments)] : []);
}

function twice(clock: string, moments: readonly number[]): string {
  const offsets = moments.map(offsetOf).join(" and ");
  return `The clock was set back that day, so ${clock} came twice (${offsets}); both are shown. Add a zone to choose one, such as ${isoWithOffset(moments[0] ?? 0)}`;
}

function isoWithOffset(ms: number): string {
  return showLocal(ms).replace(" ", "T").replace(" ", "");
}

function around(moments: readonly number[], notes: readonly string[]): When {
  const [first = 0] = moments;
  const last = moments.at(-1) ?? first;
  return { atMs: first, fromMs: first - AROUND_MS, toMs: last + AROUND_MS + 1, notes };
}

function readDay(text: string, nowMs: number): number | undefined {
  const days = Object.hasOwn(WORDS, text) ? WORDS[text] : undefined;
  if (days !== undefined) return dayFrom(nowMs, days);
  const [, year, month, day] = DATE.exec(text) ?? [];
  if (year === undefined) return undefined;
  const ms = startOfDay(Number(year), Number(month), Number(day));
  // A Date takes February 30 for March 2.
  return showLocalDate(ms) === text ? ms : undefined;
}

const unreadable = (text: string): ConsentError =>
  new ConsentError(
    "options_invalid",
    `Cannot read time "${text}": write 14:03, "yesterday 14:03", "2026-01-15 14:03", a day such as yesterday or 2026-01-15, or a time with a zone such as 2026-01-15T14:03:00Z`,
  );
