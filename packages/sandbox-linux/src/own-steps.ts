/**
 * Own steps: the real path of a place that a person named, followed from the root. A link on the
 * way counts only if it belongs to root: any other may have been left by an agent that could write
 * there, in this run or an earlier one, and would lead where that agent wants.
 */
import { lstatSync, readlinkSync, realpathSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { ConsentError } from "@acp/core";

/** As many links as the kernel follows. */
const LINKS_MAX = 40;

/**
 * Follows a path.
 *
 * @param path - Absolute.
 * @returns Its real path, as it was at each step: nothing on it is looked up a second time.
 * @throws ConsentError `options_invalid` where a link on the way is not root's, naming where it
 *   leads; what `lstat` throws.
 */
export function followOwnSteps(path: string): string {
  const steps = path.split("/").toReversed();
  let [real, links] = ["/", 0];
  while (steps.length > 0) {
    const step = steps.pop() ?? "";
    if (step === "" || step === ".") continue;
    if (step === "..") {
      real = join(real, "..");
      continue;
    }
    const at = join(real, step);
    const found = lstatSync(at);
    if (!found.isSymbolicLink()) {
      real = at;
      continue;
    }
    links += 1;
    if (found.uid !== 0 || links > LINKS_MAX) throw refused(path, at);
    const target = readlinkSync(at);
    steps.push(...target.split("/").toReversed());
    if (isAbsolute(target)) real = "/";
  }
  return real;
}

function refused(path: string, link: string): ConsentError {
  const why = `"${link}" is a link, which an agent may have made`;
  return new ConsentError(
    "options_invalid",
    `Cannot show "${path}" to an agent: ${why}; name the directory that you mean${leadingTo(path)}`,
  );
}

function leadingTo(path: string): string {
  try {
    return ` (the link leads to "${realpathSync(path)}")`;
  } catch {
    return "";
  }
}
