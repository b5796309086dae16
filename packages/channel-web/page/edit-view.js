/**
 * EditView: other arguments as JSON, then what that changes, line by line, before a yes to it is
 * possible.
 */
import { el, setText } from "./dom.js";
import { diffLines } from "./diff.js";
import { isSame, layOut, linesOf, readArguments } from "./json-text.js";

/** @typedef {import("./types.js").JsonObject} JsonObject */

/** Lines that stay are shown this near to what changes; the others are counted. */
const CONTEXT_LINES = 3;

const SPOKEN = { " ": "stays", "-": "removed", "+": "added" };

/**
 * The field to edit in.
 *
 * @param {JsonObject} proposed
 * @param {(isReady: boolean) => void} onInput
 */
export function createEditor(proposed, onInput) {
  const problem = el("p", {
    class: "problem",
    role: "status",
    id: "edit-problem",
    "data-testid": "edit-problem",
  });
  const field = el("textarea", {
    id: "edit-field",
    class: "code",
    spellcheck: "false",
    autocapitalize: "none",
    autocomplete: "off",
    "aria-describedby": "edit-problem",
    "data-testid": "edit-field",
    rows: 14,
    input: check,
  });
  field.value = layOut(proposed);
  /** @type {JsonObject | undefined} */
  let value;
  function check() {
    const read = readArguments(field.value);
    const isUnchanged = read.value !== undefined && isSame(read.value, proposed);
    value = isUnchanged ? undefined : read.value;
    field.setAttribute("aria-invalid", String(read.problem !== undefined));
    setText(problem, read.problem ?? (isUnchanged ? "Nothing is changed yet." : ""));
    onInput(value !== undefined);
  }
  const element = el(
    "section",
    { class: "editor" },
    el("label", { for: "edit-field" }, "All arguments, as one JSON object"),
    field,
    problem,
  );
  check();
  return { element, value: () => value, focus: () => field.focus() };
}

/**
 * What changes, whole but for lines that stay far from it.
 *
 * @param {JsonObject} before
 * @param {JsonObject} after
 */
export function diffView(before, after) {
  const lines = diffLines(linesOf(before), linesOf(after));
  const isNear = lines.map((_, at) =>
    lines
      .slice(Math.max(0, at - CONTEXT_LINES), at + CONTEXT_LINES + 1)
      .some(({ sign }) => sign !== " "),
  );
  /** @type {HTMLElement[]} */
  const rows = [];
  let hidden = 0;
  const flush = () => {
    if (hidden > 0)
      rows.push(
        el("li", { class: "gap" }, `${hidden} ${hidden === 1 ? "line stays" : "lines stay"}`),
      );
    hidden = 0;
  };
  for (const [at, { sign, text }] of lines.entries()) {
    if (isNear[at] !== true) {
      hidden++;
      continue;
    }
    flush();
    const kind = SPOKEN[sign];
    rows.push(
      el(
        "li",
        { class: kind },
        el(
          "span",
          { class: "sign" },
          el("span", { "aria-hidden": "true" }, sign),
          el("span", { class: "unseen" }, `${kind}: `),
        ),
        el("code", {}, text),
      ),
    );
  }
  flush();
  return el(
    "section",
    { class: "diff" },
    el("h2", {}, "What you change"),
    el("ol", { "data-testid": "diff" }, ...rows),
  );
}
