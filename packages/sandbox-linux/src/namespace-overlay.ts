/**
 * Namespace overlay: native/overlay.c before bubblewrap, where an agent's workspace is an overlay. It says what the workspace's name leads to from then on,
 * which the first stage has to find there.
 */
import type { ChildProcess } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { Socket } from "node:net";
import { ConsentError } from "@acp/core";
import { openLayers } from "./layers.js";
import type { NamespacePreparation } from "./namespace-prepare.js";
import type { ExpectedPlace } from "./parts.js";
import type { FileId, OpenPlaces } from "./places.js";

/** What is started with an overlay, or without one. */
export interface NamespaceOverlay extends Disposable {
  /** Words before bubblewrap's command line. */
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
  readonly expected: (child: ChildProcess, places: readonly ExpectedPlace[]) => Promise<readonly ExpectedPlace[]>;
}

const NONE: NamespaceOverlay = {
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
  { overlay: helper, places, user, host }: NamespacePreparation,
  { all }: OpenPlaces,
  placesFd: number,
): NamespaceOverlay {
  const { workspace } = places;
  if (helper === undefined || workspace === undefined) return NONE;
  const layers = openLayers(workspace, user);
  const fds = [openSync(helper, "r"), layers];
  const first = placesFd + all.length;
  const numbers = { expect: placesFd + all.findIndex(({ path }) => path === workspace.path), layers: first + 1, report: first + 2 };
  const options = Object.entries(numbers).flatMap(([name, fd]) => [`--${name}`, String(fd)]);
  return {
    // By its descriptor, as native/init.c, where another user starts it, who may not reach it.
    command: [host.variant === "dropped" ? `/proc/self/fd/${first}` : helper, "--workspace", workspace.path, ...options, "--"],
    stdio: [...fds, "pipe"],
    isOverlaid: (path) => path === workspace.path,
    async expected(child, expected) {
      const mounted = await readMounted(child.stdio[numbers.report]);
      return expected.map((place) => (place.path === workspace.path ? { path: place.path, ...mounted } : place));
    },
    [Symbol.dispose]: () => {
      for (const fd of fds) closeSync(fd);
    },
  };
}

/** The line of native/overlay.c. */
async function readMounted(pipe: unknown): Promise<FileId> {
  if (!(pipe instanceof Socket))
    throw new ConsentError("sandbox_failed", "Cannot start an agent: what lays the overlay could not be started");
  const line = await firstLine(pipe);
  const [, device, inode] = /^mounted (\d+) (\d+)\n$/u.exec(line) ?? [];
  if (device !== undefined && inode !== undefined) return { device, inode };
  const why = /^failed ([^\n]+)\n/u.exec(line)?.[1] ?? "it ended before";
  const fix = "use Linux 5.11 or later and keep the home on ext4, xfs or btrfs, or work without a review";
  throw new ConsentError("sandbox_failed", `Cannot lay an overlay over the workspace: ${why}; ${fix}`);
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
