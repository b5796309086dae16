/**
 * Run: looks at one program with its arguments: the rules about it, what it runs in turn, what it
 * reads, writes and prints.
 */
import { unwrap } from "../parse/wrappers.js";
import { runBuiltin } from "./builtins.js";
import { fieldOf, spanOfFields, type Call, type Field } from "./call.js";
import { interpreterName } from "./interpreters.js";
import { NOTHING, UNKNOWN, UNSET, type Feed } from "./feed.js";
import { keepWritten } from "./keep-written.js";
import { launchedBy } from "./launchers.js";
import { outputOf } from "./output.js";
import { rulesOf } from "./rules.js";
import { HIDDEN_DELETE } from "./rules/shapes.js";
import { runInterpreter } from "./run-code.js";
import { runOnInput } from "./run-on-input.js";
import { runFile, runInput, runShell } from "./run-shell.js";
import { isShell } from "./shells.js";
import { kindOf } from "./site.js";
import {
  copyOf,
  DEPTH_MAX,
  keepArguments,
  reportDanger,
  reportHidden,
  type Spot,
  type Search,
} from "./search.js";
import { visitText } from "./text.js";

/** A call with its words. */
interface Running {
  readonly call: Call;
  readonly fields: readonly Field[];
}

/** Words of what counts as one command of the budget. */
const FIELDS_OF_ONE = 16;

/** Looks at one call; what it prints is returned. */
export function runFields(search: Search, spot: Spot, fields: readonly Field[]): Feed {
  const [first] = fields;
  if (first === undefined) return NOTHING;
  // A launcher may have a launcher in its arguments, and each of them the rest of the line: a long
  // command counts for more than one.
  search.budget.commands -= 1 + Math.floor(fields.length / FIELDS_OF_ONE);
  if (search.budget.commands < 0) return { source: "program" };
  reportHidden(search, first, first);
  const program = first.text.replaceAll(UNSET, "");
  if (program === "" || program.startsWith(UNKNOWN)) {
    reportHidden(search, { lead: search.taint }, first);
    if (isDeleteOfWhole(fields, spot)) reportDanger(search, HIDDEN_DELETE, first.span);
    return { source: "program" };
  }
  const args = fields.slice(1);
  const called = callFunction(search, spot, { name: program, args });
  if (called !== undefined) return called;
  const call = callOf(program, args, spot);
  for (const rule of rulesOf(call.name))
    if (rule.applies(call)) reportDanger(search, rule, spanOfFields(fields));
  if (spot.shell.files.size > 0 && program.includes("/"))
    runFile(search, { ...spot, shell: copyOf(spot.shell) }, { ...first, text: program });
  const output =
    runBuiltin(search, spot, call) ?? runInner(search, spot, { call, fields }) ?? outputOf(call);
  return keepWritten(search, spot, { call, output });
}

/** The call under the name that rules know the program by. */
function callOf(path: string, args: readonly Field[], { input, shell }: Spot): Call {
  const { site } = shell;
  const name = path.slice(path.lastIndexOf("/") + 1);
  if (path.startsWith("/etc/init.d/"))
    return { name: "service", args: [fieldOf(name, { start: 0, end: 0 }), ...args], input, site };
  // Some file systems do not tell upper from lower case.
  const lower = name.toLowerCase();
  return {
    name: lower !== name && (rulesOf(lower).length > 0 || isShell(lower)) ? lower : name,
    args,
    input,
    site,
  };
}

/** Options of a recursive delete with the root or a home, whatever the program is. */
function isDeleteOfWhole(fields: readonly Field[], { shell }: Spot): boolean {
  const texts = fields.slice(1).map(({ text }) => text);
  const isForced = texts.some((text) =>
    /^-(?:[a-zA-Z]*[rR][a-zA-Z]*f|[a-zA-Z]*f[a-zA-Z]*[rR]|[rR]$|-recursive$)/.test(text),
  );
  return (
    isForced &&
    texts.some(
      (text) => !text.startsWith("-") && ["root", "home"].includes(kindOf(text, shell.site)),
    )
  );
}

function callFunction(
  search: Search,
  { shell, input }: Spot,
  { name, args }: { readonly name: string; readonly args: readonly Field[] },
): Feed | undefined {
  const body = shell.functions.get(name);
  if (body === undefined || search.depth >= DEPTH_MAX) return undefined;
  const inner = copyOf(shell);
  keepArguments(inner, [fieldOf(name, search.span), ...args]);
  let output = NOTHING;
  for (const node of body)
    output = search.visitNode({ ...search, depth: search.depth + 1 }, node, {
      shell: inner,
      input,
    });
  return output;
}

/** What the call runs in turn; undefined where it runs nothing. */
function runInner(search: Search, spot: Spot, running: Running): Feed | undefined {
  const { call, fields } = running;
  if (isShell(call.name)) return runShell(search, spot, call);
  if (call.name === "at" || call.name === "batch")
    return runInput(search, { ...spot, input: { ...spot.input, isPiped: false } }, call);
  const interpreter = interpreterName(call.name.toLowerCase());
  if (interpreter !== undefined) runInterpreter(search, spot, { call, interpreter });
  if (call.name === "xargs" || call.name === "parallel") return runOnInput(search, spot, running);
  const unwrapped = unwrap(fields);
  if (unwrapped !== undefined) {
    const { script, tail } = unwrapped;
    const worst =
      fields.find((field) => field.worst === "remote" || field.worst === "decoded")?.worst ??
      "none";
    if (script !== undefined)
      return visitText(search, spot, { text: script, span: spanOfFields(fields), worst });
    if (tail.length > 0 && tail.length < fields.length)
      return runFields(search, spot, fields.slice(fields.length - tail.length));
  }
  return runLaunched(search, spot, running);
}

/**
 * What the last of the launched commands prints; undefined where nothing is launched, or where the
 * program itself prints.
 */
function runLaunched(search: Search, spot: Spot, running: Running): Feed | undefined {
  const { call } = running;
  const launched = launchedBy(call);
  if (launched.length === 0) reportDeleteBehind(search, spot, running);
  let output: Feed | undefined;
  for (const one of launched) {
    const inner = { ...spot, shell: copyOf(spot.shell) };
    output =
      "script" in one ? visitText(search, inner, one.script) : runFields(search, inner, one.fields);
  }
  return call.name === "find" ? undefined : output;
}

/** Programs that show or search the words they are given. */
const SHOWING: ReadonlySet<string> = new Set(
  (
    "echo printf grep egrep fgrep rg ag ack sed awk cat logger say notify-send test [ man info which type git alias tldr help expr read " +
    "basename dirname apropos whatis whereis history gh jq"
  ).split(" "),
);

/** `launcher rm -rf x` behind a program that is not known, where x is the root or a home. */
function reportDeleteBehind(search: Search, spot: Spot, { call, fields }: Running): void {
  if (SHOWING.has(call.name) || rulesOf(call.name).length > 0) return;
  const at = fields.findIndex(({ text }, index) => index > 0 && text === "rm");
  if (at > 0 && isDeleteOfWhole(fields.slice(at), spot))
    reportDanger(search, HIDDEN_DELETE, spanOfFields(fields));
}
