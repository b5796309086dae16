/**
 * Supervised limits: what an agent without namespaces may use. A limit of processes counts all of a user's, so that it is set only where the
 * agent's user is not the manager's own.
 */
import type { SandboxItem } from "@acp/core";
import type { AgentUser, ResourceCaps } from "./parts.js";
import type { CapGroups } from "./resource-caps.js";

/** Limits as options of native/confine.c. */
export function limitOptions({ openFiles, processes }: ResourceCaps, user: AgentUser): readonly string[] {
  return ["--files", `${openFiles}`, ...(isAnother(user) ? ["--processes", `${processes}`] : [])];
}

/** What the report says of them. */
export function limitsItem(parts: {
  readonly caps: ResourceCaps;
  readonly user: AgentUser;
  /** Left out before there are any. */
  readonly groups: Pick<CapGroups, "limitsProcesses" | "limitsMemory"> | undefined;
}): SandboxItem {
  const { caps, user, groups } = parts;
  const limitsProcesses = isAnother(user) || groups?.limitsProcesses === true;
  const reasons = [
    `at most ${caps.openFiles} open files a process, no core dumps`,
    limitsProcesses ? `${caps.processes} processes` : "processes are not limited",
    groups?.limitsMemory === true ? `${caps.memoryBytes} bytes of memory` : "memory is not limited",
    "the disk is not limited",
  ];
  return { aspect: "resource_caps", enforcement: "partial", reason: reasons.join(", "), fix: "Use the namespace sandbox" };
}

function isAnother({ uid }: AgentUser): boolean {
  return process.getuid?.() !== uid;
}
