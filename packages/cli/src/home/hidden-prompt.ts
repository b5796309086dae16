/**
 * Hidden prompt: a line that a person types and nobody sees. From a terminal only; it stands in no
 * argument, no history and no log.
 */
import { openSync } from "node:fs";
import { ReadStream, WriteStream } from "node:tty";
import { ConsentError } from "@acp/core";
import type { Io } from "../command.js";

/** A terminal. */
export interface Terminal extends Disposable {
  readonly input: NodeJS.ReadStream;
  readonly output: { write(text: string): unknown };
}

const CHARS_MAX = 8_192;

/** The terminal on standard input; `undefined` where that is none. */
export function terminalOf({ stdin, stderr }: Io): Terminal | undefined {
  return stdin instanceof ReadStream
    ? { input: stdin, output: stderr, [Symbol.dispose]: () => stdin.pause() }
    : undefined;
}

/** The controlling terminal, whatever standard input is; `undefined` where there is none. */
export function controllingTerminal(): Terminal | undefined {
  try {
    const fd = openSync("/dev/tty", "r+");
    const [input, output] = [new ReadStream(fd), new WriteStream(openSync("/dev/tty", "w"))];
    return {
      input,
      output,
      [Symbol.dispose]() {
        input.destroy();
        output.destroy();
      },
    };
  } catch {
    return undefined;
  }
}

/**
 * Asks for one line without showing it.
 *
 * @throws ConsentError `aborted` where the person stops it (Ctrl-C, Ctrl-D).
 */
export async function askHidden({ input, output }: Terminal, question: string): Promise<string> {
  output.write(question);
  input.setRawMode(true);
  input.setEncoding("utf8");
  input.resume();
  try {
    return await readLine(input);
  } finally {
    input.setRawMode(false);
    output.write("\n");
  }
}

function readLine(input: NodeJS.ReadStream): Promise<string> {
  return new Promise((resolve, reject) => {
    let typed: readonly string[] = [];
    const end = (settle: () => void): void => {
      input.off("data", onData);
      input.off("end", onEnd);
      input.pause();
      settle();
    };
    const stop = (): void =>
      end(() => reject(new ConsentError("aborted", "Cannot continue: the prompt was stopped")));
    const onEnd = (): void => stop();
    const onData = (chunk: string | Uint8Array): void => {
      for (const character of String(chunk)) {
        if (character === "\r" || character === "\n") return end(() => resolve(typed.join("")));
        if (character === "\u0003" || character === "\u0004") return stop();
        if (character === "\u007f" || character === "\b") typed = typed.slice(0, -1);
        else if (character === "\u0015") typed = [];
        else if (typed.length < CHARS_MAX) typed = [...typed, character];
      }
    };
    input.on("data", onData);
    input.on("end", onEnd);
  });
}
