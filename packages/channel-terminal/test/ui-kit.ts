/**
 * A user interface in a test's hands: a keyboard that behaves like a terminal's, a screen that is
 * read as text, a clock that stands still.
 */
import { PassThrough, Writable } from "node:stream";
import type { ConsentRequest } from "@acp/core";
import {
  type AskDouble,
  type ManualClock,
  askDouble,
  manualClock,
  sampleRequest,
} from "@acp/testing";
import { type ApproverUiOptions, type UiEnd, runApproverUi } from "../src/approver-ui.js";
import { type Board, createBoard } from "../src/board.js";
import { MARK_NO_PASTES, MARK_PASTES } from "../src/keyed-line.js";
import { createLocalClient } from "../src/local-client.js";

export const GUARD_MS = 400;

/** A keyboard. As a terminal it holds an unfinished line back until Enter, unless it is set raw. */
export interface Keyboard extends PassThrough {
  readonly isTTY: boolean;
  /** Every mode it was set to. */
  readonly modes: readonly boolean[];
  setRawMode(mode: boolean): void;
  press(text: string): void;
}

export function createKeyboard(isTTY = true): Keyboard {
  let unfinished = "";
  let raw = false;
  const modes: boolean[] = [];
  const stream = new PassThrough();
  const flush = (): void => {
    const end = raw || !isTTY ? unfinished.length : unfinished.lastIndexOf("\n") + 1;
    if (end > 0) stream.write(unfinished.slice(0, end));
    unfinished = unfinished.slice(end);
  };
  return Object.assign(stream, {
    isTTY,
    modes,
    setRawMode(mode: boolean) {
      raw = mode;
      modes.push(mode);
      flush();
    },
    press(text: string) {
      unfinished += text;
      flush();
    },
  });
}

export interface Paper extends Writable {
  readonly isTTY: boolean;
  readonly columns: number;
  text(): string;
}

/**
 * What a terminal shows of it: whether pastes are marked is between the terminal and the prompt.
 */
const textOf = (bytes: Buffer): string =>
  [MARK_PASTES, MARK_NO_PASTES].reduce(
    (text, mark) => text.replaceAll(mark, ""),
    bytes.toString("utf8"),
  );

/** A screen that keeps every byte. */
export function createPaper({
  isTTY = true,
  columns = 100,
}: {
  readonly isTTY?: boolean;
  readonly columns?: number;
} = {}): Paper {
  const chunks: Buffer[] = [];
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      chunks.push(chunk);
      done();
    },
  });
  return Object.assign(stream, { isTTY, columns, text: () => textOf(Buffer.concat(chunks)) });
}

export interface UiKit {
  readonly clock: ManualClock;
  readonly board: Board;
  readonly keyboard: Keyboard;
  readonly paper: Paper;
  readonly stop: AbortController;
  readonly ended: Promise<UiEnd>;
  /** Puts a question up; resolves when the person can type at it, or it waits behind another. */
  ask(overrides?: Partial<ConsentRequest>): Promise<AskDouble>;
  /**
   * Types at the prompt that is there, key by key, and lets things happen until the next one is.
   */
  type(text: string): Promise<void>;
  /** The same in one piece, as a terminal without marks hands over what is pasted. */
  paste(text: string): Promise<void>;
  /** What appeared since the last look. */
  news(): string;
}

export function setUpUi(
  options: Partial<ApproverUiOptions> & { readonly tty?: boolean } = {},
): UiKit {
  const { tty = true } = options;
  const clock = manualClock();
  const board = createBoard();
  const keyboard = createKeyboard(tty);
  const paper = createPaper({ isTTY: tty });
  const stop = new AbortController();
  let seen = 0;
  const settle = (): Promise<void> => clock.advance(GUARD_MS);
  const ended = runApproverUi({
    client: createLocalClient(board),
    input: keyboard,
    output: paper,
    color: false,
    signal: stop.signal,
    clock,
    guardMs: GUARD_MS,
    ...options,
  });
  return {
    clock,
    board,
    keyboard,
    paper,
    stop,
    ended,
    async ask(overrides) {
      const ask = askDouble(sampleRequest({ createdAtMs: clock.now(), ...overrides }));
      board.put(ask.request, ask.session);
      await settle();
      await settle();
      return ask;
    },
    async type(text) {
      for (const key of text) {
        keyboard.press(key);
        await clock.advance(0);
      }
      await settle();
      await settle();
    },
    async paste(text) {
      keyboard.press(text);
      await clock.advance(0);
      await settle();
      await settle();
    },
    news() {
      const text = paper.text();
      const news = text.slice(seen);
      seen = text.length;
      return news;
    },
  };
}
