/**
 * Namespace node: the node that runs us, which runs the first stage inside too. One outside of /usr
 * is shown as one file, with npm where it came with it; never the directory that it is in, which
 * may be somebody's home.
 */
import { readlinkSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { statOptional } from "./stat-optional.js";

/** One mount, as words of bubblewrap; the last is the path inside. */
export type Mount = readonly string[];

/** The real path of the node that runs us, which is also its path inside. */
export function nodeInside(): string {
  return realpathSync(process.execPath);
}

/** What to show of a node. An installation of Node is known by its header and its npm. */
export function nodeMounts(node: string): readonly Mount[] {
  const prefix = dirname(dirname(node));
  const modules = join(prefix, "lib/node_modules");
  const marks = [join(prefix, "include/node/node_version.h"), join(modules, "npm/package.json")];
  const isInstalled = marks.every((path) => statOptional(path) !== undefined);
  if (!isInstalled) return [["--ro-bind", node, node]];
  return [
    ["--ro-bind", node, node],
    ["--ro-bind", modules, modules],
    ...["npm", "npx", "corepack"].flatMap((name) => link(join(dirname(node), name))),
  ];
}

/** The programs beside node are links into its modules. */
function link(path: string): readonly Mount[] {
  try {
    const target = readlinkSync(path);
    return target.startsWith("../lib/node_modules/") ? [["--symlink", target, path]] : [];
  } catch {
    return []; // not there, or no link
  }
}
