/**
 * Terminal screen: what may reach a person's terminal. Text that is not our own is escaped once
 * more and set behind a gutter, so that no text of an agent can move the cursor, look like a line
 * of ours or reach the line where the person types.
 */
import type { Writable } from "node:stream";
import { escapeText } from "@acp/core";

/** The stream that a person reads: a terminal, or a stream in tests. */
export type OutputStream = Writable & { readonly isTTY?: boolean; readonly columns?: number };

/** Style of a piece of our own text. */
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

/** Writes to a person's terminal: our own text as it is, everything else escaped and marked. */
export interface Screen {
  /** True if the status line is redrawn in place. */
  readonly live: boolean;
  /**
   * Writes one line of our own text. The caller must escape anything in it that comes from
   * elsewhere.
   */
  say(text: string, ink?: Ink): void;
  /** Writes text from elsewhere: each line escaped, wrapped and set behind the gutter. */
  quote(lines: readonly string[], ink?: Ink): void;
  /** Returns the rows that {@link Screen.quote} would write, without writing them. */
  rows(lines: readonly string[]): readonly string[];
  /** Writes rows that {@link Screen.rows} returned. */
  write(rows: readonly string[], ink?: Ink): void;
  /** Writes our status line and, below it, the label after which the person types. */
  prompt(status: string, label: string): void;
  /**
   * Writes a key that was typed, or a control sequence that tells the terminal how to send keys.
   * Never pass it text from elsewhere.
   */
  echo(text: string): void;
  /** Redraws the status line above the line being typed. Does nothing if the screen is not live. */
  restatus(status: string): void;
}

/** Options of {@link createScreen}. */
export interface ScreenOptions {
  /** Where to write. */
  readonly output: OutputStream;
  /** Whether to use colors and bold. */
  readonly color: boolean;
  /** Whether to redraw the status line in place. Default: true if the output is a terminal. */
  readonly redraw?: boolean;
}

/**
 * Columns of a character at most: what is not ASCII may be wide, and taking it for wide only wraps
 * a line early.
 */
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
  return lines
    .flatMap((text) => text.split("\n"))
    .flatMap((text) => wrapLine(escapeText(text), columns));
}

/** Creates a screen on a stream. Columns come from the stream: 80 if it has none, at least 24. */
export function createScreen({ output, color, redraw }: ScreenOptions): Screen {
  const live = redraw ?? output.isTTY === true;
  const columns = (): number => Math.max(COLUMNS_MIN, output.columns ?? COLUMNS_DEFAULT) - 1;
  const put = (text: string): void => {
    if (!output.writableEnded && !output.destroyed) output.write(text);
  };
  const paint = (text: string, ink: Ink): string =>
    color && ink !== "plain" ? `${INKS[ink]}${text}${INK_OFF}` : text;
  const rows = (lines: readonly string[]): readonly string[] => toRows(lines, columns());
  const write = (wrapped: readonly string[], ink: Ink = "plain"): void =>
    put(wrapped.map((row) => `${paint(row, ink)}\n`).join(""));
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
