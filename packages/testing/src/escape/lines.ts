/** Lines: what programs of the kit say, one JSON object a line. */

/** The fields of a line that are text. */
export function fieldsOf(line: string): Readonly<Record<string, string>> {
  const value: unknown = JSON.parse(line);
  const fields = typeof value === "object" && value !== null ? Object.entries(value) : [];
  return Object.fromEntries(
    fields.filter((field): field is [string, string] => typeof field[1] === "string"),
  );
}

/** The fields of each line; what is after the last end of a line is not written yet. */
export function linesOf(text: string): readonly Readonly<Record<string, string>>[] {
  return text
    .slice(0, text.lastIndexOf("\n") + 1)
    .split("\n")
    .filter((line) => line !== "")
    .map(fieldsOf);
}
