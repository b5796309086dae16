/**
 * Printer: how a command speaks. Text for a person or JSON for a program; colours only on a
 * terminal without NO_COLOR.
 */
import { failureOf, renderFailure } from "./failure.js";

/** How a text may look. */
export type Tone = "bold" | "dim" | "red" | "green" | "yellow" | "cyan";

/** ECMA-48 codes that begin and end a tone. */
const TONES: Readonly<Record<Tone, readonly [string, string]>> = {
  bold: ["1", "22"],
  dim: ["2", "22"],
  red: ["31", "39"],
  green: ["32", "39"],
  yellow: ["33", "39"],
  cyan: ["36", "39"],
};

/** A stream that is written to. */
export interface Sink {
  readonly isTTY?: boolean;
  write(text: string): unknown;
}

/** How a command speaks. */
export interface Printer {
  /** Whether a program reads. */
  readonly json: boolean;
  /** The result: `value` as one JSON line, or the lines. */
  result(value: unknown, lines: () => readonly string[]): void;
  /** Something beside the result, to stderr; a JSON line too where a program reads. */
  notice(text: string): void;
  /** What went wrong, to stderr: a line for each mistake; one JSON line where a program reads. */
  failure(error: unknown): void;
  /** The text in a tone, where the result's stream shows colours. */
  tone(tone: Tone, text: string): string;
}

/** Where a printer writes. */
export interface PrinterOptions {
  readonly stdout: Sink;
  readonly stderr: Sink;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly json: boolean;
}

/**
 * Whether a stream shows colours (https://no-color.org: any value but the empty one turns them
 * off).
 */
export function showsColour(
  sink: Sink,
  env: Readonly<Record<string, string | undefined>>,
): boolean {
  return sink.isTTY === true && (env["NO_COLOR"] ?? "") === "" && env["TERM"] !== "dumb";
}

/** Makes a printer. */
export function createPrinter({ stdout, stderr, env, json }: PrinterOptions): Printer {
  const colour = showsColour(stdout, env);
  return {
    json,
    result(value, lines) {
      const text = json ? JSON.stringify(value) : lines().join("\n");
      if (text !== "") stdout.write(`${text}\n`);
    },
    notice(text) {
      stderr.write(json ? `${JSON.stringify({ notice: text })}\n` : `acp: ${text}\n`);
    },
    failure(error) {
      const failure = failureOf(error);
      const lines = (failure.mistakes ?? [failure]).map(renderFailure);
      stderr.write(`${json ? JSON.stringify({ error: failure }) : lines.join("\n")}\n`);
    },
    tone(tone, text) {
      const [begin, end] = TONES[tone];
      return colour ? `\u001b[${begin}m${text}\u001b[${end}m` : text;
    },
  };
}
