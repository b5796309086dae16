/**
 * Command: what a person typed at a question. Nothing is a yes but the words for it.
 */

/** What a person wants done with the question on the screen. */
export type Command =
  | {
      readonly kind: "approve" /** What was typed, in lower case: `a` or `approve`. */;
      readonly word: string /** The offer taken with it, `""` for none. */;
      readonly offer: string;
    }
  | { readonly kind: "deny"; readonly reason: string }
  | { readonly kind: "edit" | "details" | "next" | "help" | "empty" }
  | { readonly kind: "unknown"; readonly text: string };

/** Reads one line. */
export function parseCommand(line: string): Command {
  const text = line.trim();
  const [word = ""] = text.split(/\s/, 1);
  const rest = text.slice(word.length).trim();
  switch (word.toLowerCase()) {
    case "":
      return { kind: "empty" };
    case "a":
    case "approve":
      return { kind: "approve", word: word.toLowerCase(), offer: rest };
    case "d":
    case "deny":
      return { kind: "deny", reason: rest };
    default:
      return rest === "" ? parseBareWord(word) : { kind: "unknown", text };
  }
}

function parseBareWord(word: string): Command {
  switch (word.toLowerCase()) {
    case "e":
    case "edit":
      return { kind: "edit" };
    case "v":
    case "details":
      return { kind: "details" };
    case "n":
    case "next":
      return { kind: "next" };
    case "?":
    case "h":
    case "help":
      return { kind: "help" };
    default:
      return { kind: "unknown", text: word };
  }
}
