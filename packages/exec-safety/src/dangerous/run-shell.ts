/**
 * Run shell: what a shell reads as its script: a text, a file that the line wrote, its input, a pipe.
 */
import { fieldOf, spanOfFields, type Call, type Field } from "./call.js";
import { NOTHING, type Feed } from "./feed.js";
import { PIPE_TO_SHELL } from "./rules/shapes.js";
import { shellProgram } from "./shells.js";
import { resolvePath } from "./site.js";
import { copyOf, keepArguments, reportDanger, reportHidden, type Spot, type Walk } from "./state.js";
import { visitText } from "./text.js";

/** A shell with its arguments. */
export function runShell(walk: Walk, spot: Spot, call: Call): Feed {
  const program = shellProgram(call.args);
  const inner: Spot = { shell: copyOf(spot.shell), input: spot.input };
  if (program.args.length > 0) keepArguments(inner.shell, program.args);
  for (const field of call.args) if (field.stream !== undefined) runStream(walk, inner, field);
  const { script, file, readsInput } = program;
  if (script !== undefined) {
    reportHidden(walk, script, script);
    return visitText(walk, inner, script);
  }
  if (file !== undefined) return runFile(walk, inner, file);
  if (!readsInput) return { source: "program" };
  return { ...runInput(walk, inner, call), isShell: inner.input.source === "file" || inner.input.isPiped === true };
}

/** `bash <(…)`: what the pipe carries is the script. */
function runStream(walk: Walk, spot: Spot, field: Field): void {
  reportHidden(walk, field, field);
  if (field.stream?.text !== undefined) visitText(walk, spot, { text: field.stream.text, span: field.span });
}

/** A script in a file: known where the line itself wrote it. */
export function runFile(walk: Walk, spot: Spot, file: Field): Feed {
  const path = resolvePath(file.text, spot.shell.site);
  const content = path === undefined ? undefined : spot.shell.files.get(path);
  if (content === undefined) return { source: "program" };
  reportHidden(walk, { lead: content.source }, file);
  return content.text === undefined ? { source: "program" } : visitText(walk, spot, { text: content.text, span: file.span });
}

/** A shell that reads its script from its input. */
export function runInput(walk: Walk, spot: Spot, { args, name }: Call): Feed {
  const { input } = spot;
  const span = args.length === 0 ? walk.span : spanOfFields(args);
  if (input.isPiped === true && input.source !== "none") reportDanger(walk, PIPE_TO_SHELL, span);
  else reportHidden(walk, { lead: input.source }, fieldOf(name, span));
  if (input.text === undefined || input.text === "") return { source: "program" };
  return visitText(walk, { ...spot, input: NOTHING }, { text: input.text, span });
}
