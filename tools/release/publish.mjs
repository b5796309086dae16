// Publishes every package of this version that the registry does not have: `npm run release:publish
// -- --provenance`. Arguments go to `npm publish`. What goes out are the archives of pack.mjs, each
// after those that it needs, so a run that broke off can be repeated.
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { capture, root } from "../workspace.mjs";
import { pack, stopUnlessBuilt } from "./pack.mjs";
import { releaseProblems, stopUnlessReady } from "./problems.mjs";

/**
 * @param {string} spec - Name and version.
 * @param {NodeJS.ProcessEnv} env
 */
async function isPublished(spec, env) {
  const { status, output } = await capture("npm", ["view", spec, "version"], { env });
  if (status !== 0 && !output.includes("E404"))
    throw new Error(`Cannot ask the registry for ${spec}\n${output.trim()}`);
  return status === 0 && output.trim() !== "";
}

/**
 * @param {{ to: string, from?: string, args?: readonly string[], env?: NodeJS.ProcessEnv }} options
 *   - `to`: a folder for the archives.
 * @returns {Promise<string[]>} What it published, in this order.
 */
export async function publish({ to, from = root, args = [], env = process.env }) {
  const problems = releaseProblems(from, env);
  if (problems.length > 0) throw new Error(`Cannot release yet:\n${problems.join("\n")}`);
  const published = [];
  for (const { name, version, archive } of await pack(to, from)) {
    const spec = `${name}@${version}`;
    if (await isPublished(spec, env)) continue;
    const { status, output } = await capture(
      "npm",
      ["publish", archive, "--access", "public", ...args],
      { env },
    );
    if (status !== 0)
      throw new Error(
        `Cannot publish ${spec}; published before it: ${published.join(", ") || "nothing"}\n${output.trim()}`,
      );
    published.push(spec);
  }
  return published;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const args = process.argv.slice(2);
  stopUnlessReady(root, process.env);
  // The workflow asks this first, before it tests for half an hour.
  if (!args.includes("--only-ask")) {
    stopUnlessBuilt();
    const published = await publish({ to: join(root, "temp/published"), args });
    console.log(
      published.length === 0
        ? "• everything is published already"
        : published.map((spec) => `✓ ${spec}`).join("\n"),
    );
  }
}
