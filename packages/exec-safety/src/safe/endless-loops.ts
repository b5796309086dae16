/**
 * Endless loops: whether a `while` or an `until` ends by itself. What is safe changes nothing, so
 * that no condition changes either: a loop ends because its input does, because its condition says
 * so from the start, or by a `break` or an `exit`.
 */
import { changesInput } from "./names.js";
import type { Command, Node } from "../parse/tree.js";
import { nodesOf } from "../parse/visit.js";

type Loop = Extract<Node, { readonly type: "while" }>;

/** How a condition turns out: always the same, or one way until its input is over. */
type Course = "succeeds" | "fails" | "fails at last" | "succeeds at last" | "unknown";

const OPPOSITE: Readonly<Record<Course, Course>> = {
  succeeds: "fails",
  fails: "succeeds",
  "fails at last": "succeeds at last",
  "succeeds at last": "fails at last",
  unknown: "unknown",
};

/** Whether a loop is not known to end. */
export function mayNotEnd({ keyword, condition, body }: Loop): boolean {
  const course = courseOf(condition);
  const ends =
    keyword === "while"
      ? course === "fails" || course === "fails at last"
      : course === "succeeds" || course === "succeeds at last";
  return !ends && !leaves(condition, 1) && !leaves(body, 1);
}

/**
 * Whether something below a node leaves this many loops, or the shell. Another shell is left alone.
 */
function leaves(node: Node, depth: number): boolean {
  switch (node.type) {
    case "command": {
      const [program, count = "1"] = node.words.map(({ text }) => text);
      return program === "exit" || (program === "break" && Number(count) >= depth);
    }
    case "pipeline":
    case "refused":
      return false;
    case "group":
      return node.kind === "braces" && leaves(node.body, depth);
    case "while":
    case "for":
      return nodesOf(node).some((inner) => leaves(inner, depth + 1));
    default:
      return nodesOf(node).some((inner) => leaves(inner, depth));
  }
}

function courseOf(node: Node): Course {
  switch (node.type) {
    case "command":
      return courseOfCommand(node);
    case "prefixed":
      return node.prefix === "!" ? OPPOSITE[courseOf(node.body)] : courseOf(node.body);
    case "group":
      return node.kind === "braces" ? courseOf(node.body) : "unknown";
    case "sequence":
      return node.items.reduce<Course>(
        (course, item, index) => joined(course, item, { node, index }),
        "unknown",
      );
    default:
      return "unknown";
  }
}

type Sequence = Extract<Node, { readonly type: "sequence" }>;

function joined(
  before: Course,
  item: Node,
  { node, index }: { readonly node: Sequence; readonly index: number },
): Course {
  const operator = index === 0 ? ";" : node.operators[index - 1];
  const next = courseOf(item);
  if (operator === "&&")
    return (
      [before, next].find((course) => course === "fails" || course === "fails at last") ?? "unknown"
    );
  if (operator !== "||") return next;
  // `read -r line || [ -n "$line" ]`: the last line may lack its end.
  return before === "fails at last" &&
    (next === "fails" || looksAtRead(node.items[index - 1], item))
    ? before
    : "unknown";
}

function courseOfCommand(command: Command): Course {
  const [program, ...args] = command.words.map(({ text }) => text);
  if (program === "read") return readsOn(command) ? "fails at last" : "unknown";
  if (command.redirects.length > 0) return "unknown";
  if (program === ":" || program === "true") return "succeeds";
  return program === "false" && args.length === 0 ? "fails" : "unknown";
}

/**
 * Whether each `read` takes more of the same input: not the beginning of a file anew, nor nothing
 * of it.
 */
function readsOn({ words, redirects }: Command): boolean {
  const args = words.slice(1).map(({ text }) => text ?? "");
  const takesSome = args.every(
    (arg, index) =>
      !/^-[A-Za-z]*[tnN]/.test(arg) || /[1-9]/.test(/\d/.test(arg) ? arg : (args[index + 1] ?? "")),
  );
  return takesSome && !redirects.some(changesInput);
}

/** Whether a test looks at what a `read` before it has read. */
function looksAtRead(read: Node | undefined, test: Node): boolean {
  if (read?.type !== "command") return false;
  const names = new Set(read.words.slice(1).map(({ text }) => text));
  const words =
    test.type === "test"
      ? test.comparisons.flatMap((each) => each.words)
      : test.type === "command"
        ? test.words
        : [];
  return words.some(({ pieces }) =>
    pieces.some((piece) => piece.kind === "variable" && names.has(piece.name)),
  );
}
