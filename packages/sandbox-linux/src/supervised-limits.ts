/**
 * Supervised limits: what an agent without namespaces may use. The kernel counts all processes of a
 * user, those that have nothing to do with the agent too, so that the limit is that many more than
 * there are at the start.
 */
import { readdirSync, readFileSync } from "node:fs";
import type { SandboxItem } from "@acp/core";
import type { AgentUser, ResourceCaps } from "./parts.js";
import { type CapGroups, memoryText } from "./resource-caps.js";

/** Limits as options of native/confine.c. */
export function limitOptions(
  { openFiles, processes, processMemoryBytes }: ResourceCaps,
  { uid }: AgentUser,
): readonly string[] {
  const data = processMemoryBytes === undefined ? [] : ["--data", `${processMemoryBytes}`];
  return ["--files", `${openFiles}`, "--processes", `${threadsOf(uid) + processes}`, ...data];
}

/** What the report says of them. */
export function limitsItem(parts: {
  readonly caps: ResourceCaps;
  /** Left out before there are any. */
  readonly groups: Pick<CapGroups, "limitsProcesses" | "limitsMemory"> | undefined;
}): SandboxItem {
  const { caps, groups } = parts;
  const reasons = [
    `at most ${caps.openFiles} open files a process, no core dumps`,
    groups?.limitsProcesses === true
      ? `${caps.processes} processes`
      : `${caps.processes} processes more than its user had at the start`,
    memoryText(caps, groups?.limitsMemory === true),
    "the disk is not limited",
  ];
  return {
    aspect: "resource_caps",
    enforcement: "partial",
    reason: reasons.join(", "),
    fix: "Use the namespace sandbox",
  };
}

/** Threads of a uid, as the kernel counts them: by the real uid. */
function threadsOf(uid: number): number {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/u.test(name))
    .reduce((sum, pid) => {
      try {
        const status = readFileSync(`/proc/${pid}/status`, "utf8");
        const [owner, threads] = [/^Uid:\t(\d+)/mu, /^Threads:\t(\d+)/mu].map((pattern) =>
          Number(pattern.exec(status)?.[1]),
        );
        return owner === uid ? sum + (threads ?? 0) : sum;
      } catch {
        return sum; // it ended
      }
    }, 0);
}
