/**
 * Namespace view: what an agent whose workspace is an overlay finds under the names of the host,
 * for the sandboxes of its servers. Two mounts of one overlay are undefined, so they get the
 * agent's own: its mount namespace is held open for as long as the agent runs.
 */
import { closeSync, constants, openSync } from "node:fs";
import { ConsentError } from "@acp/core";
import type { AgentView } from "./parts.js";
import { type FileId, fileIdOf, isSame, O_PATH, openPath } from "./places.js";

/** Descriptors of a view. */
export interface OpenView {
  /** `/` as the agent's bubblewrap has it. */
  readonly root: number;
  readonly mounts: number;
  /** Left out where we are root, who needs none to enter. */
  readonly users: number | undefined;
  /** The overlay. */
  readonly id: FileId;
}

/** Only what was made here is a view. */
const OPEN = new WeakMap<AgentView, OpenView>();

/** A view, and its end. */
export interface HeldView extends Disposable {
  readonly view: AgentView;
}

/**
 * Holds the view of an agent.
 *
 * @param pid - Its bubblewrap, which stays where the overlay is, outside of what the agent can
 *   touch.
 * @throws ConsentError `sandbox_failed` where it finds something else than the overlay there.
 */
export function holdView(
  pid: number,
  { path, ...id }: FileId & { readonly path: string },
): HeldView {
  const fds: number[] = [];
  const open = (name: string, flags = constants.O_RDONLY): number => {
    const fd = openSync(`/proc/${pid}/${name}`, flags);
    fds.push(fd);
    return fd;
  };
  const close = (): void => {
    for (const fd of fds.splice(0)) closeSync(fd);
  };
  try {
    const root = open("root", O_PATH | constants.O_DIRECTORY);
    const found = openPath(path, pathOf(root)).fd;
    fds.push(found);
    if (!isSame(fileIdOf(found), id)) throw new Error("the workspace is not its overlay there");
    const users = process.getuid?.() === 0 ? undefined : open("ns/user");
    const view: AgentView = { workspace: path };
    OPEN.set(view, { root, mounts: open("ns/mnt"), users, id });
    return {
      view,
      [Symbol.dispose]: () => {
        OPEN.delete(view);
        close();
      },
    };
  } catch (error) {
    close();
    const why = error instanceof Error ? error.message : String(error);
    throw new ConsentError(
      "sandbox_failed",
      `Cannot hold an agent's view of its workspace: ${why}`,
      { cause: error },
    );
  }
}

/**
 * The descriptors, to be used before anything is awaited: they close with the agent.
 *
 * @throws ConsentError `sandbox_failed` where it has ended, or nobody made this view.
 */
export function openedView(view: AgentView): OpenView {
  const found = OPEN.get(view);
  if (found !== undefined) return found;
  throw new ConsentError(
    "sandbox_failed",
    `Cannot show "${view.workspace}" as an agent sees it: the agent has ended`,
  );
}

/** Where the names of a view begin, for this process. */
export function viewRoot(view: AgentView): string {
  return pathOf(openedView(view).root);
}

function pathOf(fd: number): string {
  return `/proc/self/fd/${fd}`;
}
