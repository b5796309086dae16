/**
 * KeyedLine: a line that a person types key by key, and what tells it from a paste. Pure: it is
 * handed what each read of an unbuffered terminal gave, and says what to show. A terminal that
 * marks pastes (bracketed paste) is believed; without marks, several characters in one read are
 * one.
 */

/**
 * Asks the terminal to mark what is pasted, and no longer to. Source: xterm control sequences, DEC
 * private mode 2004.
 */
export const MARK_PASTES = "\u001b[?2004h";
export const MARK_NO_PASTES = "\u001b[?2004l";
const PASTE_BEGINS = "\u001b[200~";
const PASTE_ENDS = "\u001b[201~";
/** Characters of a line; keys beyond are not taken. */
const LINE_CHARS_MAX = 4_096;
const ESCAPE = "\u001b";
const ERASE = "\b \b";

/** Keys that a terminal turns into signals while it is buffered. */
const SIGNALS: Readonly<Partial<Record<string, NodeJS.Signals>>> = {
  "\u0003": "SIGINT",
  "\u001a": "SIGTSTP",
  "\u001c": "SIGQUIT",
};

/** What a read did to the line. */
export type Keyed =
  | { readonly kind: "more"; readonly echo: string }
  /** Enter. */
  | { readonly kind: "line"; readonly text: string; readonly isKeyByKey: boolean }
  /** A marked paste came, and is thrown away with the line. */
  | { readonly kind: "pasted" }
  | { readonly kind: "signal"; readonly signal: NodeJS.Signals }
  /** Ctrl-D on an empty line. */
  | { readonly kind: "over" };

/** A line in the making. */
export interface KeyedLine {
  /** Takes what one read gave. */
  take(read: string): Keyed;
}

interface State {
  text: string;
  isKeyByKey: boolean;
  /** The beginning of an escape sequence, or a paste up to here. */
  held: string;
}

const isPrintable = (key: string): boolean =>
  key >= " " && key !== "\u007f" && !/[\u0080-\u009f]/.test(key);

/** What is not ASCII may be two columns wide, and what is not shown has none. */
function eraseOf(text: string): string {
  const shown = [...text].filter(isPrintable);
  return shown.map((each) => (each <= "~" ? ERASE : ERASE.repeat(2))).join("");
}

function cut(state: State, length: number): Keyed {
  const kept = [...state.text].slice(0, length).join("");
  const echo = eraseOf(state.text.slice(kept.length));
  state.text = kept;
  return { kind: "more", echo };
}

function press(state: State, key: string): Keyed {
  const signal = SIGNALS[key];
  if (signal !== undefined) return { kind: "signal", signal };
  switch (key) {
    case "\r":
    case "\n":
      return { kind: "line", text: state.text, isKeyByKey: state.isKeyByKey };
    case "\u0004":
      return state.text === "" ? { kind: "over" } : { kind: "more", echo: "" };
    case "\u007f":
    case "\b":
      return cut(state, [...state.text].length - 1);
    case "\u0015":
      return cut(state, 0);
    case "\u0017":
      return cut(state, [...state.text.replace(/\S*\s*$/u, "")].length);
    default:
      if (state.text.length >= LINE_CHARS_MAX) return { kind: "more", echo: "" };
      // Other control characters are not shown, and kept: with one of them in it, no word is the
      // word.
      state.text += key;
      return { kind: "more", echo: isPrintable(key) ? key : "" };
  }
}

/** Escape sequences are keys that mean nothing here, except the marks of a paste. */
function takeEscape(state: State, read: string): Keyed {
  state.held += read;
  if (state.held.includes(PASTE_BEGINS)) {
    if (state.held.includes(PASTE_ENDS)) return { kind: "pasted" };
    // Of a long paste only the end is waited for.
    state.held = `${PASTE_BEGINS}${state.held.slice(PASTE_BEGINS.length).slice(1 - PASTE_ENDS.length)}`;
  } else if (!PASTE_BEGINS.startsWith(state.held)) state.held = "";
  return { kind: "more", echo: "" };
}

/** An empty line. */
export function createKeyedLine(): KeyedLine {
  const state: State = { text: "", isKeyByKey: true, held: "" };
  return {
    take(read) {
      if (state.held !== "" || read.includes(ESCAPE)) return takeEscape(state, read);
      const keys = [...read];
      if (keys.length > 1) state.isKeyByKey = false;
      let echo = "";
      for (const key of keys) {
        const done = press(state, key);
        if (done.kind !== "more") return done;
        echo += done.echo;
      }
      return { kind: "more", echo };
    },
  };
}
