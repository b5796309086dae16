/**
 * Side: where the yes stands. After each yes it moves to the other side of its bar, and nothing
 * else ever stands on either: whoever taps one point again and again answers at most one question.
 */

/** @type {"end" | "start"} */
let side = "end";
export const yesSide = () => side;

/** Somebody said yes: the next one stands elsewhere. */
export function moveYes() {
  side = side === "end" ? "start" : "end";
}

/**
 * A yes that a held key repeats is none.
 *
 * @param {HTMLElement} yes
 */
export function refuseRepeats(yes) {
  yes.addEventListener("keydown", (event) => {
    if (event.repeat && (event.key === "Enter" || event.key === " ")) event.preventDefault();
  });
  return yes;
}
