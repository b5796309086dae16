/**
 * Take a tree: writes the directories, files and links that npm's sandbox hands over into a new
 * directory of ours. What is inside had the say over all of it, so nothing leads out of the
 * directory, nothing is written twice, and there is an end to it.
 */
import { constants } from "node:fs";
import { chmod, mkdir, open, symlink } from "node:fs/promises";
import { dirname, join, normalize } from "node:path";
import { ConsentError, isConsentError } from "@acp/core";
import type { JsonObject } from "@acp/core";
import type { MessageStream } from "./message-stream.js";

/** How much a tree may have. */
export interface TreeLimits {
  readonly entries: number;
  readonly bytes: number;
}

/** More than the largest servers that are known have. */
export const TREE_LIMITS: TreeLimits = { entries: 100_000, bytes: 1_073_741_824 };

const MESSAGE_BYTES_MAX = 16_384;
const PATH_CHARS_MAX = 1_024;
/** What is beside `node_modules`, the top of a tree. */
const TOP = "node_modules";
const FILE_FLAGS: number =
  constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;

/**
 * Takes it.
 *
 * @param directory - Exists, is empty, and nobody else writes there.
 * @throws ConsentError `config_invalid` where something in it may not be, or it cannot be
 *   written; `sandbox_failed` where it is cut off.
 */
export async function takeTree(
  output: MessageStream,
  directory: string,
  limits: TreeLimits = TREE_LIMITS,
): Promise<void> {
  try {
    await take(output, directory, limits);
  } catch (error) {
    if (isConsentError(error)) throw error;
    // A name that is too long, the same name twice, a full disk: no reason to end more than this.
    throw refused(
      `they cannot be written: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}

async function take(output: MessageStream, directory: string, limits: TreeLimits): Promise<void> {
  const directories = new Set<string>(["."]);
  const links: (readonly [path: string, target: string])[] = [];
  let [entries, bytes] = [0, 0];
  for (;;) {
    const message = await output.message(MESSAGE_BYTES_MAX);
    if (message["end"] === true) break;
    entries += 1;
    if (entries > limits.entries) throw refused(`they have more than ${limits.entries} files`);
    const path = readPath(message, directories);
    if (message["directory"] !== undefined) {
      await mkdir(join(directory, path));
      // Whatever our own umask is: who runs the server may be another user.
      await chmod(join(directory, path), 0o755);
      directories.add(path);
    } else if (message["link"] !== undefined) {
      links.push([path, readTarget(path, message)]);
    } else {
      const size = readSize(message);
      bytes += size;
      if (bytes > limits.bytes) throw refused(`they have more than ${limits.bytes} bytes`);
      await using file = await open(join(directory, path), FILE_FLAGS, 0o600);
      await output.bytes(size, (part) => file.appendFile(part));
      await file.chmod(message["runs"] === true ? 0o755 : 0o644);
    }
  }
  // Last: nothing is ever written through one.
  for (const [path, target] of links) await symlink(target, join(directory, path));
}

/** A path whose directory was made before, so that no part of it is a link. */
function readPath(message: JsonObject, directories: ReadonlySet<string>): string {
  const path = message["directory"] ?? message["link"] ?? message["file"];
  if (typeof path !== "string")
    throw refused("they have something that is neither a file, a directory nor a link");
  const isPlain =
    path.length <= PATH_CHARS_MAX &&
    path.split("/").every((part) => part !== "" && part !== "." && part !== "..");
  if (
    !isPlain ||
    path.includes("\0") ||
    !directories.has(dirname(path)) ||
    (dirname(path) === "." && path !== TOP)
  )
    throw refused(`${JSON.stringify(path.slice(0, 256))} is not a place in them`);
  return path;
}

/**
 * Up, then down: a `..` behind a name that is a link itself would lead elsewhere than its text
 * says.
 */
const TARGET = /^(?:\.\.\/)*(?!\.\.?(?:\/|$))[^/\0]+(?:\/(?!\.\.?(?:\/|$))[^/\0]+)*$/u;

/**
 * Where a link leads, which is in the tree by its text; what is a link on the way there leads no
 * further than the tree either.
 */
function readTarget(path: string, { to }: JsonObject): string {
  if (typeof to === "string" && to.length <= PATH_CHARS_MAX && TARGET.test(to)) {
    const end = normalize(join(dirname(path), to));
    if (end === TOP || end.startsWith(`${TOP}/`)) return to;
  }
  throw refused(`the link ${JSON.stringify(path.slice(0, 256))} leads out of them`);
}

function readSize({ bytes }: JsonObject): number {
  if (typeof bytes === "number" && Number.isSafeInteger(bytes) && bytes >= 0) return bytes;
  throw refused("a file has no size");
}

function refused(why: string): ConsentError {
  return new ConsentError("config_invalid", `Cannot take the packages of a server: ${why}`);
}
