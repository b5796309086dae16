/**
 * Builtins: commands that change the shell itself: its directory, its variables, its arguments, or
 * that read a script into it.
 */
import { fieldOf, operandsOf, type Call } from "./call.js";
import { NOTHING, UNKNOWN, worse, type Feed, type Source } from "./feed.js";
import { outputOf } from "./output.js";
import { runFile, runInput } from "./run-shell.js";
import { isStdin } from "./shells.js";
import { resolvePath } from "./site.js";
import { keepArguments, reportHidden, type Spot, type Search } from "./search.js";
import { visitText } from "./text.js";

type Builtin = (search: Search, spot: Spot, call: Call) => Feed | undefined;

const BUILTINS: ReadonlyMap<string, Builtin> = new Map<string, Builtin>([
  ["cd", changeDirectory],
  ["pushd", changeDirectory],
  ["popd", forgetDirectory],
  ["eval", evaluate],
  ["source", source],
  [".", source],
  ["export", assign],
  ["declare", assign],
  ["typeset", assign],
  ["local", assign],
  ["readonly", assign],
  ["read", readInput],
  ["mapfile", readInput],
  ["readarray", readInput],
  ["set", setArguments],
  ["printf", printInto],
]);

/** Runs a builtin; undefined where the program is none. */
export function runBuiltin(search: Search, spot: Spot, call: Call): Feed | undefined {
  return BUILTINS.get(call.name)?.(search, spot, call);
}

function changeDirectory(_walk: Search, { shell }: Spot, call: Call): Feed {
  const target = operandsOf(call).at(0)?.text;
  const directory =
    target === undefined
      ? shell.site.home
      : target === "-" || target === ""
        ? undefined
        : resolvePath(target, shell.site);
  shell.site = { ...shell.site, directory };
  return NOTHING;
}

function forgetDirectory(_walk: Search, { shell }: Spot): Feed {
  shell.site = { ...shell.site, directory: undefined };
  return NOTHING;
}

function evaluate(search: Search, spot: Spot, { args }: Call): Feed {
  const [first] = args;
  if (first === undefined) return NOTHING;
  reportHidden(search, first, first);
  return visitText(search, spot, {
    text: args.map(({ text }) => text).join(" "),
    span: first.span,
    worst: args.reduce<Source>((worst, field) => worse(worst, field.worst), "none"),
  });
}

function source(search: Search, spot: Spot, call: Call): Feed {
  const [file] = operandsOf(call);
  if (file === undefined) return NOTHING;
  if (isStdin(file.text)) return runInput(search, spot, call);
  if (file.stream === undefined) return runFile(search, spot, file);
  reportHidden(search, file, file);
  const { text } = file.stream;
  return text === undefined ? NOTHING : visitText(search, spot, { text, span: file.span });
}

function assign(_walk: Search, { shell }: Spot, { args }: Call): Feed {
  for (const { text, lead, isSecret } of args) {
    const [, name, value = ""] = /^([A-Za-z_]\w*)\+?=([\s\S]*)$/.exec(text) ?? [];
    if (name !== undefined) shell.variables.set(name, { texts: [value], lead, isSecret });
  }
  return NOTHING;
}

/** `read x`: the variable holds what the input carries. */
function readInput(_walk: Search, { shell, input }: Spot, call: Call): Feed {
  const names = operandsOf(call, "dinNptua").map(({ text }) => text);
  for (const name of names.length === 0 ? ["REPLY"] : names) {
    if (/^\w+$/.test(name))
      shell.variables.set(name, {
        texts: [firstLine(input) ?? UNKNOWN],
        lead: input.source,
        isSecret: input.isSecret === true,
      });
  }
  return NOTHING;
}

const firstLine = ({ text }: Feed): string | undefined => text?.split("\n", 1)[0];

function setArguments(_walk: Search, { shell }: Spot, call: Call): Feed {
  const { args } = call;
  const at = args.findIndex(({ text }) => text === "--");
  if (at < 0) return args.length === 0 ? { source: "program", isSecret: true } : NOTHING;
  keepArguments(shell, [
    fieldOf("bash", call.args[at]?.span ?? { start: 0, end: 0 }),
    ...call.args.slice(at + 1),
  ]);
  return NOTHING;
}

/** `printf -v x …`: the variable holds what is printed. */
function printInto(_walk: Search, { shell }: Spot, call: Call): Feed | undefined {
  const [option, name, ...rest] = call.args;
  if (option?.text !== "-v" || name === undefined) return undefined;
  const printed = outputOf({ ...call, args: rest });
  shell.variables.set(name.text, {
    texts: [printed.text ?? UNKNOWN],
    lead: printed.source,
    isSecret: printed.isSecret === true,
  });
  return NOTHING;
}
