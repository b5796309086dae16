/**
 * Run gate: what a run asks of its gate, which the process that holds the command may have, or the
 * resident of the home; and what both say of the command.
 */
import type { Socket } from "node:net";
import { join } from "node:path";
import type { Readable, Writable } from "node:stream";
import { ConsentError } from "@acp/core";
import type { Agent, AuditSink, SandboxReport } from "@acp/core";
import { channelsOf, DEFAULT_CONFIG } from "@acp/home";
import type { Home } from "@acp/home";
import { reachesLevel } from "@acp/sandbox-linux";
import type { Invocation } from "../command.js";
import { leadingWords, runsAsRoot } from "../gate/agent-process.js";
import type { HomeConfig } from "../gate/config.js";
import type { AgentHost } from "../gate/notices.js";
import type { RunPlan } from "./plan.js";

/** What a run has to say besides what its gate says. */
export type RunNotice = "left_behind" | "held_replaced" | "host_ports" | "review";

/** The standard output and input of a command that speaks MCP there. */
export interface McpPipes {
  readonly input: Readable;
  readonly output: Writable;
}

/** What a run asks of its gate, wherever that is. */
export interface RunGate {
  /**
   * Resolves when the command may begin: what has to be said and asked before is said and answered.
   *
   * @throws ConsentError what a home throws that does not load.
   */
  ready(): Promise<void>;
  /** Takes a connection of the command. */
  attach(socket: Socket): void;
  /**
   * Serves the command as the MCP client that it is, until one of both is gone.
   *
   * @returns Why there is nothing more for it; `undefined` where it has ended itself.
   */
  speakMcp(pipes: McpPipes): Promise<string | undefined>;
  /** For the person and the log; rejects where the log does not take it. */
  say(code: RunNotice, text: string): Promise<void>;
  /** The same where nobody waits. */
  tell(code: RunNotice, text: string): void;
  /**
   * Ends what was started for the command. Before anybody looks at the workspace: a server that may
   * write there would do so afterwards, also one that has said nothing more to its client.
   */
  endServers(): Promise<void>;
  /** Where it is written that a review is settled; left out: in a log of its own. */
  readonly log?: AuditSink;
}

/** Who acts, where nobody says so. */
export const RUN_AGENT_ID = "agent";

/** Root lends itself to no agent, and what holds one hides the home. */
export function hostOfRun(report: SandboxReport): AgentHost {
  return { sharesUid: !reachesLevel(report.level, "partial") && !runsAsRoot(), sandbox: report };
}

/** For the person who is asked: what the agent is, and what it reaches past the gate. */
export function agentOfRun(
  { values }: Pick<Invocation, "values">,
  { argv, hostPorts }: Pick<RunPlan, "argv" | "hostPorts">,
): Agent {
  const words = leadingWords(argv);
  const command =
    hostPorts.length === 0 ? words : `acp run --host-port ${hostPorts.join(",")} -- ${words}`;
  return { id: values.agent ?? RUN_AGENT_ID, command };
}

/** Says where questions are answered: never where the agent could. */
export function tellApprovers(
  { print, io }: Invocation,
  { dir }: Home,
  { config }: HomeConfig,
): void {
  const approve = `acp approve${dir === join(io.userHome, ".acp") ? "" : ` --home ${dir}`} in another terminal`;
  const channels = channelsOf((config ?? DEFAULT_CONFIG).stages).map((name) =>
    name === "terminal" ? approve : name,
  );
  print.notice(`Questions are answered by ${channels.join(" or ")}, never here`);
}

/** @throws ConsentError `sandbox_failed` where the command has no pipes. */
export function pipesOf(started: {
  readonly stdin?: Writable | undefined;
  readonly stdout?: Readable | undefined;
}): McpPipes {
  const { stdin, stdout } = started;
  if (stdin === undefined || stdout === undefined)
    throw new ConsentError("sandbox_failed", "Cannot speak MCP with the command: it has no pipes");
  return { input: stdout, output: stdin };
}
