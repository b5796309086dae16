/**
 * Keys: shortcuts for who has a keyboard. None says yes, none works while something is typed or a
 * dialog is open, none repeats.
 */
import { showHelp } from "./help.js";
import { isSheetOpen } from "./sheet.js";

/** @typedef {import("./screens.js").Screens} Screens */

/** @param {EventTarget | null} target */
const isTyping = (target) =>
  target instanceof HTMLTextAreaElement ||
  target instanceof HTMLSelectElement ||
  (target instanceof HTMLInputElement && !["radio", "checkbox"].includes(target.type));

/** @param {Screens} screens */
export function followKeys(screens) {
  /** @type {Readonly<Record<string, () => void>>} */
  const actions = {
    "?": showHelp,
    1: () => screens.goTo("#/"),
    2: () => screens.goTo("#/history"),
    3: () => screens.goTo("#/passkeys"),
    j: () => screens.step(1),
    k: () => screens.step(-1),
    s: () => screens.togglePicking(),
    "/": () => screens.focusFilter(),
  };
  document.addEventListener("keydown", (event) => {
    if (
      event.defaultPrevented ||
      event.repeat ||
      event.ctrlKey ||
      event.metaKey ||
      event.altKey ||
      isSheetOpen() ||
      !screens.isOpen()
    )
      return;
    if (event.key === "Escape") return screens.leave();
    if (isTyping(event.target)) return;
    const action = Object.hasOwn(actions, event.key) ? actions[event.key] : undefined;
    if (action === undefined && !screens.key(event.key)) return;
    event.preventDefault();
    action?.();
  });
}
