/**
 * Run: looks at one program with its arguments: the rules about it, what it runs in turn, what it reads, writes and prints.
 */
import { isShell, isStdin, shellProgram } from "./shells.js";
import { hasRules, rulesOf } from "./rules.js";
import { fieldOf, operandsOf, type Call, type Field } from "./call.js";
import { runBuiltin } from "./builtins.js";
import { interpreterName, programOf, readCode } from "./code.js";
import { hasUnknown, isHidden, NOTHING, UNKNOWN, UNSET, type Feed } from "./feed.js";
import { launchedBy } from "./launchers.js";
import { outputOf } from "./output.js";
import {
  CODE_HIDDEN,
  CODE_REMOTE_SHELL,
  DECODED_CODE,
  FORK_BOMB,
  HIDDEN_DELETE,
  PIPE_TO_INTERPRETER,
  PIPE_TO_SHELL,
  REMOTE_CODE,
} from "./rules/shapes.js";
import { targetDanger } from "./rules/targets.js";
import { kindOf, resolvePath } from "./site.js";
import { copyOf, DEPTH_MAX, reportDanger, type Spot, type Walk } from "./state.js";
import { visitText } from "./text.js";
import { unwrap } from "../wrappers.js";
import { writtenBy } from "./writes.js";

/** Looks at one call; what it prints is returned. */
export function runFields(walk: Walk, spot: Spot, fields: readonly Field[]): Feed {
  const [first, ...args] = fields;
  if (first === undefined) return NOTHING;
  walk.budget.commands -= 1;
  if (walk.budget.commands < 0) return { source: "program" };
  reportHidden(walk, first, first);
  if (first.text.startsWith(UNKNOWN) || first.text.startsWith(UNSET)) {
    reportHidden(walk, { lead: walk.taint }, first);
    if (isDeleteOfWhole(fields, spot)) reportDanger(walk, HIDDEN_DELETE, first.span);
    return { source: "program" };
  }
  const called = callFunction(walk, spot, { name: first.text, args });
  if (called !== undefined) return called;
  const call: Call = { name: nameOf(first.text), args, input: spot.input, site: spot.shell.site };
  for (const rule of rulesOf(call.name)) if (rule.applies(call)) reportDanger(walk, rule, spanOfCall(fields));
  runDownloaded(walk, spot, first);
  const built = runBuiltin(walk, spot, call);
  if (built !== undefined) return built;
  const inner = runInner(walk, spot, { call, fields });
  const output = inner ?? outputOf(call);
  return keepWritten(walk, { ...spot, input: spot.input }, { call, output });
}

/** Base name; in lower case where only that is a program we know, since some file systems do not tell them apart. */
function nameOf(text: string): string {
  const name = text.slice(text.lastIndexOf("/") + 1);
  const lower = name.toLowerCase();
  return lower !== name && (hasRules(lower) || isShell(lower)) ? lower : name;
}

function spanOfCall(fields: readonly Field[]): Field["span"] {
  const start = fields[0]?.span.start ?? 0;
  const end = fields.reduce((most, { span }) => Math.max(most, span.end), start);
  return { start, end };
}

/** Code that nobody can read, in the place of a program or a script. */
function reportHidden(walk: Walk, { lead, stream }: Pick<Field, "lead" | "stream">, at: Field): boolean {
  const source = stream?.source ?? lead;
  if (!isHidden(source)) return false;
  reportDanger(walk, source === "remote" ? REMOTE_CODE : DECODED_CODE, at.span);
  return true;
}

/** `-rf /`, whatever the program is. */
function isDeleteOfWhole(fields: readonly Field[], { shell }: Spot): boolean {
  const texts = fields.slice(1).map(({ text }) => text);
  const isForced = texts.some(
    (text) => /^-[a-zA-Z]*(?:[rR][a-zA-Z]*f|f[a-zA-Z]*[rR])/.test(text) || text === "--recursive" || text === "-r" || text === "-R",
  );
  return isForced && texts.some((text) => !text.startsWith("-") && ["root", "home"].includes(kindOf(text, shell.site)));
}

function callFunction(
  walk: Walk,
  { shell, input }: Spot,
  { name, args }: { readonly name: string; readonly args: readonly Field[] },
): Feed | undefined {
  const body = shell.functions.get(name);
  if (body === undefined || walk.depth >= DEPTH_MAX) return undefined;
  const inner = copyOf(shell);
  inner.functions.delete(name);
  setArguments(inner.variables, [fieldOf(name, { start: 0, end: 0 }), ...args]);
  let output = NOTHING;
  for (const node of body) output = walk.visitNode({ ...walk, depth: walk.depth + 1 }, node, { shell: inner, input });
  return output;
}

type Variables = Spot["shell"]["variables"];

/** `$0`, `$1`, `$@` of a script or a function. */
function setArguments(variables: Variables, args: readonly Field[]): void {
  for (const [index, { text, lead, isSecret }] of args.slice(0, 10).entries())
    variables.set(String(index), { texts: [text], lead, isSecret });
  const elements = args.slice(1).map(({ text }) => text);
  for (const name of ["@", "*"])
    variables.set(name, { texts: [elements.join(" ")], lead: args[1]?.lead ?? "none", isSecret: false, elements });
}

/** A program that the line itself fetched or decoded into a file. */
function runDownloaded(walk: Walk, { shell }: Spot, file: Field): boolean {
  const isPath = file.text.includes("/");
  const path = isPath ? resolvePath(file.text, shell.site) : undefined;
  return path !== undefined && reportHidden(walk, { lead: shell.files.get(path)?.source ?? "none" }, file);
}

interface Running {
  readonly call: Call;
  readonly fields: readonly Field[];
}

/** What the call runs in turn; undefined where it runs nothing. */
function runInner(walk: Walk, spot: Spot, running: Running): Feed | undefined {
  const { call, fields } = running;
  if (isShell(call.name)) return runShell(walk, spot, call);
  const interpreter = interpreterName(call.name.toLowerCase());
  if (interpreter !== undefined) runInterpreter(walk, spot, { call, interpreter });
  if (call.name === "xargs" || call.name === "parallel") return runOnInput(walk, spot, running);
  const unwrapped = unwrap(fields);
  if (unwrapped !== undefined) {
    const { script, tail } = unwrapped;
    if (script !== undefined) return visitText(walk, spot, { text: script, span: spanOfCall(fields) });
    if (tail.length > 0 && tail.length < fields.length) return runFields(walk, spot, fields.slice(fields.length - tail.length));
  }
  const launched = launchedBy(call);
  if (launched.length === 0) return isDeleteBehind(walk, spot, running);
  for (const one of launched) {
    if ("script" in one) visitText(walk, { ...spot, shell: copyOf(spot.shell) }, one.script);
    else runFields(walk, { ...spot, shell: copyOf(spot.shell) }, one.fields);
  }
  return undefined;
}

const PRINTING = new Set(
  "echo printf grep egrep fgrep rg ag ack sed awk cat logger say notify-send test [ man info which type git alias tldr help expr read basename dirname".split(
    " ",
  ),
);

/** `launcher rm -rf /` behind a program that is not known. */
function isDeleteBehind(walk: Walk, spot: Spot, { call, fields }: Running): undefined {
  if (PRINTING.has(call.name) || hasRules(call.name)) return undefined;
  for (let at = 1; at < fields.length - 2; at += 1) {
    if (fields[at]?.text === "rm" && isDeleteOfWhole(fields.slice(at), spot)) {
      reportDanger(walk, HIDDEN_DELETE, spanOfCall(fields));
      return undefined;
    }
  }
  return undefined;
}

function runShell(walk: Walk, spot: Spot, call: Call): Feed {
  const program = shellProgram(call);
  const shell = copyOf(spot.shell);
  if (program.args.length > 0) setArguments(shell.variables, program.args);
  for (const field of call.args) if (field.stream !== undefined) runStream(walk, { shell, input: NOTHING }, field);
  const { script, file, readsInput } = program;
  if (script !== undefined) {
    reportHidden(walk, script, script);
    return visitText(walk, { shell, input: spot.input }, script);
  }
  if (file !== undefined) return runFile(walk, { shell, input: spot.input }, file);
  return readsInput ? runInput(walk, { shell, input: spot.input }, call) : { source: "program" };
}

/** `bash <(…)`: what the pipe carries is the script. */
function runStream(walk: Walk, spot: Spot, field: Field): void {
  reportHidden(walk, field, field);
  if (field.stream?.text !== undefined) visitText(walk, spot, { text: field.stream.text, span: field.span });
}

/** A script in a file: known where the line itself wrote it. */
export function runFile(walk: Walk, spot: Spot, file: Field): Feed {
  const path = resolvePath(file.text, spot.shell.site);
  const known = path === undefined ? undefined : spot.shell.files.get(path);
  if (known === undefined) return { source: "program" };
  reportHidden(walk, { lead: known.source }, file);
  return known.text === undefined ? { source: "program" } : visitText(walk, spot, { text: known.text, span: file.span });
}

/** A shell that reads its script from its input. */
export function runInput(walk: Walk, spot: Spot, { name, args }: Call): Feed {
  const { input } = spot;
  const span = spot.input.isPiped === true ? spanOfInput(args) : undefined;
  const at = span ?? spanOfInput(args);
  if (input.isPiped === true && input.source !== "none") reportDanger(walk, PIPE_TO_SHELL, at ?? walk.span);
  else reportHidden(walk, { lead: input.source }, fieldOf(name, at ?? walk.span));
  if (input.text === undefined || input.text === "") return { source: "program" };
  return visitText(walk, { ...spot, input: NOTHING }, { text: input.text, span: at ?? walk.span });
}

const spanOfInput = (args: readonly Field[]): Field["span"] | undefined => args[0]?.span;

/** `xargs rm`, `parallel sh -c`: the input becomes arguments. */
function runOnInput(walk: Walk, spot: Spot, { call, fields }: Running): Feed {
  const unwrapped = unwrap(fields);
  const { text } = spot.input;
  const items =
    text === undefined
      ? [UNKNOWN]
      : text
          .split(/\s+/)
          .filter((item) => item !== "")
          .slice(0, 32);
  const given = items.map((item) => ({ ...fieldOf(item, call.args[0]?.span ?? walk.span), lead: "program" as const }));
  const tail = unwrapped?.script === undefined ? fields.slice(fields.length - (unwrapped?.tail.length ?? 0)) : [];
  if (unwrapped?.script !== undefined)
    return visitText(
      walk,
      { ...spot, input: NOTHING },
      { text: `${unwrapped.script.replaceAll("{}", UNKNOWN)} ${items.join(" ")}`, span: spanOfCall(fields) },
    );
  if (tail.length === 0) return { source: "program" };
  const mark = markOf(call);
  const [program] = tail;
  if (program !== undefined && isShell(nameOf(program.text)) && runsItems(tail, mark))
    reportDanger(walk, PIPE_TO_SHELL, spanOfCall(fields));
  const isPlaced = mark !== undefined && tail.some((field) => field.text.includes(mark));
  const inner = isPlaced
    ? tail.flatMap((field) =>
        field.text.includes(mark) ? given.map((item) => ({ ...item, text: field.text.replaceAll(mark, item.text) })) : [field],
      )
    : [...tail, ...given];
  return runFields(walk, { ...spot, input: NOTHING }, inner);
}

/** What xargs replaces: `-I X`, `-i`, `--replace=X`. */
function markOf({ args, name }: Call): string | undefined {
  if (name === "parallel") return "{}";
  for (const [at, { text }] of args.entries()) {
    if (text === "-I") return args[at + 1]?.text;
    if (text.startsWith("-I")) return text.slice(2);
    if (text === "-i" || text === "--replace") return "{}";
    if (text.startsWith("--replace=")) return text.slice("--replace=".length);
  }
  return undefined;
}

/** Whether the items of xargs are what a shell runs: the script itself, or where a command stands in it. */
function runsItems(tail: readonly Field[], mark: string | undefined): boolean {
  const { script, file } = shellProgram({
    name: "sh",
    args: tail.slice(1),
    input: NOTHING,
    site: { project: "/", home: "/", directory: "/" },
  });
  if (script === undefined) return file === undefined && tail.some(({ text }) => /^-[a-z]*c/.test(text));
  const text = script.text.trimStart();
  return (
    (mark !== undefined && new RegExp(`(?:^|[;&|(]\\s*)${mark.replace(/[^\w]/g, "\\$&")}`).test(text)) ||
    /^(?:\$@|"\$@"|\$\*|\$0|"\$0"|\$1|eval\b)/.test(text)
  );
}

function runInterpreter(walk: Walk, spot: Spot, { call, interpreter }: { readonly call: Call; readonly interpreter: string }): void {
  const { codes, file, readsInput } = programOf(call, interpreter);
  for (const field of call.args)
    if (field.stream !== undefined && (file === field || codes.includes(field))) reportHidden(walk, field, field);
  for (const code of codes) {
    reportHidden(walk, code, code);
    runCode(walk, spot, code);
  }
  if (file !== undefined) {
    const path = resolvePath(file.text, spot.shell.site);
    reportHidden(walk, { lead: path === undefined ? "none" : (spot.shell.files.get(path)?.source ?? "none") }, file);
  }
  if (!readsInput) return;
  const { input } = spot;
  const span = call.args[0]?.span ?? walk.span;
  if (input.isPiped === true && input.source !== "none" && input.source !== "text" && input.source !== "file")
    reportDanger(walk, PIPE_TO_INTERPRETER, span);
  else reportHidden(walk, { lead: input.source }, fieldOf(call.name, span));
  if (input.text !== undefined) runCode(walk, spot, fieldOf(input.text, span));
}

/** What code of another language does, as far as its words tell. */
function runCode(walk: Walk, spot: Spot, { text, span }: Field): void {
  const signs = readCode(text);
  if (signs.isRemoteShell) reportDanger(walk, CODE_REMOTE_SHELL, span);
  if (signs.runsHidden) reportDanger(walk, CODE_HIDDEN, span);
  if (signs.forksForever) reportDanger(walk, FORK_BOMB, span);
  if (signs.killsAll)
    runFields(
      walk,
      spot,
      ["kill", "-9", "-1"].map((word) => fieldOf(word, span)),
    );
  for (const command of signs.commands) visitText(walk, { ...spot, shell: copyOf(spot.shell), input: NOTHING }, { text: command, span });
  const homed = (path: string): string => (path === "~" || path.startsWith("~/") ? spot.shell.site.home + path.slice(1) : path);
  for (const path of signs.deleted)
    runFields(
      walk,
      spot,
      ["rm", "-rf", "--", homed(path)].map((word) => fieldOf(word, span)),
    );
  for (const path of signs.written) {
    const danger = /^[/~.]/.test(path) ? targetDanger(homed(path), spot.shell.site) : undefined;
    if (danger !== undefined) reportDanger(walk, danger, span);
  }
}

/** Reports dangerous targets of what a call writes, and remembers what is in the files. */
function keepWritten(walk: Walk, spot: Spot, { call, output }: { readonly call: Call; readonly output: Feed }): Feed {
  for (const field of writtenBy(call)) {
    if (isStdin(field.text) || hasUnknown(field.text.charAt(0))) continue;
    const danger = targetDanger(field.text, spot.shell.site);
    if (danger !== undefined) {
      reportDanger(walk, danger, field.span);
      break;
    }
    const path = resolvePath(field.text, spot.shell.site);
    const content = contentOf(walk, spot, { call, output });
    if (path !== undefined && content !== undefined) spot.shell.files.set(path, content);
  }
  return output;
}

/** What a call puts into the file it writes. */
function contentOf(
  _walk: Walk,
  { shell, input }: Spot,
  { call, output }: { readonly call: Call; readonly output: Feed },
): Feed | undefined {
  if (call.name === "curl" || call.name === "wget" || call.name === "aria2c") return { source: "remote" };
  if (call.name === "tee" || call.name === "sponge") return { ...input, isPiped: false };
  if (call.name === "base64" || call.name === "openssl" || call.name === "gpg") return output;
  if (call.name !== "cp" && call.name !== "mv" && call.name !== "install" && call.name !== "ln") return undefined;
  const source = operandsOf(call)[0];
  const path = source === undefined ? undefined : resolvePath(source.text, shell.site);
  return path === undefined ? undefined : shell.files.get(path);
}
