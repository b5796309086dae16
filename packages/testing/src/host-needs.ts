/**
 * Host needs: whether a test can run on this host. Where it cannot it is skipped with the reason,
 * except on a build server (`CI` in the environment): there a missing need is a failure, so that no
 * suite quietly stops running. Needs that whoever runs the tests leaves out on purpose are named in
 * `ACP_HOST_LACKS` by their first word, with commas between them: `root` where the tests run once
 * more as somebody else.
 */

/** Whether a test can run here, and why not. */
export interface HostNeed {
  /** Whether this host has what the test needs. */
  readonly run: boolean;
  /** Why not, for the skip's note; empty where it can run. */
  readonly reason: string;
}

/**
 * Finds out whether a test can run on this host. Call it where the test is declared, and pass the
 * reason to the skip.
 *
 * @param name - What is needed, for the skip's note: `bubblewrap`, `root`.
 * @param probe - Tries it: returns `undefined` where it is there, otherwise why it is not. An error
 *   counts as the reason.
 * @throws Error where it is missing and `CI` is set, unless `ACP_HOST_LACKS` names it.
 */
export function hostNeed(name: string, probe: () => string | undefined): HostNeed {
  const missing = reasonOf(probe);
  if (missing === undefined) return { run: true, reason: "" };
  const reason = `needs ${name}: ${missing}`;
  if (isBuildServer(process.env["CI"]) && !isLeftOut(name, process.env["ACP_HOST_LACKS"]))
    throw new Error(`Cannot skip on a build server: ${reason}`);
  return { run: false, reason };
}

function reasonOf(probe: () => string | undefined): string | undefined {
  try {
    return probe();
  } catch (error) {
    return String(error instanceof Error ? error.message : error).split("\n", 1)[0];
  }
}

function isLeftOut(name: string, lacks = ""): boolean {
  const [word] = /^\w+/u.exec(name) ?? [];
  return word !== undefined && lacks.split(",").includes(word);
}

/** As npm's tools read the variable: set to anything but `false`, `0` or nothing. */
function isBuildServer(value: string | undefined): boolean {
  return value !== undefined && !["", "0", "false"].includes(value);
}
