/**
 * Review at the end of a run: shows what the command wrote, and asks where there is a terminal.
 * What somebody typed was not meant for the command only where it repeats the beginning of the
 * digest, which nobody knew before.
 */
import { createInterface } from "node:readline/promises";
import type { Interface } from "node:readline/promises";
import type { Invocation } from "../command.js";
import { resultOf } from "./result.js";
import { drop, takeFrom } from "./settle.js";
import type { SettleParts } from "./settle.js";
import { endUnwritten, freeze } from "./store.js";
import type { OpenedReview } from "./store.js";
import { countsOf, summaryOf } from "./text.js";

/** Who is told. */
export interface AtEndParts extends SettleParts {
  readonly invocation: Pick<Invocation, "print"> & {
    readonly io: Pick<Invocation["io"], "stdin" | "stderr" | "userHome">;
  };
  /** For the person and the log. */
  readonly say: (text: string) => Promise<void>;
}

/**
 * What the command may have made of the screen ends before a question is shown on it: another
 * screen, hidden or recoloured text, other letters, a region that scrolls, reports of the mouse and
 * of what is pasted. Source: ECMA-48, and "XTerm Control Sequences" (DECSTR, private modes).
 */
const PLAIN_SCREEN =
  "\u001b[?47;1047;1000;1002;1003;1004;1006;2004l\u001b[!p\u001b(B\u000f\u001b[0m";

/**
 * Ends a review's run. A failure is told and ends nothing: what the command wrote stays where it
 * is.
 */
export async function reviewAtEnd(opened: OpenedReview, parts: AtEndParts): Promise<void> {
  const { review } = opened;
  const { print, io } = parts.invocation;
  try {
    if (await endUnwritten(opened)) return;
    const snapshot = await freeze(review);
    await parts.say(
      `The command wrote into an overlay of its workspace (${countsOf(snapshot.listing)}); see and take it with acp review show ${review.id}`,
    );
    if (print.json || !io.stdin.isTTY || !io.stderr.isTTY) return;
    const tell = (lines: readonly string[]): unknown => io.stderr.write(`${lines.join("\n")}\n`);
    io.stderr.write(PLAIN_SCREEN);
    tell(summaryOf(review, snapshot, false));
    const word = snapshot.digest.slice(0, 4);
    const answer = await ask(io, [
      "",
      `Type "all ${word}" to take all that is not set apart, "some ${word}" to name paths, "none ${word}" to throw it away,`,
      "or press Enter to leave it for later: ",
    ]);
    const order = { digest: snapshot.digest, overwrites: false } as const;
    if (answer.first === `all ${word}`)
      tell(resultOf(review, await takeFrom(review, { ...order, paths: "all" }, parts)));
    else if (answer.first === `some ${word}`)
      tell(resultOf(review, await takeFrom(review, { ...order, paths: answer.paths }, parts)));
    else if (answer.first === `none ${word}`) {
      await drop(review, parts);
      tell(["The workspace is as it was"]);
    } else tell([`It stays: acp review show ${review.id}`]);
  } catch (error) {
    print.notice(
      `${error instanceof Error ? error.message : String(error)}; what the command wrote is kept: acp review show ${review.id}`,
    );
  }
}

interface Answer {
  readonly first: string;
  readonly paths: readonly string[];
}

/** Ctrl-C and Ctrl-D are Enter. */
async function ask(
  { stdin, stderr }: AtEndParts["invocation"]["io"],
  question: readonly string[],
): Promise<Answer> {
  const lines = createInterface({ input: stdin, output: stderr });
  const over = new AbortController();
  lines.on("close", () => over.abort());
  lines.on("SIGINT", () => lines.close());
  try {
    const first = await read(lines, question.join("\n"), over.signal);
    const paths: string[] = [];
    if (first.startsWith("some ")) {
      for (
        let path = await read(lines, "A path, or Enter to end: ", over.signal);
        path !== "";
        path = await read(lines, "Another: ", over.signal)
      )
        paths.push(path);
    }
    return paths.length === 0 && first.startsWith("some ")
      ? { first: "", paths }
      : { first, paths };
  } finally {
    lines.close();
  }
}

function read(lines: Interface, question: string, signal: AbortSignal): Promise<string> {
  return lines.question(question, { signal }).then(
    (line) => line.trim(),
    () => "",
  );
}
