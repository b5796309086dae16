/**
 * ArgumentsView: the arguments laid out, a name and its value; long ones by their beginning. The
 * question's text below has all of them.
 */
import { el } from "./dom.js";
import { clip, escapeText, showName } from "./escape.js";
import { layOut } from "./json-text.js";

/** @typedef {import("./types.js").Json} Json */
/** @typedef {import("./types.js").JsonObject} JsonObject */

const LINES_MAX = 12;
const CHARS_MAX = 600;
const NAMES_MAX = 24;

/** @type {(value: Json) => readonly string[]} */
const rowsOf = (value) =>
  typeof value === "string"
    ? value.split("\n").map((line) => escapeText(line))
    : layOut(value).split("\n");

/** @type {(value: Json) => HTMLElement} */
function valueOf(value) {
  if (value === "") return el("dd", { class: "nothing" }, "empty");
  const rows = rowsOf(value);
  let shown = rows.slice(0, LINES_MAX).join("\n");
  const isCut = rows.length > LINES_MAX || shown.length > CHARS_MAX;
  shown = clip(shown, CHARS_MAX);
  const size =
    rows.length > LINES_MAX ? `${rows.length} lines` : `${rows.join("\n").length} characters`;
  return el(
    "dd",
    {},
    el("pre", {}, shown),
    isCut ? el("p", { class: "more" }, `… ${size}, all of them in the text below`) : undefined,
  );
}

/** @param {JsonObject} parameters */
export function argumentsView(parameters) {
  const entries = Object.entries(parameters);
  const rows = entries
    .slice(0, NAMES_MAX)
    .flatMap(([name, value]) => [el("dt", {}, showName(name)), valueOf(value)]);
  const rest = entries.length - NAMES_MAX;
  return el(
    "section",
    { class: "arguments", "data-testid": "arguments" },
    el("h2", {}, "With"),
    entries.length === 0 ? el("p", { class: "nothing" }, "no arguments") : el("dl", {}, ...rows),
    rest > 0
      ? el("p", { class: "more" }, `… ${rest} more, all of them in the text below`)
      : undefined,
  );
}
