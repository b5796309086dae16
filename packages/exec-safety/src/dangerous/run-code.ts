/**
 * Run code: an interpreter of another language with its program: in an argument, in a file that the
 * line wrote, or on its input.
 */
import { fieldOf, type Call, type Field } from "./call.js";
import { readCode } from "./code.js";
import { programOf } from "./interpreters.js";
import { NOTHING } from "./feed.js";
import { CODE_HIDDEN, CODE_REMOTE_SHELL, FORK_BOMB, PIPE_TO_INTERPRETER } from "./rules/shapes.js";
import { targetDanger } from "./rules/targets.js";
import { resolvePath } from "./site.js";
import { copyOf, reportDanger, reportHidden, type Spot, type Search } from "./search.js";
import { visitText } from "./text.js";

/** Looks at the program of an interpreter. */
export function runInterpreter(
  search: Search,
  spot: Spot,
  { call, interpreter }: { readonly call: Call; readonly interpreter: string },
): void {
  const { codes, file, readsInput } = programOf(call, interpreter);
  for (const code of codes) {
    reportHidden(search, code, code);
    runCode(search, spot, code);
  }
  if (file !== undefined) {
    const path = resolvePath(file.text, spot.shell.site);
    const content = path === undefined ? undefined : spot.shell.files.get(path);
    reportHidden(search, { lead: content?.source ?? "none", stream: file.stream }, file);
    if (content?.text !== undefined) runCode(search, spot, { ...file, text: content.text });
  }
  if (readsInput) runInputCode(search, spot, call);
}

/**
 * What a pipe carries is judged where the line itself says it, or where it is a file like any
 * program.
 */
function runInputCode(search: Search, spot: Spot, { name, args }: Call): void {
  const { input } = spot;
  const span = args[0]?.span ?? search.span;
  const isForeign = input.isPiped === true && !["none", "text", "file"].includes(input.source);
  if (isForeign) reportDanger(search, PIPE_TO_INTERPRETER, span);
  else reportHidden(search, { lead: input.source }, fieldOf(name, span));
  if (input.text !== undefined) runCode(search, spot, fieldOf(input.text, span));
}

/** What code of another language does, as far as its words tell. */
function runCode(search: Search, spot: Spot, { text, span }: Field): void {
  const signs = readCode(text);
  if (signs.isRemoteShell) reportDanger(search, CODE_REMOTE_SHELL, span);
  if (signs.runsHidden) reportDanger(search, CODE_HIDDEN, span);
  if (signs.forksForever) reportDanger(search, FORK_BOMB, span);
  const run = (words: readonly string[]): void =>
    void search.run(
      search,
      { ...spot, input: NOTHING },
      words.map((word) => fieldOf(word, span)),
    );
  if (signs.killsAll) run(["kill", "-9", "-1"]);
  for (const command of signs.commands)
    visitText(search, { shell: copyOf(spot.shell), input: NOTHING }, { text: command, span });
  for (const path of signs.deleted) run(["rm", "-rf", "--", inHome(path, spot)]);
  for (const path of signs.written) {
    const target = path.replace(/^[<>+\s]+/, "");
    const danger = /^[/~.]/.test(target)
      ? targetDanger(inHome(target, spot), spot.shell.site)
      : undefined;
    if (danger !== undefined) reportDanger(search, danger, span);
  }
}

const inHome = (path: string, { shell }: Spot): string =>
  path === "~" || path.startsWith("~/") ? shell.site.home + path.slice(1) : path;
