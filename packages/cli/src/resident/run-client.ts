/**
 * Run client: what the client of `acp run` says in its session, and what it is told. Format:
 * spec/resident.md §4.
 */
import type { Socket } from "node:net";
import { asError } from "@acp/core";
import { failureOf } from "../failure.js";
import { readNote, readRun } from "./run-frames.js";
import type { HeldRun, RunNote } from "./run-frames.js";
import { frameOf } from "./wire.js";
import type { Frame } from "./wire.js";

/** A client that holds an agent. */
export interface RunClient {
  /** What it holds, once it does; rejects where the client goes before. */
  readonly held: Promise<HeldRun>;
  /** From now on its notes are taken; each is answered once that has settled. */
  onNote(take: (note: RunNote) => Promise<void>): void;
  /** Lets its command begin. */
  go(): void;
  /** Says that nothing runs any more that was started for the command. */
  ended(): void;
}

/** The same, and its frames. */
export interface SessionRun extends RunClient {
  /** Takes a frame; false where it is none that may come now. */
  take(frame: Frame): boolean;
}

/** Notes that are not answered yet. */
const NOTES_MAX = 64;

/** Nothing was said yet. */
export function createRunClient(socket: Socket): SessionRun {
  let isSaid = false;
  let waiting = 0;
  let takeNote: ((note: RunNote) => Promise<void>) | undefined;
  let say: (run: HeldRun) => void = () => undefined;
  const held = new Promise<HeldRun>((resolve, reject) => {
    say = resolve;
    const gone = (): void => reject(new Error("the client is gone"));
    if (socket.destroyed) gone();
    else socket.once("close", gone);
  });
  held.catch(() => undefined); // for whoever asks
  const tell = (frame: Buffer): void => void (socket.destroyed ? undefined : socket.write(frame));
  const answer = async (note: RunNote, take: (note: RunNote) => Promise<void>): Promise<void> => {
    const { n } = note;
    try {
      await take(note);
      tell(frameOf("noted", JSON.stringify({ n })));
    } catch (error) {
      const { code, message } = failureOf(asError(error));
      tell(frameOf("noted", JSON.stringify({ n, code, message })));
    } finally {
      waiting--;
    }
  };
  return {
    held,
    onNote: (take) => void (takeNote = take),
    go: () => tell(frameOf("go")),
    ended: () => tell(frameOf("ended")),
    take({ kind, body }) {
      if (kind === "run") {
        const run = isSaid ? undefined : readRun(body);
        isSaid = true;
        if (run !== undefined) say(run);
        return run !== undefined;
      }
      const note = kind === "note" && waiting < NOTES_MAX ? readNote(body) : undefined;
      if (note === undefined || takeNote === undefined) return false;
      waiting++;
      void answer(note, takeNote);
      return true;
    },
  };
}
