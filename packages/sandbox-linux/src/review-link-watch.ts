/** Review link watch: finds the links of a workspace once a take needs them, and keeps count. */
import { closeSync, readlinkSync } from "node:fs";
import { createLinkMap, type LinkMap } from "./review-link-map.js";
import { listFolder, lookAt, openFolder, type ReadBudget, within } from "./review-folder.js";
import { inSlices, type Sliced } from "./slices.js";

/** The links of a workspace while something is taken into it. @see LinkMap */
export interface LinkWatch {
  /** @throws Error where the workspace has more names than are looked at. */
  breaks(path: string, target: string | undefined): Promise<boolean>;
  set(path: string, target: string | undefined): Promise<void>;
}

/** Names of a large project with all that it depends on. */
const ENTRIES_MAX = 2_000_000;
const DEPTH_MAX = 256;

/**
 * Watches them; nothing is read before the first question.
 *
 * @param workspace - Its real path.
 * @param root - The same folder, open.
 */
export function createLinkWatch(workspace: string, root: number): LinkWatch {
  let found: Promise<LinkMap> | undefined;
  const map = (): Promise<LinkMap> => (found ??= readMap(workspace, root));
  return {
    breaks: async (path, target) => (await map()).breaks(path, target),
    set: async (path, target) => (await map()).set(path, target),
  };
}

async function readMap(workspace: string, root: number): Promise<LinkMap> {
  const links: (readonly [path: string, target: string])[] = [];
  const budget = { entries: ENTRIES_MAX, bytes: 0, text: 0 };
  if (!(await inSlices(readLinks({ folder: root, path: "", depth: 0 }, budget, links))))
    throw new Error("the workspace has more names than can be searched for links");
  return createLinkMap(workspace, links);
}

interface LinkFolder {
  readonly folder: number;
  /** Empty, or with a slash at its end. */
  readonly path: string;
  readonly depth: number;
}

/** Returns whether that was all. A folder that is closed to us has nothing that we follow. */
function* readLinks(
  { folder, path, depth }: LinkFolder,
  budget: ReadBudget,
  links: (readonly [path: string, target: string])[],
): Sliced<boolean> {
  const { names, isWhole } = yield* listFolder(folder, budget);
  if (!isWhole || depth > DEPTH_MAX) return false;
  for (const name of names) {
    yield;
    const found = lookAt(folder, name);
    if (found?.isSymbolicLink() === true) links.push([path + name, targetOf(folder, name)]);
    if (found?.isDirectory() !== true) continue;
    const below = openFolder(folder, name);
    if (below === undefined) continue;
    try {
      const all = { folder: below, path: `${path}${name}/`, depth: depth + 1 };
      if (!(yield* readLinks(all, budget, links))) return false;
    } finally {
      closeSync(below);
    }
  }
  return true;
}

/** Empty where it is gone meanwhile: such a link leads nowhere. */
function targetOf(folder: number, name: string): string {
  try {
    return readlinkSync(within(folder, name));
  } catch {
    return "";
  }
}
