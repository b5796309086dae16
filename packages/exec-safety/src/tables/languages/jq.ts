/**
 * Jq: whether a filter of jq or yq reads only its input. Every name in it is looked at, also inside
 * texts, which may hold code (`"\(env)"`).
 */
import type { Why } from "../table.js";

const READ: Why = {
  topic: "secret",
  text: "is a filter that reads the environment or other files",
};
const NAME = /(?:\.\.|\.|\$|@)?[A-Za-z_]\w*/g;
const JQ_READS: ReadonlySet<string> = new Set([
  "env",
  "$ENV",
  "import",
  "include",
  "input_filename",
  "modulemeta",
  "get_search_list",
]);
const YQ_READS =
  /^(?:\$ENV|\$__\w+|str_?env|env\w*|load\w*|system|exec|eval\w*|import|include|input_filename)$/;

/** Why a filter of jq is reviewed; nothing where it reads its input alone. */
export function jqProblem(filter: string): Why | undefined {
  return namesOf(filter).some((name) => JQ_READS.has(name) || name.startsWith("$__prog"))
    ? READ
    : undefined;
}

/** The same for yq, which has more ways to read. */
export function yqProblem(filter: string): Why | undefined {
  return namesOf(filter).some((name) => YQ_READS.test(name)) ? READ : undefined;
}

/**
 * The names that may be functions or variables: no fields (`.env`), and no texts without code in
 * them.
 */
function namesOf(filter: string): readonly string[] {
  // A comment may hold one quote, which would turn code and text around.
  const code = filter.includes("\\(") || filter.includes("#") ? filter : withoutTexts(filter);
  return [...code.matchAll(NAME)]
    .map(([name]) => name.replace(/^\.\./, ""))
    .filter((name) => !name.startsWith(".") && !name.startsWith("@"));
}

function withoutTexts(filter: string): string {
  let code = "";
  let isText = false;
  for (let index = 0; index < filter.length; index += 1) {
    const letter = filter.charAt(index);
    if (letter === '"') {
      isText = !isText;
      code += " ";
    } else if (isText && letter === "\\") index += 1;
    else if (!isText) code += letter;
  }
  return code;
}
