/**
 * Namespace view: what an agent whose workspace is an overlay finds under the names of the host,
 * for the sandboxes of its servers. Two mounts of one overlay are undefined, so they get the
 * agent's own: its mount namespace is held open for as long as the agent runs.
 */
import { closeSync, constants, openSync } from "node:fs";
import { ConsentError } from "@acp/core";
import type { AgentView } from "./parts.js";
import { type FileId, fileIdOf, isSame, O_PATH, openPath } from "./places.js";
import { pidInName, processName } from "./process-name.js";

/** Descriptors of a view. */
export interface OpenView {
  /** `/` as the agent's bubblewrap has it. */
  readonly root: number;
  readonly mounts: number;
  /** Left out where we are root, who needs none to enter. */
  readonly users: number | undefined;
  /** The overlay. */
  readonly id: FileId;
  /** Whose view it is, as {@link NamedView.process}. */
  readonly process: string;
}

/** Only what was made here is a view. */
const OPEN = new WeakMap<AgentView, OpenView>();

/** A view, and its end: from then on nothing more is shown with it. */
export interface HeldView extends Disposable {
  /** What {@link ConfinementOptions.view} takes. */
  readonly view: AgentView;
}

/** A view in words, with which another process of this user holds it as well: {@link joinView}. */
export interface NamedView {
  /** The real path of the workspace that is an overlay there. */
  readonly workspace: string;
  /** The process that keeps it: its PID namespace, its PID and its start time. */
  readonly process: string;
  /** The overlay's device number, in decimal digits. */
  readonly device: string;
  /** The number of the overlay's root on that device, in decimal digits. */
  readonly inode: string;
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
    const mounts = open("ns/mnt");
    OPEN.set(view, { root, mounts, users, id, process: processName(pid) ?? "" });
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
 * The words for a view that is held here.
 *
 * @throws ConsentError `sandbox_failed` where its agent has ended.
 */
export function nameView(view: AgentView): NamedView {
  const { id, process } = openedView(view);
  return { workspace: view.workspace, process, ...id };
}

/**
 * Holds a view that another process of this user named. Only as long as that agent runs, and only
 * where this process may look into it.
 *
 * @throws ConsentError `sandbox_failed` where the agent has ended, another process has its number,
 *   or finds something else there than the overlay.
 */
export function joinView({ workspace, process: name, device, inode }: NamedView): HeldView {
  const pid = pidInName(name) ?? 0;
  const check = (): void => {
    if (pid > 0 && processName(pid) === name) return;
    throw new ConsentError(
      "sandbox_failed",
      `Cannot hold an agent's view of "${workspace}": the agent has ended`,
    );
  };
  check();
  const held = holdView(pid, { path: workspace, device, inode });
  try {
    // All of it was opened while this very process was there.
    check();
    return held;
  } catch (error) {
    held[Symbol.dispose]();
    throw error;
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
