/**
 * Agent user: who an agent runs as. A manager that is root never lends that to an agent; one that
 * is not can only pass on what it is.
 */
import { readFileSync } from "node:fs";
import { ConsentError } from "@acp/core";
import type { AgentUser, ConfinementOptions } from "./parts.js";
import { statOptional } from "./stat-optional.js";

/** Where an agent user is chosen from; the process's own state unless given. */
export interface UserSources {
  readonly uid: number;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Text of /etc/passwd. */
  readonly passwd: string;
}

const NOBODY = 65_534;
const ID_MAX = 4_294_967_294;

/**
 * The user of an agent. For a root manager: the given one, else who called sudo, else the owner of
 * the workspace or of what it may write, else nobody. Otherwise the manager's own.
 *
 * @throws ConsentError `options_invalid` where that would be root, is not known, or is not the
 *   manager's to choose.
 */
export function chooseAgentUser(
  { user, workspace, writable = [] }: Pick<ConfinementOptions, "user" | "workspace" | "writable">,
  sources: UserSources = sourcesOfProcess(),
): AgentUser {
  const { uid, env } = sources;
  const lines = parsePasswd(sources.passwd);
  const asked = user === undefined ? undefined : findUser(user, lines);
  if (uid !== 0) {
    if (asked !== undefined && asked.uid !== uid)
      throw refused(user, "only root can start an agent as another user");
    return (
      lines.find((line) => line.uid === uid) ?? {
        uid,
        gid: process.getgid?.() ?? uid,
        name: String(uid),
        home: env["HOME"] ?? "/nonexistent",
      }
    );
  }
  return (
    asked ??
    sudoCaller(env, lines) ??
    owner(workspace?.path ?? writable[0], lines) ??
    userOf(NOBODY, lines)
  );
}

function sourcesOfProcess(): UserSources {
  return {
    uid: process.getuid?.() ?? 0,
    env: process.env,
    passwd: readFileSync("/etc/passwd", "utf8"),
  };
}

function findUser(user: string | number, lines: readonly AgentUser[]): AgentUser {
  const byName = lines.find(({ name }) => name === user);
  const uid = byName?.uid ?? (/^\d{1,10}$/u.test(String(user)) ? Number(user) : undefined);
  if (uid === undefined || uid > ID_MAX) throw refused(user, "there is no such user");
  const found = byName ?? userOf(uid, lines);
  if (found.uid === 0) throw refused(user, "an agent never runs as root");
  if (found.gid === 0) throw refused(user, "its group is root's");
  return found;
}

function sudoCaller(env: UserSources["env"], lines: readonly AgentUser[]): AgentUser | undefined {
  const uid = Number(env["SUDO_UID"] ?? 0);
  return Number.isInteger(uid) && uid > 0 && uid <= ID_MAX ? userOf(uid, lines) : undefined;
}

function owner(path: string | undefined, lines: readonly AgentUser[]): AgentUser | undefined {
  const uid = path === undefined ? 0 : (statOptional(path)?.uid ?? 0);
  return uid === 0 ? undefined : userOf(uid, lines);
}

/**
 * A uid without a line is as good as one with: the kernel knows numbers only. Its group is then the
 * one of the same number.
 */
function userOf(uid: number, lines: readonly AgentUser[]): AgentUser {
  const line = lines.find((each) => each.uid === uid);
  return line !== undefined && line.gid !== 0
    ? line
    : { uid, gid: uid, name: line?.name ?? String(uid), home: line?.home ?? "/nonexistent" };
}

function parsePasswd(text: string): readonly AgentUser[] {
  return text.split("\n").flatMap((line) => {
    const [name = "", , uid = "", gid = "", , home = ""] = line.split(":");
    return name !== "" && /^\d+$/u.test(uid) && /^\d+$/u.test(gid)
      ? [{ name, uid: Number(uid), gid: Number(gid), home }]
      : [];
  });
}

function refused(user: string | number | undefined, why: string): ConsentError {
  return new ConsentError("options_invalid", `Cannot run an agent as "${user}": ${why}`);
}
