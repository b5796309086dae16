/**
 * Instructions: what a server tells the model to do with it, held against its pin when it answers
 * `initialize`. Changed ones are left out. Rules: spec/tool-pins.md §5.
 */
import { isConsentError } from "@acp/core";
import { membersOf, splice, textOf, valueFrom } from "../json-walk.js";
import type { Span } from "../json-walk.js";
import { fold } from "../fold.js";
import { logText } from "../log-text.js";
import { isAmbiguous } from "./stray.js";
import { pinOf } from "./tool-pins.js";
import type { ToolPins } from "./tool-pins.js";

/** Whose instructions, and what they are held against. */
export interface InstructionParts {
  readonly server: string;
  readonly pins: ToolPins | undefined;
  readonly log: (line: string) => void;
}

/** Whether the model may read them. Never rejects: what cannot be compared is left out. */
export async function mayInstruct(
  { server, pins, log }: InstructionParts,
  instructions: string,
): Promise<boolean> {
  if (pins === undefined) return true;
  const why = await whyNot(pins, server, instructions);
  if (why === undefined) return true;
  log(`[${server}] its instructions are left out: ${why}`);
  return false;
}

async function whyNot(
  pins: ToolPins,
  server: string,
  instructions: string,
): Promise<string | undefined> {
  try {
    const pinned = pinOf(instructions);
    const [state] = await pins.look(server, [{ kind: "instructions", name: "", ...pinned }]);
    return state === "new" || state === "same"
      ? undefined
      : "they are not what was pinned; run: acp mcp review";
  } catch (error) {
    return isConsentError(error) ? logText(error.message) : "their pin could not be read";
  }
}

/**
 * An answer to `initialize` as its client may read it: with empty instructions where they may not be
 * read, and every other byte as it came.
 */
export async function readableAnswer(parts: InstructionParts, line: Buffer): Promise<Buffer> {
  if (parts.pins === undefined) return line;
  const spans = instructionsIn(line);
  const [only] = spans;
  if (only === undefined) return line;
  const isPlain = !isAmbiguous(line, "instructions");
  const text: unknown = isPlain ? JSON.parse(textOf(line, only)) : undefined;
  if (!isPlain) parts.log(`[${parts.server}] its instructions are left out: it has two`);
  if (typeof text === "string" && (await mayInstruct(parts, text))) return line;
  return splice(
    line,
    spans.map((span) => ({ ...span, text: '""' })),
  );
}

/** Wherever instructions stand in a result, also where there are two of either. */
function instructionsIn(line: Buffer): readonly Span[] {
  const named = (at: Span, name: string): readonly Span[] =>
    (membersOf(line, at) ?? []).flatMap(({ key, value }) => (fold(key) === name ? [value] : []));
  return named(valueFrom(line), "result").flatMap((result) => named(result, "instructions"));
}
