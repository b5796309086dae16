/**
 * Layout: fits a text into one message. What does not fit is cut where it is longest, between a
 * beginning and an end that stay, and the number of characters left out is said. A message of many
 * short lines counts as too long as well: it would push itself out of view.
 */
import { cutAfter, cutBefore } from "./cut.js";

/** UTF-16 units of a message. */
export const MESSAGE_UNITS_MAX = 4_096;
/** Lines of a message: about three screens of a telephone. */
const LINES_MAX = 100;
const LINES_AT_START = 55;
const LINES_AT_END = 25;
/** The part of the room that the beginning may take. */
const START_SHARE = 0.6;
/** UTF-16 units of a line, where not everything fits. */
const LINE_UNITS_MAX = 280;
const LINE_UNITS_AT_START = 180;
const LINE_UNITS_AT_END = 60;
/** Room for the line that says what is left out. */
const GAP_UNITS = 48;

/** A message. */
export interface Layout {
  readonly text: string;
  /** Characters of the body that are not in it. */
  readonly hiddenChars: number;
}

/** What stands around a body of which so many characters are hidden. */
export type Frame = (hiddenChars: number) => { readonly heading: string; readonly foot: string };

interface Line {
  readonly text: string;
  readonly hiddenChars: number;
}

function shortenLine(line: string): Line {
  if (line.length <= LINE_UNITS_MAX) return { text: line, hiddenChars: 0 };
  const [start, end] = [cutAfter(line, LINE_UNITS_AT_START), cutBefore(line, LINE_UNITS_AT_END)];
  const hiddenChars = line.length - start.length - end.length;
  return { text: `${start} […${hiddenChars} characters…] ${end}`, hiddenChars };
}

/** How many lines fit, counted from the first. */
function countThatFit(lines: readonly Line[], units: number, linesMax: number): number {
  let left = units;
  let count = 0;
  for (const { text } of lines.slice(0, linesMax)) {
    left -= text.length + 1;
    if (left < 0) break;
    count++;
  }
  return count;
}

const hiddenIn = (lines: readonly Line[]): number =>
  lines.reduce((sum, { hiddenChars }) => sum + hiddenChars, 0);

function cutBody(body: string, units: number): Layout {
  const whole = body.split("\n");
  const lines = whole.map(shortenLine);
  const room = units - GAP_UNITS;
  const start = lines.slice(0, countThatFit(lines, room * START_SHARE, LINES_AT_START));
  const rest = lines.slice(start.length).toReversed();
  const end = rest
    .slice(0, countThatFit(rest, room * (1 - START_SHARE), LINES_AT_END))
    .toReversed();
  const gap = whole.slice(start.length, whole.length - end.length);
  const gapChars = gap.reduce((sum, line) => sum + line.length + 1, 0);
  const gapLine = gap.length === 0 ? [] : [`[…${gap.length} lines, ${gapChars} characters…]`];
  const shown = [...start.map(({ text }) => text), ...gapLine, ...end.map(({ text }) => text)];
  return { text: shown.join("\n"), hiddenChars: hiddenIn(start) + hiddenIn(end) + gapChars };
}

function join(frame: Frame, { text, hiddenChars }: Layout): Layout {
  const { heading, foot } = frame(hiddenChars);
  return { text: [heading, "", text, "", foot].join("\n"), hiddenChars };
}

/** Lays a body out between the lines of its frame; the frame must leave room for it. */
export function layOut(body: string, frame: Frame): Layout {
  const whole = join(frame, { text: body, hiddenChars: 0 });
  if (whole.text.length <= MESSAGE_UNITS_MAX && whole.text.split("\n").length <= LINES_MAX)
    return whole;
  // A frame is never longer than for a body that is hidden altogether.
  const around = join(frame, { text: "", hiddenChars: body.length }).text.length;
  return join(frame, cutBody(body, MESSAGE_UNITS_MAX - around));
}
