/**
 * Review renames: names of an open folder that are exchanged or moved so that nothing is written
 * over. Node cannot ask the kernel for that, so native/hold.c does, one process for all of a take.
 */
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { ConsentError } from "@acp/core";
import { holdHelper } from "./native-helper.js";
import { fileIdOf } from "./places.js";
import { startTool } from "./tools.js";

/** A folder that is open. */
export interface RenameFolder {
  readonly folder: number;
  /** Its path below the root, empty for the root itself. */
  readonly path: string;
}

/**
 * What came of one. `written`: it was done, and somebody has what was there before open for
 * writing. `there`: nothing was done, the new name is taken. `gone`: nothing was done, there is no
 * such name. `other`: nothing was done, the path leads to another folder by now.
 */
export type Renamed = "done" | "written" | "there" | "gone" | "other";

/** Renames below one root. Each throws, with nothing done, where the file system refuses. */
export interface Renames extends AsyncDisposable {
  /** Gives two names to each other's files; `written` is about what `name` had. */
  exchange(at: RenameFolder, name: string, other: string): Promise<Renamed>;
  /** Moves a file to a name that is free; `written` is about this file. */
  take(at: RenameFolder, name: string, other: string): Promise<Renamed>;
  /** The same for one of our own making, which is known to be whole. */
  give(at: RenameFolder, name: string, other: string): Promise<Renamed>;
}

const WORDS: readonly string[] = ["done", "written", "there", "gone", "other"] satisfies Renamed[];

function isRenamed(word: string): word is Renamed {
  return WORDS.includes(word);
}

/**
 * Opens them.
 *
 * @param root - An open folder.
 * @throws ConsentError `sandbox_unavailable` without a compiler.
 */
export async function openRenames(root: number): Promise<Renames> {
  const helper = await holdHelper();
  if (!helper.isAvailable)
    throw new ConsentError(
      "sandbox_unavailable",
      `Cannot take changes: ${helper.reason}; ${helper.fix}`,
    );
  const child = startTool([helper.path, "--renames", "3"], {
    stdio: ["pipe", "pipe", "ignore", root],
    env: {},
  });
  const { stdin, stdout } = child;
  if (stdin === null || stdout === null)
    throw new ConsentError("sandbox_failed", "Cannot take changes: the helper did not start");
  stdin.on("error", () => {});
  const answers = createInterface({ input: stdout })[Symbol.asyncIterator]();
  const ask =
    (kind: "x" | "t" | "m") =>
    async (at: RenameFolder, name: string, other: string): Promise<Renamed> => {
      const { device, inode } = fileIdOf(at.folder);
      const words = [kind, `${device}:${inode}`, `/${at.path === "" ? "." : at.path}`, name, other];
      stdin.write(words.map((word) => `${word}\0`).join(""));
      const answer = await answers.next();
      if (answer.done === true)
        throw new ConsentError("sandbox_failed", "Cannot take changes: the helper has ended");
      if (isRenamed(answer.value)) return answer.value;
      throw new Error(answer.value);
    };
  return {
    exchange: ask("x"),
    take: ask("t"),
    give: ask("m"),
    [Symbol.asyncDispose]: () => end(child),
  };
}

/** It ends with its input. */
async function end(child: ChildProcess): Promise<void> {
  child.stdin?.end();
  if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
}
