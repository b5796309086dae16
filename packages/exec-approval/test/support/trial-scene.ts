/** A hub with trials in the real sandbox, and a project of its own. */
import { execFileSync } from "node:child_process";
import { chmodSync, chownSync, mkdirSync, writeFileSync } from "node:fs";
import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Readable } from "node:stream";
import type { CommandTrials } from "@acp/core";
import { createTrials } from "@acp/sandbox-linux";
import { hostNeed } from "@acp/testing";
import { onTestFinished } from "vitest";
import type { RunOptions } from "../../src/run-approved.js";
import type { TrialResult, Tried } from "../../src/trial/trial-result.js";
import { AGENT, type Desk, type DeskOptions, openDesk } from "../desk.js";

export const AGENT_UID = 61_009;
export const isRoot = process.getuid?.() === 0;

export const namespaces = hostNeed("bubblewrap and user namespaces", () => {
  const drop = isRoot
    ? ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "bwrap"]
    : ["bwrap"];
  const [program = "", ...rest] = drop;
  execFileSync(
    program,
    [...rest, "--unshare-user", "--unshare-net", "--ro-bind", "/", "/", "true"],
    { stdio: "pipe" },
  );
  return undefined;
});

export interface Scene extends Desk {
  readonly home: string;
  readonly write: (name: string, text: string) => void;
  /** Runs a trial; its output is beside its result. */
  readonly attempt: (
    command: string,
    options?: RunOptions,
    agentId?: string,
  ) => Promise<{ readonly result: TrialResult; readonly text: string }>;
  readonly notices: (name: string) => readonly unknown[];
}

export async function openScene(
  options: DeskOptions & {
    readonly wrap?: (trials: CommandTrials<Readable>) => CommandTrials<Readable>;
  } = {},
): Promise<Scene> {
  const { wrap = (trials) => trials, written = { trials: true }, ...rest } = options;
  const top = await realpath(await mkdtemp(join(tmpdir(), "acp-trial-")));
  onTestFinished(() => rm(top, { recursive: true, force: true }));
  chmodSync(top, 0o755);
  const [project, home] = [join(top, "work"), join(top, "home")];
  mkdirSync(project);
  mkdirSync(home, { mode: 0o700 });
  const own = (path: string): void => {
    if (isRoot) chownSync(path, AGENT_UID, AGENT_UID);
  };
  own(project);
  const write = (name: string, text: string): void => {
    const path = join(project, name);
    mkdirSync(dirname(path), { recursive: true });
    own(dirname(path));
    writeFileSync(path, text);
    own(path);
  };
  write("a.txt", "one\n");
  write(".env", "TOKEN=s3cr3t\n");
  const trials = createTrials({
    directory: join(home, "trials"),
    hidden: [home],
    ...(isRoot && { user: AGENT_UID }),
  });
  onTestFinished(() => trials[Symbol.asyncDispose]());
  const desk = await openDesk({ projectRoot: project, trials: wrap(trials), written, ...rest });
  return {
    ...desk,
    home,
    write,
    attempt: async (command, runOptions, agentId = AGENT.agentId) => {
      const chunks: Uint8Array[] = [];
      const result = await desk.hub.runTrial(
        command,
        { agentId },
        { onOutput: ({ chunk }) => void chunks.push(chunk), ...runOptions },
      );
      return { result, text: Buffer.concat(chunks).toString("utf8") };
    },
    notices: (name) =>
      desk.audit
        .events()
        .flatMap(({ metadata }) => (metadata["notice"] === name ? [metadata] : [])),
  };
}

export function tried(result: TrialResult): Tried {
  if (!result.tried) throw new Error(result.reason);
  return result;
}

/**
 * A write, with what it wrote beforehand, as an unknown program would: nobody proved it harmless.
 */
export const WRITES = "echo more >> a.txt; echo n > new.txt; cat a.txt";
