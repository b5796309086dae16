/**
 * UID access: what the agent's user may do with places of the host, as the kernel answers that
 * user: modes, owners and access lists alike.
 */
import { chown, mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { ConsentError, quoteText } from "@acp/core";
import type { AgentUser, Session } from "./parts.js";
import { requireTool, runTool } from "./tools.js";
import type { VisiblePlaces } from "./workspace.js";

/** Gives up everything but the user's own rights, for good. */
export function becomeUser({ uid, gid }: AgentUser): readonly string[] {
  const ids = ["--reuid", String(uid), "--regid", String(gid), "--clear-groups"];
  return [
    requireTool("setpriv"),
    ...ids,
    "--no-new-privs",
    "--bounding-set=-all",
    "--inh-caps=-all",
    "--ambient-caps=-all",
    "--pdeathsig",
    "KILL",
    "--",
  ];
}

/**
 * Checks that the user reaches what it works in, neither reads nor replaces what must stay hidden,
 * and does not change what runs outside. A hidden place that it could rename would be its own at
 * the next start.
 *
 * @throws ConsentError `sandbox_unavailable` with the fix.
 */
export async function checkAccess(
  user: AgentUser,
  { workspace, readable, hidden, programs }: VisiblePlaces,
): Promise<void> {
  const shown = [...readable, ...(workspace === undefined ? [] : [workspace.path])];
  const above = new Map([...hidden, ...programs].map((path) => [path, ancestorsOf(path)]));
  const node = process.execPath;
  const access = await askAs(user, [
    node,
    ...shown,
    ...hidden,
    ...programs,
    ...[...above.values()].flat(),
  ]);
  const may = (path: string, right: Right): boolean => access.get(path)?.has(right) === true;
  const refuse = (path: string, why: string, fix: string): never => {
    throw new ConsentError(
      "sandbox_unavailable",
      `Cannot start an agent as ${quoteText(user.name)}: ${quoteText(path)} ${why}; ${fix}`,
    );
  };
  if (!may(node, "x"))
    refuse(node, "is not a program that user can run", "install Node.js for all users");
  for (const path of shown) {
    const isWritten = path === workspace?.path && workspace.access === "read-write";
    if (!may(path, "r") || !may(path, "x"))
      refuse(path, "is not readable for that user", "give it access, or name another directory");
    if (isWritten && !may(path, "w"))
      refuse(
        path,
        "is not writable for that user",
        `give it access (chown ${user.uid}), or ask for read-only`,
      );
  }
  for (const [path, parents] of above) {
    if (programs.includes(path) && (may(path, "w") || may(path, "owner")))
      refuse(
        path,
        "runs as root and can be changed by that user",
        "make it root's: chown -R root, chmod -R go-w",
      );
    if (hidden.includes(path) && [...RIGHTS].some((right) => may(path, right)))
      refuse(
        path,
        "must stay hidden and is open to that user",
        "make it root's: chown -R root, chmod 700",
      );
    const weak = parents.find(
      (parent) => may(parent, "owner") || (may(parent, "w") && !may(parent, "sticky")),
    );
    if (weak !== undefined)
      refuse(
        path,
        `can be replaced by that user through ${quoteText(weak)}`,
        "make that directory root's: chown root, chmod +t",
      );
  }
}

/**
 * Where the agent is at home: the user's own home where it can work there, else a private directory
 * of the session.
 */
export async function openHome(user: AgentUser, { directory }: Session): Promise<string> {
  const rights = (await askAs(user, [user.home])).get(user.home);
  if (user.home !== "/" && (["r", "w", "x"] as const).every((right) => rights?.has(right) === true))
    return user.home;
  const home = join(directory, "home");
  await mkdir(home, { mode: 0o700 });
  await chown(home, user.uid, user.gid);
  return home;
}

/**
 * What a user may do with a path: read, write, search or execute; whether it is its owner, and the
 * directory is sticky.
 */
type Right = "r" | "w" | "x" | "owner" | "sticky";

const RIGHTS: ReadonlySet<Right> = new Set<Right>(["r", "w", "x", "owner"]);
const LETTERS: Readonly<Record<string, Right>> = {
  r: "r",
  w: "w",
  x: "x",
  O: "owner",
  k: "sticky",
};
const SCRIPT =
  'for path; do found=; for what in r w x O k; do test "-$what" "$path" && found="$found$what"; done; echo "$found."; done';

/** Asks the kernel as that user. */
async function askAs(
  user: AgentUser,
  paths: readonly string[],
): Promise<ReadonlyMap<string, ReadonlySet<Right>>> {
  const { code, stdout, stderr, failure } = await runTool([
    ...becomeUser(user),
    "/bin/sh",
    "-c",
    SCRIPT,
    "sh",
    ...paths,
  ]);
  const lines = stdout.split(".\n").slice(0, -1);
  if (code !== 0 || lines.length !== paths.length) {
    const [said = ""] = stderr.trim().split("\n", 1);
    const why = failure ?? (said === "" ? "no answer" : said);
    throw new ConsentError(
      "sandbox_unavailable",
      `Cannot find out what ${quoteText(user.name)} may read: ${why}`,
    );
  }
  const rights = (line: string): ReadonlySet<Right> =>
    new Set([...line].flatMap((letter) => LETTERS[letter] ?? []));
  return new Map(paths.map((path, index) => [path, rights(lines[index] ?? "")]));
}

function ancestorsOf(path: string): readonly string[] {
  const parent = dirname(path);
  return parent === path ? [] : [parent, ...ancestorsOf(parent)];
}
