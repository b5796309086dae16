/**
 * Which tests share a process: those that leave nothing behind in it. To start one for each file,
 * and to load there what it tests, takes longer than most tests. Their text says what they may
 * change; tools/shared-traces.ts looks at what they did.
 */
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";

/**
 * What changes the process, its modules or its clock for whoever comes next, or looks at the
 * process itself.
 */
const LEAVES_TRACES =
  /\bvi\.(?:mock|doMock|unmock|resetModules|stub\w+|useFakeTimers)|\bprocess\.(?:on|once|emit|chdir|exit|umask|memoryUsage)\b|\bprocess\.env\[[^\]]+\] (?:=|\?\?=)|delete process\.env|globalThis|\/proc\/self|getActiveResources/;

/** What has a process of its own for another reason. */
const ALONE: readonly RegExp[] = [
  // Sandboxes: who started them, with which descriptors and limits, is what they are about.
  /^packages\/sandbox-linux\/test\//,
  // They start programs, browsers and worlds: a process more is little beside these, and an end
  // that hangs hangs alone. Those of the command line that only run it in their process say so.
  /^packages\/channel-web\/test\/(?:browser-|guide)/,
  /^packages\/testing\/src\/effects\//,
  /^packages\/core\/test\/docs-/,
  /^packages\/exec-safety\/test\//,
  /^examples\//,
];

const OF_COMMAND_LINE = /^packages\/cli\/test\//;
const RUNS_HERE = /from "\.\/acp-here\.js"/;
const STARTS_PROGRAMS =
  /from "(?:node:child_process|\.\/(?:harness|mcp-client|[a-z-]+-world)\.js)"/;

/**
 * @param file - Path from the root.
 * @param text - What is in it.
 */
export function isSharedTest(file: string, text: string): boolean {
  if (!file.endsWith(".test.ts") || LEAVES_TRACES.test(text)) return false;
  if (OF_COMMAND_LINE.test(file)) return RUNS_HERE.test(text) && !STARTS_PROGRAMS.test(text);
  return !ALONE.some((each) => each.test(file));
}

/**
 * Every test that shares a process, as paths from the root. Without git: tests also run as users
 * who do not own the checkout, and git tells them nothing.
 */
export function sharedTests(root: string): readonly string[] {
  const places = readdirSync(join(root, "packages")).flatMap((name) =>
    ["src", "test"].map((part) => `packages/${name}/${part}`),
  );
  const files = ["tools/checks", "tools/site", ...places]
    .filter((folder) => existsSync(join(root, folder)))
    .flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: "utf8" }).map(
        (file) => `${folder}/${file}`,
      ),
    );
  const own = readdirSync(join(root, "tools")).map((file) => `tools/${file}`);
  return [...files, ...own]
    .filter(
      (file) =>
        file.endsWith(".test.ts") && isSharedTest(file, readFileSync(join(root, file), "utf8")),
    )
    .sort();
}
