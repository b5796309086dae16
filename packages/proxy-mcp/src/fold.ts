/** Texts as the readers of other languages see them. */

/** A text as readers see it that ignore case (Go's encoding/json folds U+017F and U+212A too). */
export function fold(text: string): string {
  return text.toUpperCase().toLowerCase();
}
