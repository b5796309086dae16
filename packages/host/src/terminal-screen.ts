/**
 * Terminal screen: what may reach a person's terminal. Everything that is not our own words is escaped here once more and set behind a gutter,
 * so that no text of an agent can move the cursor, pose as a line of ours or reach the line where the person types.
 */
import type { Writable } from "node:stream";
import { escapeText } from "@acp/core";

/** Where a person reads: a terminal, or a stream in tests. */
export type OutputStream = Writable & { readonly isTTY?: boolean; readonly columns?: number };

/** How a piece of our own text looks. */
export type Ink = "plain" | "bold" | "dim" | "red" | "yellow" | "green";

/** Widths where the terminal does not say its own. */
const COLUMNS_DEFAULT = 80;
/** Below this the redraw of the status line would hit other lines. */
const COLUMNS_MIN = 24;
const GUTTER = "│ ";
const GUTTER_WRAPPED = "│ ↪ ";

const INKS: Readonly<Record<Ink, string>> = {
  plain: "",
  bold: "\u001b[1m",
  dim: "\u001b[2m",
  red: "\u001b[31m",
  yellow: "\u001b[33m",
  green: "\u001b[32m",
};
const INK_OFF = "\u001b[0m";
// Save the cursor, go to the line above, clear it; afterwards restore.
const TO_STATUS = "\u001b7\u001b[1A\r\u001b[2K";
const BACK = "\u001b8";

/** A person's screen. */
export interface Screen {
  /** Whether the status line is redrawn in place. */
  readonly live: boolean;
  /** One line of our own words; what comes from elsewhere must be escaped by the caller. */
  say(text: string, ink?: Ink): void;
  /** Text from elsewhere: escaped line by line, wrapped, behind the gutter. */
  quote(lines: readonly string[], ink?: Ink): void;
  /** The rows that {@link Screen.quote} writes. */
  rows(lines: readonly string[]): readonly string[];
  /** Writes rows that {@link Screen.rows} made. */
  write(rows: readonly string[], ink?: Ink): void;
  /** Our own status line and, below it, what the person types after. */
  prompt(status: string, label: string): void;
  /** Shows a key that was typed, or tells the terminal how to send keys. Nothing from elsewhere. */
  echo(text: string): void;
  /** Redraws the status line above the one being typed; nothing where the screen is not live. */
  restatus(status: string): void;
}

/** Options of {@link createScreen}. */
export interface ScreenOptions {
  readonly output: OutputStream;
  readonly color: boolean;
  readonly redraw?: boolean;
}

/** Columns of a character at most: what is not ASCII may be wide, and taking it for wide only wraps a line early. */
const widthOf = (character: string): number => (character.length === 1 && character <= "~" ? 1 : 2);

/** One line cut into rows of at most `columns`, continuation rows marked. */
function wrapLine(line: string, columns: number): readonly string[] {
  const rows: string[] = [];
  let row = GUTTER;
  let used = GUTTER.length;
  for (const character of line) {
    const width = widthOf(character);
    if (used + width > columns) {
      rows.push(row);
      row = GUTTER_WRAPPED;
      used = GUTTER_WRAPPED.length;
    }
    row += character;
    used += width;
  }
  rows.push(row);
  return rows;
}

/** Text of others, one line an entry, as rows that can be written. */
function toRows(lines: readonly string[], columns: number): readonly string[] {
  return lines.flatMap((text) => text.split("\n")).flatMap((text) => wrapLine(escapeText(text), columns));
}

/** A screen on a stream. */
export function createScreen({ output, color, redraw }: ScreenOptions): Screen {
  const live = redraw ?? output.isTTY === true;
  const columns = (): number => Math.max(COLUMNS_MIN, output.columns ?? COLUMNS_DEFAULT) - 1;
  const put = (text: string): void => {
    if (!output.writableEnded && !output.destroyed) output.write(text);
  };
  const paint = (text: string, ink: Ink): string => (color && ink !== "plain" ? `${INKS[ink]}${text}${INK_OFF}` : text);
  const rows = (lines: readonly string[]): readonly string[] => toRows(lines, columns());
  const write = (wrapped: readonly string[], ink: Ink = "plain"): void => put(wrapped.map((row) => `${paint(row, ink)}\n`).join(""));
  const showStatus = (status: string): string => paint(status.slice(0, columns()), "dim");
  return {
    live,
    say: (text, ink = "plain") => put(`${paint(text, ink)}\n`),
    quote: (lines, ink) => write(rows(lines), ink),
    rows,
    write,
    prompt: (status, label) => put(`${showStatus(status)}\n${label}`),
    echo: put,
    restatus: (status) => {
      if (live) put(`${TO_STATUS}${showStatus(status)}${BACK}`);
    },
  };
}
