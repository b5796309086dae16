/**
 * Conditions: when a rule applies at all. Pure: the moment comes with the Facts. Format:
 * spec/policy.md §7.
 */
import { quote } from "@acp/exec-safety/text";
import { atLeastOne } from "./key-rules.js";
import { optional, required, section } from "./section.js";
import { refined, shapeOf, text } from "./shape.js";
import type { Shape } from "./shape.js";
import { invalid, printPath, readText } from "./spot.js";
import type { Spot } from "./spot.js";

/** Tells whether a rule applies at a moment, in milliseconds since 1970. */
export type TimeTest = (nowMs: number) => boolean;

/** Minute of the local day, 0 to 1439, or `undefined` for a moment that is no date. */
export type ZoneClock = (nowMs: number) => number | undefined;

/** Gives the clock of a time zone, made once each. */
export type ZoneClocks = (timeZone: string) => ZoneClock;

const MINUTE_MS = 60_000;
const TIME = /^([01]\d|2[0-3]):([0-5]\d)$/;
const ZONE_CHARS_MAX = 64;
const DATE_MS_MAX = 8.64e15;
/**
 * 1973: until 1972 some zones were off UTC by odd seconds, so that their minutes began within ours.
 */
const WHOLE_MINUTES_FROM_MS: number = Date.UTC(1973, 0);

/** What reading conditions needs. */
export interface ConditionsContext {
  readonly clocks: ZoneClocks;
  /** The answer where the moment is no date: no for a rule that allows, yes for any other. */
  readonly uncertain: boolean;
  /** Takes what loads but deserves a look. */
  readonly warn: (warning: string) => void;
}

/** A time of the day, as minutes. */
const timeOfDay: Shape<number> = shapeOf({ type: "string", pattern: TIME.source }, minutesOf);

const zone: Shape<ZoneClock, ConditionsContext> = shapeOf(text(ZONE_CHARS_MAX).schema, clockOf);

const window: Shape<TimeTest, ConditionsContext> = refined(
  section(
    {
      after: optional("after", timeOfDay, "The minute from which it holds, as HH:MM."),
      before: optional("before", timeOfDay, "The minute from which it no longer holds, as HH:MM."),
      clock: optional("timezone", zone, "A name of the IANA database. Default: UTC."),
    },
    [atLeastOne(["after", "before"], 'it has neither "after" nor "before"')],
  ),
  ({ after, before, clock: given }, spot, { clocks, uncertain, warn }) => {
    if (after === before) throw invalid(spot, '"after" and "before" are the same minute');
    if (given === undefined) warn(`${printPath(spot.path)} has no timezone; it is read as UTC`);
    const clock = given ?? clocks("UTC");
    const isIn = windowTest(after ?? 0, before ?? 24 * 60);
    return (nowMs) => {
      const minute = clock(nowMs);
      return minute === undefined ? uncertain : isIn(minute);
    };
  },
);

/** The map `conditions`. */
export const conditions: Shape<TimeTest, ConditionsContext> = refined(
  section({ timeOfDay: required("time_of_day", window, "A time of the day on a clock.") }, [], {
    missing: () => "the conditions are empty; leave the key out for none",
  }),
  ({ timeOfDay: test }) => test,
);

/** From `after`, up to but not including `before`; over midnight where `after` is the later one. */
function windowTest(after: number, before: number): (minute: number) => boolean {
  if (after < before) return (minute) => minute >= after && minute < before;
  return (minute) => minute >= after || minute < before;
}

function minutesOf(spot: Spot): number {
  const written = readText(spot, 16);
  const [, hours, minutes] = TIME.exec(written) ?? [];
  if (hours === undefined || minutes === undefined) {
    throw invalid(spot, `expected a time from "00:00" to "23:59", got ${quote(written)}`, {
      suggestion: TIME.test(`0${written}`) ? `"0${written}"` : undefined,
    });
  }
  return Number(hours) * 60 + Number(minutes);
}

function clockOf(spot: Spot, { clocks }: ConditionsContext): ZoneClock {
  const name = readText(spot, ZONE_CHARS_MAX);
  try {
    return clocks(name);
  } catch (cause) {
    throw invalid(
      spot,
      `unknown time zone ${quote(name)}; use a name of the IANA database such as "Europe/Berlin"`,
      { cause },
    );
  }
}

/** Makes and keeps one clock a zone. Throws a RangeError for an unknown zone. */
export function createZoneClocks(): ZoneClocks {
  const clocks = new Map<string, ZoneClock>();
  return (timeZone) => {
    const kept = clocks.get(timeZone);
    if (kept !== undefined) return kept;
    const clock = createZoneClock(timeZone);
    clocks.set(timeZone, clock);
    return clock;
  };
}

/** Asking Intl costs microseconds, so its answer is kept for the minute that it holds. */
function createZoneClock(timeZone: string): ZoneClock {
  const format = new Intl.DateTimeFormat("en-US-u-ca-iso8601-nu-latn", {
    timeZone,
    hourCycle: "h23",
    hour: "2-digit",
    minute: "2-digit",
  });
  let keptFor = Number.NaN;
  let kept = 0;
  return (nowMs) => {
    const minute = Math.floor(nowMs / MINUTE_MS);
    if (minute === keptFor) return kept;
    if (!(Math.abs(nowMs) <= DATE_MS_MAX)) return undefined;
    const [hours = "", minutes = ""] = format.format(nowMs).split(":");
    const made = Number(hours) * 60 + Number(minutes);
    if (nowMs >= WHOLE_MINUTES_FROM_MS) [keptFor, kept] = [minute, made];
    return made;
  };
}
