/** Percent: how far something long is, on a terminal, in one line that is gone at the end. */
import { escapeText } from "@acp/core";
import type { Invocation } from "./command.js";

/** Where progress is shown. */
export interface Percent {
  readonly show: (what: string, percent: number) => void;
  readonly clear: () => void;
}

/** Shows nothing to programs. */
export function createPercent({ io, print }: Pick<Invocation, "io" | "print">): Percent {
  if (print.json || !io.stderr.isTTY) return { show: () => {}, clear: () => {} };
  let shown = "";
  return {
    show(what, percent) {
      const text = `${escapeText(what)}: ${percent} %`;
      if (text !== shown) io.stderr.write(`\r\u001b[K${text}`);
      shown = text;
    },
    clear() {
      if (shown !== "") io.stderr.write("\r\u001b[K");
      shown = "";
    },
  };
}
