/**
 * Edit: a person enters other arguments as JSON, sees what that changes, and confirms it.
 */
import {
  type JsonObject,
  canonicalJson,
  confirmationWord,
  escapeText,
  isJsonObject,
  parseJson,
} from "@acp/core";
import type { OpenQuestion } from "./approver-client.js";
import { diffArguments } from "./diff.js";
import { type Desk, NOT_KEY_BY_KEY, promptLine } from "./prompt.js";

/** Characters of one entry: what an answer can carry. */
const ENTRY_CHARS_MAX: number = 1024 * 1024;
/**
 * Bytes of a line that a terminal hands over whole; a longer one is silently cut. Linux: 4,095 and
 * the line's end; macOS: 1,024.
 */
const TTY_LINE_BYTES_MAX: number = process.platform === "linux" ? 4_094 : 1_000;

/** What came of an edit. */
export type Edited =
  | { readonly kind: "confirmed"; readonly parameters: JsonObject; readonly word: string }
  /** Left, refused or without a change; the person was told. */
  | { readonly kind: "kept" }
  | { readonly kind: "over" | "gone" };

interface EditOptions {
  readonly question: OpenQuestion;
  readonly status: () => string;
  readonly signal: AbortSignal;
}

type Entry =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "cut" }
  | { readonly kind: "over" }
  | { readonly kind: "gone" };

/** Lines up to an empty one. */
async function readEntry({ input }: Desk, signal: AbortSignal): Promise<Entry> {
  const lines: string[] = [];
  let chars = 0;
  let cut = false;
  for (;;) {
    const typed = await input.readLine(signal);
    if (typed.kind !== "line") return typed;
    if (typed.text.trim() === "")
      return cut ? { kind: "cut" } : { kind: "text", text: lines.join("\n") };
    chars += typed.text.length;
    if (
      chars > ENTRY_CHARS_MAX ||
      (input.isTTY && Buffer.byteLength(typed.text) > TTY_LINE_BYTES_MAX)
    )
      cut = true;
    else lines.push(typed.text);
  }
}

/** The entry as arguments, or why it is none. */
function readArguments(text: string): JsonObject | string {
  try {
    const value = parseJson(text, { bytesMax: ENTRY_CHARS_MAX });
    return isJsonObject(value) ? value : "the arguments are not a JSON object";
  } catch (error) {
    return error instanceof Error ? escapeText(error.message) : "it is not JSON";
  }
}

/** The proposed arguments, as text that can be copied and entered again. */
function showProposal({ screen }: Desk, { request }: OpenQuestion): void {
  screen.say("The arguments as proposed:");
  screen.quote(JSON.stringify(request.action.parameters, undefined, 2).split("\n"));
  screen.say(
    "Enter all arguments as one JSON object, then an empty line. An empty line alone keeps them as they are.",
  );
}

async function confirm(
  desk: Desk,
  parameters: JsonObject,
  { question, status, signal }: EditOptions,
): Promise<Edited> {
  const proposed = question.request.action.parameters;
  if (canonicalJson(proposed) === canonicalJson(parameters)) {
    desk.screen.say("Kept: the arguments are unchanged");
    return { kind: "kept" };
  }
  desk.screen.say("Your changes:");
  for (const { sign, text } of diffArguments(proposed, parameters))
    desk.screen.quote([`${sign} ${text}`], sign === "-" ? "red" : "green");
  const word = confirmationWord(question.request) ?? "yes";
  const typed = await promptLine(desk, {
    label: `Type ${word} to allow the call with these changes > `,
    status,
    signal,
  });
  if (typed.kind !== "line") return typed;
  const given = typed.text.trim().toLowerCase();
  if (given === word && typed.isKeyByKey) return { kind: "confirmed", parameters, word: given };
  desk.screen.say(`Kept: ${given === word ? NOT_KEY_BY_KEY : "the changes were not confirmed"}`);
  return { kind: "kept" };
}

/** Lets the person replace the arguments. */
export async function editArguments(desk: Desk, options: EditOptions): Promise<Edited> {
  showProposal(desk, options.question);
  const entry = await readEntry(desk, options.signal);
  const keep = (why: string): Edited => {
    desk.screen.say(`Kept: ${why}`);
    return { kind: "kept" };
  };
  if (entry.kind === "cut")
    return keep(
      "the entry is too large, or a line is longer than this terminal accepts; break it into shorter lines",
    );
  if (entry.kind !== "text") return { kind: entry.kind };
  if (entry.text === "") return keep("nothing was entered");
  const parameters = readArguments(entry.text);
  return typeof parameters === "string" ? keep(parameters) : confirm(desk, parameters, options);
}
