/**
 * Reads a question's text back, by spec/question-text.md alone: what cannot be read back would not
 * be the whole action.
 */

const LITERAL = /"(?:[^"\\]|\\.)*"/.source;
const RUN = `… [0-9,]+ (?:spaces|tabs|line breaks|× ${LITERAL}) …`;
const PIECE = `(?:${LITERAL}|${RUN})`;
const TEXT: RegExp = new RegExp(`${PIECE}(?: ${PIECE})*`, "g");
const NAMES: Readonly<Record<string, string>> = { spaces: " ", tabs: "\t", "line breaks": "\n" };

function pieceOf(piece: string): string {
  const [, count = "", name = ""] = /^… ([0-9,]+) (.*) …$/.exec(piece) ?? [];
  if (count === "") return String(JSON.parse(piece));
  const unit = NAMES[name] ?? String(JSON.parse(name.slice(2)));
  return unit.repeat(Number(count.replaceAll(",", "")));
}

/** One text of literals and counted runs. */
export function textOf(shown: string): string {
  return (shown.match(new RegExp(PIECE, "g")) ?? []).map(pieceOf).join("");
}

/** The lines, rows joined. */
export function linesOf(text: string): readonly string[] {
  return text.replaceAll("\n↪ ", "").split("\n");
}

/** The arguments that a question's text shows. */
export function argumentsOf(text: string): unknown {
  const lines = linesOf(text);
  const rest = lines.slice(lines.indexOf("With:") + 1);
  const end = rest.findIndex((line) => !line.startsWith("  "));
  const json = (end === -1 ? rest : rest.slice(0, end))
    .filter((line) => !line.trimStart().startsWith("= "))
    .join("\n");
  return JSON.parse(json.replaceAll(TEXT, (shown) => JSON.stringify(textOf(shown))));
}

/** What a line of ours says, e.g. `Tool`. */
export function factOf(text: string, name: string): string | undefined {
  const line = linesOf(text).find((each) => each.startsWith(`${name}: `));
  return line?.slice(name.length + 1).trimStart();
}
