/**
 * Tree check: whether a tree is the one that was pinned, at the cost of a few hundred looks. What
 * npm wrote down as installed has the pinned digest, and each of these packages is there; the bytes
 * of each file were checked when it was installed, and nobody but the person could change them
 * since.
 */
import { closeSync, constants, fstatSync, lstatSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { isJsonObject, parseJson } from "@acp/core";
import { digestOf, LOCKFILE_BYTES_MAX } from "./lockfile.js";

/** Where npm writes down what it installed. */
export const INSTALLED_FILE = "node_modules/.package-lock.json";

/** Why a tree is not what it was, as the end of a sentence; `undefined` where it is. */
export function whyDamaged(tree: string, installed: string): string | undefined {
  let text: string;
  try {
    text = readText(join(tree, INSTALLED_FILE));
  } catch {
    return "it is missing or incomplete";
  }
  if (digestOf(text) !== installed) return "it lists other packages than it had";
  const missing = pathsOf(text).find(
    (path) => lstatSync(join(tree, path, "package.json"), { throwIfNoEntry: false }) === undefined,
  );
  return missing === undefined ? undefined : `${missing} is missing`;
}

function pathsOf(text: string): readonly string[] {
  const value = parseJson(text, { bytesMax: LOCKFILE_BYTES_MAX });
  const packages = isJsonObject(value) ? (value["packages"] ?? {}) : {};
  return isJsonObject(packages) ? Object.keys(packages) : [];
}

function readText(file: string): string {
  const fd = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const found = fstatSync(fd);
    if (!found.isFile() || found.size > LOCKFILE_BYTES_MAX) throw new Error("it is not a lockfile");
    return readFileSync(fd, "utf8");
  } finally {
    closeSync(fd);
  }
}
