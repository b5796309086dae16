/**
 * Which tests are pure: they look at values alone, and leave nothing behind in their process. They share one process, without a new set of modules for
 * each file; most of what such a file costs by itself is loading what it tests.
 */
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";

/** Beside the code alone: a test under `test/` is a world, or a search that wants a process of its own. */
const BESIDE_CODE = /^packages\/[^/]+\/src\/.*\.test\.ts$/;
/** Modules of Node that touch nothing outside their own values. */
const PLAIN_MODULES = new Set(["assert", "assert/strict", "buffer", "crypto", "path", "url", "util"]);
const MODULE = /from "node:([\w/]+)"/g;
/** What changes the process, its modules or its clock for whoever comes next, or asks where the test itself lies. */
const LEAVES_TRACES =
  /\bvi\.(?:mock|doMock|unmock|resetModules|stub\w+|useFakeTimers)|\bprocess\.(?:env|on|once|chdir|exit)|globalThis|import\.meta|\bimport\(/;

/**
 * @param file - Path from the root.
 * @param text - What is in it.
 */
export function isPureTest(file: string, text: string): boolean {
  if (!BESIDE_CODE.test(file) || LEAVES_TRACES.test(text)) return false;
  return [...text.matchAll(MODULE)].every(([, name = ""]) => PLAIN_MODULES.has(name));
}

/**
 * Every pure test of the packages, as paths from the root. Without git: tests also run as users who do not own the checkout, and git tells them nothing.
 */
export function pureTests(root: string): readonly string[] {
  const folders = readdirSync(join(root, "packages")).map((name) => `packages/${name}/src`);
  const files = folders
    .filter((folder) => existsSync(join(root, folder)))
    .flatMap((folder) => readdirSync(join(root, folder), { recursive: true, encoding: "utf8" }).map((file) => `${folder}/${file}`));
  return files.filter((file) => file.endsWith(".test.ts") && isPureTest(file, readFileSync(join(root, file), "utf8"))).sort();
}
