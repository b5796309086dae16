/**
 * The whole repository compiles under the strict flags: sources, tests, examples, benchmarks and
 * tools.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { capture, root as home } from "../workspace.mjs";
import type { Check } from "./check.js";

const PROJECTS = [
  "tsconfig.json",
  "tools/tsconfig.json",
  "packages/channel-web/page/tsconfig.json",
];

async function compile(root: string, project: string): Promise<readonly string[]> {
  const tsc = join(home, "node_modules/typescript7/bin/tsc");
  const { status, output } = await capture(
    process.execPath,
    [tsc, "-p", project, "--noEmit", "--pretty", "false"],
    { cwd: root },
  );
  return status === 0 ? [] : output.trim().split(/\n(?!\s)/);
}

export const typecheck: Check = {
  name: "typecheck",
  remedy: "Mend the types; `as` and `!` are no way out (docs/adr, CONTRIBUTING.md)",
  async run({ root }) {
    const found = await Promise.all(
      PROJECTS.filter((project) => existsSync(join(root, project))).map((project) =>
        compile(root, project),
      ),
    );
    return { problems: found.flat() };
  },
};
