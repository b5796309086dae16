/**
 * Run shell: what a shell reads as its script: a text, a file that the line wrote, its input, a
 * pipe.
 */
import { fieldOf, spanOfFields, type Call, type Field } from "./call.js";
import { NOTHING, type Feed } from "./feed.js";
import { PIPE_TO_SHELL } from "./rules/shapes.js";
import { shellProgram } from "./shells.js";
import { resolvePath } from "./site.js";
import {
  copyOf,
  keepArguments,
  reportDanger,
  reportHidden,
  type Spot,
  type Search,
} from "./search.js";
import { visitText } from "./text.js";

/** A shell with its arguments. */
export function runShell(search: Search, spot: Spot, call: Call): Feed {
  const program = shellProgram(call.args);
  const inner: Spot = { shell: copyOf(spot.shell), input: spot.input };
  if (program.args.length > 0) keepArguments(inner.shell, program.args);
  for (const field of call.args) if (field.stream !== undefined) runStream(search, inner, field);
  const { script, file, readsInput } = program;
  if (script !== undefined) {
    reportHidden(search, script, script);
    return visitText(search, inner, script);
  }
  if (file !== undefined) return runFile(search, inner, file);
  if (!readsInput) return { source: "program" };
  return {
    ...runInput(search, inner, call),
    isShell: inner.input.source === "file" || inner.input.isPiped === true,
  };
}

/** `bash <(…)`: what the pipe carries is the script. */
function runStream(search: Search, spot: Spot, field: Field): void {
  reportHidden(search, field, field);
  if (field.stream?.text !== undefined)
    visitText(search, spot, { text: field.stream.text, span: field.span });
}

/** A script in a file: known where the line itself wrote it. */
export function runFile(search: Search, spot: Spot, file: Field): Feed {
  const path = resolvePath(file.text, spot.shell.site);
  const content = path === undefined ? undefined : spot.shell.files.get(path);
  if (content === undefined) return { source: "program" };
  reportHidden(search, { lead: content.source }, file);
  return content.text === undefined
    ? { source: "program" }
    : visitText(search, spot, { text: content.text, span: file.span });
}

/** A shell that reads its script from its input. */
export function runInput(search: Search, spot: Spot, { args, name }: Call): Feed {
  const { input } = spot;
  const span = args.length === 0 ? search.span : spanOfFields(args);
  if (input.isPiped === true && input.source !== "none") reportDanger(search, PIPE_TO_SHELL, span);
  else reportHidden(search, { lead: input.source }, fieldOf(name, span));
  if (input.text === undefined || input.text === "") return { source: "program" };
  return visitText(search, { ...spot, input: NOTHING }, { text: input.text, span });
}
