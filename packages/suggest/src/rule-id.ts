/** Ids of suggested rules: what the rule is about, and no id that is taken. Pure. */
import type { CallShape } from "./shape.js";

const CHARS_MAX = 64;

/** An id such as `allow-files-write_file`. */
export function ruleId(
  shape: CallShape,
  effect: "allow" | "deny",
  taken: ReadonlySet<string>,
): string {
  const base = [effect, ...wordsOf(shape)]
    .map((part) => part.replace(/[^A-Za-z0-9._]+/g, "-").replace(/^-+|-+$/g, ""))
    .filter((part) => part !== "")
    .join("-")
    .slice(0, CHARS_MAX);
  let id = base;
  for (let number = 2; taken.has(id); number++) id = `${base}-${number}`;
  return id;
}

function wordsOf(shape: CallShape): readonly string[] {
  switch (shape.kind) {
    case "tool":
      return [shape.server, shape.tool];
    case "http":
      return [shape.method.toLowerCase(), shape.host];
    case "shell":
      return ["shell", shape.program];
    default:
      return shape satisfies never;
  }
}
