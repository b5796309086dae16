/** Needs: whether commands can be observed on this host. */
import { execFileSync } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import { hostNeed, type HostNeed } from "../host-needs.js";

const PROGRAMS = ["bash", "bwrap", "strace", "git", "script", "cp"];

/** Whether a program is found by its name in a `PATH`. */
export function isInstalled(program: string, path: string = process.env["PATH"] ?? ""): boolean {
  return path.split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

/**
 * Whether this host has what {@link observeEffects} needs: the programs, and the right to create
 * namespaces and to trace what runs in them.
 */
export function effectsNeed(): HostNeed {
  return hostNeed("bash, bwrap, strace, git and namespaces of its own", () => {
    const missing = PROGRAMS.filter((program) => !isInstalled(program));
    if (missing.length > 0) return `there is no ${missing.join(", ")}`;
    const sandboxed = ["--ro-bind", "/", "/", "--dev", "/dev", "--unshare-all", "true"];
    execFileSync(
      "strace",
      [
        "-f",
        "--seccomp-bpf",
        "-qq",
        "-e",
        "trace=connect",
        "-o",
        "/dev/null",
        "bwrap",
        ...sandboxed,
      ],
      {
        stdio: "pipe",
      },
    );
    return undefined;
  });
}
