/**
 * Process name: what files call a process by that made them, so that a later one knows whether it
 * is gone. A pid alone comes again.
 */
import { ConsentError } from "@acp/core";
import { isRunning, markProcess, pidNamespace } from "./process-tree.js";

const NAME = /^(?<namespace>\d+)-(?<pid>\d+)-(?<start>\d+)$/u;

/**
 * A text that identifies this process: its PID namespace, its PID and its start time.
 *
 * @throws ConsentError `sandbox_failed` where /proc does not show it.
 */
export function ownProcessName(): string {
  const name = processName(process.pid);
  if (name === undefined)
    throw new ConsentError("sandbox_failed", "Cannot name this process: /proc does not show it");
  return name;
}

/** The same for another process; `undefined` where there is none, or only a zombie. */
export function processName(pid: number): string | undefined {
  const mark = markProcess(pid);
  return mark === undefined ? undefined : `${pidNamespace()}-${mark.pid}-${mark.start}`;
}

/** The pid in a name of this PID namespace; `undefined` in any other text. */
export function pidInName(name: string): number | undefined {
  const { namespace, pid } = NAME.exec(name)?.groups ?? {};
  return pid === undefined || namespace !== pidNamespace() ? undefined : Number(pid);
}

/**
 * Whether the process that {@link ownProcessName} named is gone. False for a text that is not such
 * a name, and for a process of another PID namespace, where a PID says nothing.
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
