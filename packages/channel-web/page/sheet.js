/**
 * Sheet: one dialog at a time: from below on a phone, in the middle on a desk. Focus returns to
 * where it was.
 */
import { button, byId, el } from "./dom.js";

function dialog() {
  const found = byId("sheet");
  if (!(found instanceof HTMLDialogElement)) throw new Error("index.html has no dialog");
  return found;
}

export const isSheetOpen = () => dialog().open;

export function closeSheet() {
  if (dialog().open) dialog().close();
}

/**
 * Opens it; resolves when it is closed.
 *
 * @param {string} title
 * @param {...(Node | string)} content
 */
export function openSheet(title, ...content) {
  closeSheet();
  const sheet = dialog();
  sheet.replaceChildren(el("h2", { id: "sheet-title" }, title), ...content);
  sheet.showModal();
  return new Promise((resolve) =>
    sheet.addEventListener("close", () => resolve(undefined), { once: true }),
  );
}

/**
 * Buttons of a sheet: what it is for, and the way out.
 *
 * @param {...HTMLButtonElement} actions
 */
export const sheetActions = (...actions) =>
  el(
    "div",
    { class: "actions" },
    button("Cancel", { class: "quiet", "data-testid": "cancel", click: closeSheet }),
    ...actions,
  );

/**
 * Asks one thing; what is typed, or `undefined` where the person went back.
 *
 * @param {{ readonly title: string, readonly text?: string, readonly label: string,
 *   readonly action: string, readonly style?: string, readonly testid: string,
 *   readonly charsMax: number, readonly value?: string, readonly isLong?: boolean }} terms
 * @returns {Promise<string | undefined>}
 */
export async function ask({
  title,
  text,
  label,
  action,
  style = "primary",
  testid,
  charsMax,
  value = "",
  isLong = false,
}) {
  /** @type {string | undefined} */
  let given;
  const common = { id: "sheet-field", maxlength: charsMax, "data-testid": `${testid}-text` };
  const field = isLong
    ? el("textarea", { ...common, rows: 3 })
    : el("input", { ...common, type: "text", autocomplete: "off" });
  field.value = value;
  const form = el(
    "form",
    {
      submit: (event) => {
        event.preventDefault();
        given = field.value;
        closeSheet();
      },
    },
    ...(text === undefined ? [] : [el("p", {}, text)]),
    el("label", { for: "sheet-field" }, label),
    field,
    sheetActions(
      el("button", { type: "submit", class: style, "data-testid": `${testid}-confirm` }, action),
    ),
  );
  await openSheet(title, form);
  return given;
}

/**
 * Whether the person says yes to something.
 *
 * @param {{ readonly title: string, readonly text: string, readonly action: string,
 *   readonly style?: string, readonly testid: string }} terms
 */
export async function confirm({ title, text, action, style = "danger", testid }) {
  let isYes = false;
  const yes = button(action, {
    class: style,
    "data-testid": `${testid}-confirm`,
    click: () => {
      isYes = true;
      closeSheet();
    },
  });
  await openSheet(title, el("p", {}, text), sheetActions(yes));
  return isYes;
}
