/**
 * Hub: asks people about the commands of agents, over the exec approval protocol, and runs what was
 * allowed. It builds its own gate: only a gate mints permits, so the operator's rules, the log and
 * the secrets count here as they do everywhere. Format: spec/exec-approval.md.
 */
import { realpathSync } from "node:fs";
import { isAbsolute } from "node:path";
import {
  type Allowed,
  type Approver,
  type Clock,
  ConsentError,
  type GateContext,
  quoteText,
  randomIds,
  systemClock,
  type Verdict,
} from "@acp/core";
import type { CommandRewrite, ExecApprovalConfig } from "@acp/core/exec";
import { FALLBACK_PATH } from "./environment-names.js";
import type { Variables } from "./environment.js";
import { rememberProgram } from "./hub-allow-always.js";
import { createHubChannel } from "./hub-channel.js";
import { type CommandTerms, prepareCommand } from "./hub-command.js";
import { type Call, decideCommand } from "./hub-decide.js";
import { createHubGates, type HubGates } from "./hub-gates.js";
import { hubIds } from "./hub-ids.js";
import type { JudgeTerms } from "./hub-layers.js";
import {
  type ExecApprovalHub,
  type ExecApprovalHubOptions,
  type ExecContext,
  HUB_CHANNEL,
} from "./hub-options.js";
import { describeWith, judgeWith } from "./hub-question.js";
import { recordRefusal } from "./hub-refusal.js";
import { resolveApproval, type ResolveParts } from "./hub-resolve.js";
import { inItsPlace, type RewriteOrigins } from "./hub-rewrite.js";
import type { ExecProfile } from "./profile-config.js";
import { type ApprovedSource, runApproved } from "./run-approved.js";
import { createHubTrials } from "./trial/hub-trials.js";

const DEFAULT_VARIABLES: Variables = { PATH: FALLBACK_PATH, LANG: "C.UTF-8" };

const isProfile = (config: ExecApprovalConfig | ExecProfile): config is ExecProfile =>
  "read" in config;

function invalid(why: string): ConsentError {
  return new ConsentError("options_invalid", `Cannot create the hub: ${why}`);
}

/** The project as the system names it: what is judged and what is run must mean the same place. */
function realRoot(projectRoot: string | undefined): string | undefined {
  if (projectRoot === undefined) return undefined;
  if (!isAbsolute(projectRoot))
    throw invalid(`"projectRoot" ${quoteText(projectRoot)} is not absolute`);
  try {
    return realpathSync(projectRoot);
  } catch (error) {
    throw new ConsentError(
      "options_invalid",
      `Cannot create the hub: "projectRoot" ${quoteText(projectRoot)} does not exist`,
      {
        cause: error,
      },
    );
  }
}

/** Who may answer: the clients under their device ids, unless they have names. */
function approversOf({ approvers, clients }: ExecApprovalHubOptions): readonly Approver[] {
  return approvers ?? clients.map((id) => ({ id, channel: HUB_CHANNEL, subject: id }));
}

/** What a hub's commands are judged by, and what they run with. */
interface HubTerms extends CommandTerms {
  /** Absent where the configuration is no profile's. */
  readonly profile: ExecProfile | undefined;
  readonly judging: JudgeTerms;
}

function readTerms({
  config,
  projectRoot: givenRoot,
  safety,
  variables = DEFAULT_VARIABLES,
}: ExecApprovalHubOptions): HubTerms {
  const projectRoot = realRoot(givenRoot);
  const profile = isProfile(config) ? config : undefined;
  // What run-shell.ts runs has no input and no terminal, and the guards of git in its environment.
  const host = { isGuarded: true, noInput: true };
  return {
    profile,
    projectRoot,
    variables: typeof variables === "function" ? variables : () => variables,
    judging: {
      read: isProfile(config) ? () => config.read() : () => config,
      safety: { ...safety, ...host, ...(projectRoot === undefined ? {} : { projectRoot }) },
    },
  };
}

/** Everything of one hub. */
interface HubParts extends HubTerms, HubGates, ResolveParts {
  readonly clock: Clock;
  readonly origins: RewriteOrigins;
}

function makeParts(options: ExecApprovalHubOptions): HubParts {
  const { send, confirmDangerous = false, audit, isolation = "none" } = options;
  const { clock = systemClock, ids: givenIds = randomIds } = options;
  const terms = readTerms(options);
  const { profile, judging } = terms;
  const judge = judgeWith(judging);
  const ids = hubIds(givenIds, clock);
  const origins: RewriteOrigins = new Map();
  const channel = createHubChannel({
    send,
    clock,
    describe: describeWith(judge),
    confirmDangerous,
  });
  const gates = createHubGates(options, {
    clock,
    ids,
    isolation,
    approvers: approversOf(options),
    channel,
    judging,
    origins,
  });
  const remembering = { profile, audit, clock, ids, isolation, judge, read: judging.read };
  return {
    ...terms,
    ...gates,
    channel,
    clock,
    origins,
    settling: new Map(),
    remember: (open, from) => rememberProgram(remembering, open, from),
  };
}

function contextOf({ agentId, signal, session, task }: ExecContext): GateContext {
  return {
    agent: { id: agentId },
    ...(signal === undefined ? {} : { signal }),
    ...(session === undefined ? {} : { session }),
    ...(task === undefined ? {} : { task }),
  };
}

/**
 * Makes a hub: it asks people about commands, and runs what they approve.
 *
 * @throws ConsentError `options_invalid` where an option is wrong, by itself or with another one.
 *
 * @example
 * ```ts
 * import { createExecApprovalHub, denialMessage } from "@acp/exec-approval";
 *
 * const hub = createExecApprovalHub({
 *   config,
 *   clients: ["phone"],
 *   send: async (client, message) => console.log(client, message),
 *   audit,
 *   projectRoot,
 * });
 * const verdict = await hub.onApprovalNeeded("npm test", { cwd: projectRoot, agentId: "agent-1" });
 * if (verdict.decision === "deny") return denialMessage(verdict);
 * const result = await hub.runApproved(verdict, {
 *   onOutput: ({ chunk }) => void process.stdout.write(chunk),
 * });
 * ```
 */
export function createExecApprovalHub(options: ExecApprovalHubOptions): ExecApprovalHub {
  const parts = makeParts(options);
  const { gate, channel, clock, trying, projectRoot, settling } = parts;
  const calls = new Set<Call>();
  const sources = new WeakMap<Allowed, ApprovedSource>();
  const trials = createHubTrials({ gate, trying, projectRoot, settling, contextOf, calls });

  const onApprovalNeeded = async (command: string, context: ExecContext): Promise<Verdict> => {
    const call: Call = { agentId: context.agentId };
    calls.add(call);
    try {
      const gateContext = contextOf(context);
      const given = await prepareCommand(command, context, parts);
      if ("decision" in given) {
        await recordRefusal(gate, given, { command, context: gateContext });
        return given;
      }
      const prepare = ({ command: text }: CommandRewrite): ReturnType<typeof prepareCommand> =>
        prepareCommand(text, context, parts);
      const prepared = await inItsPlace(parts, given, { context: gateContext, prepare });
      const verdict = await decideCommand(parts, call, {
        action: prepared.action,
        context: gateContext,
      });
      if (verdict.decision === "allow") sources.set(verdict, prepared.source);
      return verdict;
    } finally {
      calls.delete(call);
    }
  };
  const cancelPending = async (
    agentId: string,
    reason: string = "the agent was closed",
  ): Promise<number> => {
    trials.end(agentId, reason);
    const taken = [...calls].filter((call) => call.agentId === agentId);
    for (const call of taken) call.cancelled ??= reason;
    await Promise.all(taken.map((call) => call.pending?.withdraw(reason) ?? Promise.resolve()));
    return taken.length;
  };

  const close = (): Promise<void> => {
    trials.close();
    return parts.shut();
  };
  return {
    onApprovalNeeded,
    runTrial: (command, context, run = {}) => trials.run(command, context, run),
    keepTrial: (digest, context) => trials.keep(digest, context),
    runApproved: (verdict, run) =>
      runApproved({ gate, clock, sourceOf: (each) => sources.get(each) }, verdict, run),
    resolveExecApproval: (params, { from }) => resolveApproval(parts, params, from),
    cancelPending,
    openApprovals: () => channel.openApprovals(),
    resume: () => gate.resume(),
    close,
    [Symbol.asyncDispose]: close,
  };
}
