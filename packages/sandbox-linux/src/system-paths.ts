/**
 * System paths: programs and what they are made of, which every agent sees, and the node that runs
 * us.
 */
import { dirname, join } from "node:path";
import { nodeInside } from "./namespace-node.js";
import { statOptional } from "./stat-optional.js";
import { liesIn } from "./workspace.js";

const SYSTEM = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/libexec"];

/**
 * Files and directories of the host that every agent sees, whatever the operator shows: system
 * programs and libraries, and the node that runs this process.
 */
export function systemPaths(): readonly string[] {
  return [...SYSTEM, ...nodePaths(nodeInside())];
}

/**
 * A node outside of the system: the file, with npm where it came with it; never the directory that
 * it is in, which may be somebody's home.
 */
function nodePaths(node: string): readonly string[] {
  if (SYSTEM.some((directory) => liesIn(node, directory))) return [];
  const prefix = dirname(dirname(node));
  const isInstalled = ["include/node/node_version.h", "lib/node_modules/npm/package.json"].every(
    (name) => statOptional(join(prefix, name)) !== undefined,
  );
  return isInstalled ? [node, join(prefix, "lib/node_modules")] : [node];
}
