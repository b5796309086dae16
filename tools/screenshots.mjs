// Takes the pictures of the approval inbox in docs/images anew, in Chromium: `node
// tools/screenshots.mjs [FOLDER]`.
import { spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { root } from "./workspace.mjs";

const [asked = join(root, "docs/images")] = process.argv.slice(2);
const folder = resolve(asked);
mkdirSync(folder, { recursive: true });
const { status } = spawnSync(
  "npx",
  [
    "vitest",
    "run",
    "--typecheck.enabled=false",
    "packages/channel-web/test/browser-screens.test.ts",
  ],
  {
    cwd: root,
    stdio: "inherit",
    // As on a build server: without Chromium there are no pictures, which is a failure.
    env: { ...process.env, CI: "true", ACP_SCREENSHOTS: folder },
  },
);
process.exitCode = status ?? 1;
