/**
 * Namespace overlay: native/overlay.c before bubblewrap, where an agent's workspace is an overlay,
 * or is shown with that of another agent. It says what the workspace's name leads to from then on,
 * which the first stage has to find there.
 */
import type { ChildProcess } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { Socket } from "node:net";
import { ConsentError } from "@acp/core";
import { openLayers } from "./layers.js";
import type { NamespacePreparation } from "./namespace-prepare.js";
import { openedView } from "./namespace-view.js";
import type { AgentView, ExpectedPlace } from "./parts.js";
import { type FileId, isSame, openPath, type OpenPlaces } from "./places.js";

/** What is started with an overlay, or without one. */
export interface NamespaceOverlay extends Disposable {
  /** Words before everything, of the manager's own user. */
  readonly outermost: readonly string[];
  /** Words before bubblewrap's command line, of the agent's user. */
  readonly command: readonly string[];
  /** Descriptors of the child, after those of the places. */
  readonly stdio: readonly (number | "pipe")[];
  /** Its real path is mounted by its name, which leads to the overlay. */
  readonly isOverlaid: (path: string) => boolean;
  /**
   * What the agent has to see, once the overlay is there.
   *
   * @throws ConsentError `sandbox_failed` with the kernel's reason where there is none.
   */
  readonly expected: (
    child: ChildProcess,
    places: readonly ExpectedPlace[],
  ) => Promise<readonly ExpectedPlace[]>;
}

const NONE: NamespaceOverlay = {
  outermost: [],
  command: [],
  stdio: [],
  isOverlaid: () => false,
  expected: (_child, places) => Promise.resolve(places),
  [Symbol.dispose]: () => {},
};
const LINE_BYTES_MAX = 1024;

/**
 * Opens what the overlay needs.
 *
 * @param placesFd - The child's descriptor of the first place.
 * @throws ConsentError `options_invalid` where there is no directory for what the agent writes.
 */
export function openOverlay(
  prepared: NamespacePreparation,
  { all }: OpenPlaces,
  placesFd: number,
): NamespaceOverlay {
  const { overlay: helper, places, user, host } = prepared;
  const { workspace, view } = places;
  if (helper === undefined) return NONE;
  if (view !== undefined) return shareOverlay(helper, view, placesFd + all.length);
  if (workspace === undefined) return NONE;
  const layers = openLayers(workspace, user);
  const fds = [openSync(helper, "r"), layers];
  const first = placesFd + all.length;
  const numbers = {
    expect: placesFd + all.findIndex(({ path }) => path === workspace.path),
    layers: first + 1,
    report: first + 2,
  };
  const options = Object.entries(numbers).flatMap(([name, fd]) => [`--${name}`, String(fd)]);
  return {
    outermost: [],
    // By its descriptor, as native/init.c, where another user starts it, who may not reach it.
    command: [
      host.variant === "dropped" ? `/proc/self/fd/${first}` : helper,
      "--workspace",
      workspace.path,
      ...options,
      "--",
    ],
    stdio: [...fds, "pipe"],
    isOverlaid: (path) => path === workspace.path,
    async expected(child, expected) {
      const mounted = await readMounted(child.stdio[numbers.report], LAY_FIX);
      return expected.map((place) =>
        place.path === workspace.path ? { path: place.path, ...mounted } : place,
      );
    },
    [Symbol.dispose]: () => {
      for (const fd of fds) closeSync(fd);
    },
  };
}

/**
 * The overlay that another agent has.
 *
 * @param first - The child's first free descriptor.
 * @throws ConsentError `sandbox_failed` where that agent has ended.
 */
function shareOverlay(helper: string, view: AgentView, first: number): NamespaceOverlay {
  const { mounts, users, id } = openedView(view);
  const lower = openPath(view.workspace).fd;
  const fds = [lower, mounts, ...(users === undefined ? [] : [users])];
  const numbers = {
    expect: first,
    mounts: first + 1,
    ...(users !== undefined && { users: first + 2 }),
    report: first + fds.length,
  };
  const options = Object.entries(numbers).flatMap(([name, fd]) => [`--${name}`, String(fd)]);
  return {
    outermost: [helper, "--workspace", view.workspace, ...options, "--"],
    command: [],
    stdio: [...fds, "pipe"],
    isOverlaid: () => false, // places are opened in it
    async expected(child, expected) {
      const fix = "leave out what is in the workspace, or work without a review";
      const mounted = await readMounted(child.stdio[numbers.report], fix);
      if (!isSame(mounted, id)) throw notLaid("it is not the one that the agent has", fix);
      return expected;
    },
    [Symbol.dispose]: () => closeSync(lower),
  };
}

const LAY_FIX =
  "use Linux 5.11 or later and keep the home on ext4, xfs or btrfs, or work without a review";

/** The line of native/overlay.c. */
async function readMounted(pipe: unknown, fix: string): Promise<FileId> {
  if (!(pipe instanceof Socket))
    throw new ConsentError(
      "sandbox_failed",
      "Cannot start an agent: what lays the overlay could not be started",
    );
  const line = await firstLine(pipe);
  const [, device, inode] = /^mounted (\d+) (\d+)\n$/u.exec(line) ?? [];
  if (device !== undefined && inode !== undefined) return { device, inode };
  const why = /^failed ([^\n]+)\n/u.exec(line)?.[1] ?? "it ended before";
  throw notLaid(why, fix);
}

function notLaid(why: string, fix: string): ConsentError {
  return new ConsentError(
    "sandbox_failed",
    `Cannot lay an overlay over the workspace: ${why}; ${fix}`,
  );
}

function firstLine(pipe: Socket): Promise<string> {
  return new Promise((resolve) => {
    let line = "";
    const end = (): void => {
      pipe.destroy();
      resolve(line);
    };
    pipe.on("data", (chunk) => {
      line += String(chunk);
      if (line.includes("\n") || line.length > LINE_BYTES_MAX) end();
    });
    pipe.once("end", end).once("error", end);
  });
}
