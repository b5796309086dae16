/**
 * `acp run` with a home, a workspace, and a server on this machine that only the proxy reaches from
 * inside.
 */
import { spawnSync } from "node:child_process";
import { chmod, chown, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { readAuditLog } from "@acp/audit";
import type { AuditEvent } from "@acp/audit";
import type { ApproverClients } from "@acp/channel-terminal";
import type { SandboxReport } from "@acp/core";
import { hostNeed } from "@acp/testing";
import type { HostNeed } from "@acp/testing";
import { onTestFinished } from "vitest";
import { BIN, startAcp } from "./harness.js";
import type { AcpOptions, Ended, Running } from "./harness.js";
import { attachSilent, httpWorld } from "./http-world.js";
import type { HttpWorld, HttpWorldOptions } from "./http-world.js";

/** Who the agent is where the tests run as root; nobody has the number. */
export const AGENT_UID = 61_077;

/** Whether a sandbox can start here, as `acp sandbox probe` finds. */
export function needSandbox(name: string): HostNeed {
  return hostNeed(`sandbox ${name}`, () => {
    const probe = spawnSync(process.execPath, [BIN, "sandbox", "probe", "--json"], {
      encoding: "utf8",
    });
    const { sandboxes }: { readonly sandboxes: readonly SandboxReport[] } = JSON.parse(
      probe.stdout,
    );
    const report = sandboxes.find(({ sandbox }) => sandbox === name);
    return report?.isAvailable === true
      ? undefined
      : (report?.reason ?? "there is none of this name");
  });
}

/** A home, a workspace, and what may be reached. */
export interface RunWorld extends HttpWorld {
  /** The workspace; the agent may write in it. */
  readonly work: string;
  /** Writes a file of the workspace. */
  write(name: string, text: string, mode?: number): Promise<string>;
  /** Runs a command in it to its end. */
  run(command: readonly string[], more?: RunOptions): Promise<Ended>;
  /** Starts a command in it. */
  start(command: readonly string[], more?: RunOptions): Running;
  /** Attaches somebody whom the running gate can ask, and who says nothing. */
  attach(running: Running): Promise<ApproverClients>;
  /** Events of the home's log. */
  events(): Promise<readonly AuditEvent[]>;
}

/** Options of `acp run` before `--`, and of its process. */
export interface RunOptions extends Omit<AcpOptions, "home" | "cwd"> {
  readonly args?: readonly string[];
}

/**
 * First line of an agent that must not begin before there is somebody to ask: {@link
 * RunWorld.attach} lets it.
 */
export const WAIT_FOR_GO = `while (!(await import("node:fs")).existsSync("go")) await new Promise((resolve) => setTimeout(resolve, 50));\n`;

/** Makes it. */
export async function runWorld(options: HttpWorldOptions = {}): Promise<RunWorld> {
  // Inside, 127.0.0.1 is the agent's own; the rest of the net is not.
  const world = await httpWorld({ address: "127.0.0.2", ...options });
  const work = join(world.path, "work");
  await mkdir(work);
  // Where root runs the tests the agent is somebody else, who has to get at the workspace.
  await chmod(world.path, 0o711);
  if (process.getuid?.() === 0) await chown(work, AGENT_UID, AGENT_UID);
  const words = (command: readonly string[], { args = [] }: RunOptions): readonly string[] => [
    "run",
    ...args,
    "--",
    ...command,
  ];
  const at = ({ args: _args, ...more }: RunOptions): AcpOptions => ({
    ...more,
    home: world.home,
    cwd: work,
  });
  const start: RunWorld["start"] = (command, more = {}) => {
    const running = startAcp(words(command, more), at(more));
    // An agent that a test waits for in vain must not stay.
    onTestFinished(() => running[Symbol.asyncDispose]());
    return running;
  };
  return {
    ...world,
    work,
    async write(name, text, mode = 0o644) {
      const path = join(work, name);
      await writeFile(path, text);
      await chmod(path, mode);
      return path;
    },
    run: (command, more = {}) => start(command, { input: "", ...more }).ended,
    start,
    async attach(running) {
      await running.seen("stderr", "Questions are answered by acp approve");
      const silent = await attachSilent(world.home);
      await writeFile(join(work, "go"), "");
      return silent;
    },
    async events() {
      const events: AuditEvent[] = [];
      for await (const event of readAuditLog(join(world.home, "audit.jsonl"))) events.push(event);
      return events;
    },
    [Symbol.asyncDispose]: () => world[Symbol.asyncDispose](),
  };
}

/** What every event of an agent says about its isolation, each once. */
export function isolationsOf(events: readonly AuditEvent[]): readonly unknown[] {
  // What the log itself records is of no agent.
  return [
    ...new Set(
      events.filter(({ agent }) => agent !== "").map(({ metadata }) => metadata["isolation"]),
    ),
  ];
}
