/**
 * Run on input: `xargs` and `parallel`, which make arguments of their input.
 */
import { unwrap } from "../parse/wrappers.js";
import { fieldOf, spanOfFields, type Call, type Field } from "./call.js";
import { NOTHING, UNKNOWN, type Feed } from "./feed.js";
import { PIPE_TO_SHELL } from "./rules/shapes.js";
import { isShell, shellProgram } from "./shells.js";
import { reportDanger, type Spot, type Search } from "./search.js";
import { visitText } from "./text.js";

/** Items of the input that are followed. */
const ITEMS_MAX = 32;

/** Looks at the command with the items in their places. */
export function runOnInput(
  search: Search,
  spot: Spot,
  { call, fields }: { readonly call: Call; readonly fields: readonly Field[] },
): Feed {
  const span = spanOfFields(fields);
  const items = itemsOf(spot.input);
  const inner: Spot = { ...spot, input: NOTHING };
  const unwrapped = unwrap(fields);
  if (unwrapped?.script !== undefined) {
    return visitText(search, inner, {
      text: `${unwrapped.script.replaceAll("{}", UNKNOWN)} ${items.join(" ")}`,
      span,
    });
  }
  const tail = fields.slice(fields.length - (unwrapped?.tail.length ?? 0));
  const [program] = tail;
  if (program === undefined) return { source: "program" };
  const mark = markOf(call);
  if (
    isShell(program.text.slice(program.text.lastIndexOf("/") + 1)) &&
    runsItems(tail.slice(1), mark)
  )
    reportDanger(search, PIPE_TO_SHELL, span);
  return search.run(search, inner, place(tail, items, mark));
}

function itemsOf({ text }: Feed): readonly string[] {
  if (text === undefined) return [UNKNOWN];
  return text
    .split(/\s+/)
    .filter((item) => item !== "")
    .slice(0, ITEMS_MAX);
}

/** The items where the mark stands, or behind the command. */
function place(
  tail: readonly Field[],
  items: readonly string[],
  mark: string | undefined,
): readonly Field[] {
  const at = tail.at(-1)?.span ?? { start: 0, end: 0 };
  const given = (text: string): Field => ({ ...fieldOf(text, at), lead: "program" });
  if (mark === undefined || mark === "" || !tail.some(({ text }) => text.includes(mark)))
    return [...tail, ...items.map(given)];
  return tail.flatMap((field) =>
    field.text.includes(mark)
      ? items.map((item) => given(field.text.replaceAll(mark, () => item)))
      : [field],
  );
}

/** What xargs replaces: `-I X`, `-i`, `--replace=X`. */
function markOf({ args, name }: Call): string | undefined {
  if (name === "parallel") return "{}";
  for (const [at, { text }] of args.entries()) {
    if (text === "-I") return args[at + 1]?.text;
    if (text.startsWith("-I")) return text.slice("-I".length);
    if (text === "-i" || text === "--replace") return "{}";
    if (text.startsWith("--replace=")) return text.slice("--replace=".length);
  }
  return undefined;
}

/** Whether a shell runs the items: they are its script, or stand in it where a command begins. */
function runsItems(args: readonly Field[], mark: string | undefined): boolean {
  const { script, file } = shellProgram(args);
  if (script === undefined)
    return file === undefined && args.some(({ text }) => /^-[a-z]*c/.test(text));
  const text = script.text.trimStart();
  return startsCommand(text, mark) || /^(?:"?\$(?:[@*01]|\{[@*01]\})"?|eval\b)/.test(text);
}

function startsCommand(text: string, mark: string | undefined): boolean {
  if (mark === undefined || mark === "") return false;
  for (let at = text.indexOf(mark); at >= 0; at = text.indexOf(mark, at + mark.length)) {
    let before = at - 1;
    while (before >= 0 && " \t\n".includes(text.charAt(before))) before -= 1;
    if (before < 0 || ";&|(".includes(text.charAt(before))) return true;
  }
  return false;
}
