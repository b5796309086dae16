/**
 * Process name: what files call a process by that made them, so that a later one knows whether it
 * is gone. A pid alone comes again.
 */
import { ConsentError } from "@acp/core";
import { isRunning, markProcess, pidNamespace } from "./process-tree.js";

const NAME = /^(?<namespace>\d+)-(?<pid>\d+)-(?<start>\d+)$/u;

/**
 * The name of this process: its pid namespace, its pid and when it began.
 *
 * @throws ConsentError `sandbox_failed` where /proc does not show it.
 */
export function ownProcessName(): string {
  const mark = markProcess(process.pid);
  if (mark === undefined)
    throw new ConsentError("sandbox_failed", "Cannot name this process: /proc does not show it");
  return `${pidNamespace()}-${mark.pid}-${mark.start}`;
}

/**
 * Whether the process of a name is gone. False for what is no name, and for one of another pid
 * namespace, where a pid says nothing.
 */
export function isProcessGone(name: string): boolean {
  const { namespace, pid, start } = NAME.exec(name)?.groups ?? {};
  if (
    namespace === undefined ||
    pid === undefined ||
    start === undefined ||
    namespace !== pidNamespace()
  )
    return false;
  return !isRunning({ pid: Number(pid), start });
}
