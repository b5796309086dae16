/**
 * Help: the keyboard shortcuts. No key says yes: `a` goes to the button, and only when the question
 * was shown to its end.
 */
import { button, el } from "./dom.js";
import { closeSheet, openSheet } from "./sheet.js";

/** @type {readonly (readonly [keys: string, meaning: string])[]} */
const KEYS = [
  ["j k", "next, previous question"],
  ["Enter", "open it"],
  ["a", "read on; at the end, go to Approve (Enter then approves)"],
  ["d", "deny, with a reason"],
  ["e", "edit the arguments"],
  ["Esc", "back"],
  ["s", "select several"],
  ["/", "filter"],
  ["1 2 3", "questions, history, passkeys"],
  ["?", "this list"],
];

export function showHelp() {
  const rows = KEYS.flatMap(([keys, meaning]) => [
    el("dt", {}, ...keys.split(" ").map((key) => el("kbd", {}, key))),
    el("dd", {}, meaning),
  ]);
  void openSheet(
    "Keyboard",
    el("dl", { class: "keys", "data-testid": "help" }, ...rows),
    el("div", { class: "actions" }, button("Close", { class: "quiet", click: closeSheet })),
  );
}
