/**
 * UID namespace: a pid, ipc and mount namespace on the host's own file system, held open by a
 * process that has a pipe from the manager as its input. When the manager is gone, however it went,
 * the pipe ends, the process ends, and the kernel ends everything else in there.
 */
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { ConsentError } from "@acp/core";
import { coverInherited } from "./descriptors.js";
import { childrenOf, markProcess, signalProcess } from "./process-tree.js";
import type { ProcessMark } from "./process-tree.js";
import { requireTool, startTool } from "./tools.js";

/** An open namespace. */
export interface UidNamespace {
  /** Put before a command, as root, this runs it inside. */
  readonly enter: readonly string[];
  /** Settles when nothing runs in it any more. */
  readonly ended: Promise<void>;
  /** Ends everything in it at once. */
  kill(): void;
}

/**
 * `cat` echoes what it is sent, which says that the namespace is complete, and ends with its input.
 * A process that ignores SIGCHLD leaves no zombies of those that it adopts. `$@`: directories that
 * are read-only inside, without what is mounted below them.
 */
const HOLD = `for path; do mount --bind -- "$path" "$path" && mount -o remount,bind,ro -- "$path" || exit 1; done
exec env --ignore-signal=CHLD -- cat`;
const SIGN_OF_LIFE = "ready\n";

/**
 * Opens one.
 *
 * @throws ConsentError `sandbox_failed`.
 */
export async function openUidNamespace(readOnly: readonly string[]): Promise<UidNamespace> {
  const unshare = [
    requireTool("unshare"),
    "--pid",
    "--ipc",
    "--mount",
    "--fork",
    "--kill-child=KILL",
    "--mount-proc",
    "--",
  ];
  const command = [
    requireTool("setpriv"),
    "--pdeathsig",
    "KILL",
    "--",
    ...unshare,
    "/bin/sh",
    "-c",
    HOLD,
    "sh",
    ...readOnly,
  ];
  const holder = coverInherited(["pipe", "pipe", "pipe"], (stdio) => startTool(command, { stdio }));
  const ended = new Promise<void>((resolve) => {
    holder.once("exit", () => resolve());
    holder.once("error", () => resolve());
  });
  const init = await untilComplete(holder).catch((error: unknown) => {
    holder.kill("SIGKILL");
    throw error;
  });
  return {
    // Into the mount namespace as well: /proc there shows these processes.
    enter: [
      requireTool("nsenter"),
      "--target",
      String(init.pid),
      "--pid",
      "--ipc",
      "--mount",
      "--",
    ],
    ended,
    kill: () => void signalProcess(init, "SIGKILL"),
  };
}

async function untilComplete(holder: ChildProcess): Promise<ProcessMark> {
  let complaint = "";
  holder.stderr?.setEncoding("utf8").on("data", (text: string) => {
    complaint += text;
  });
  holder.stdin?.on("error", () => {}); // it ended: said below
  holder.stdin?.write(SIGN_OF_LIFE);
  const { stdout, pid } = holder;
  const ending = new AbortController();
  holder.once("close", () => ending.abort());
  holder.once("error", (error) => ending.abort((complaint = error.message)));
  if (stdout !== null) await once(stdout, "data", { signal: ending.signal }).catch(() => {});
  const [child] = ending.signal.aborted || pid === undefined ? [] : childrenOf(pid);
  const init = child === undefined ? undefined : markProcess(child);
  if (init === undefined)
    throw new ConsentError(
      "sandbox_failed",
      `Cannot make a pid namespace for an agent: ${complaint.trim().split("\n", 1)[0]}`,
    );
  return init;
}
