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
  type Channel,
  ConsentError,
  type ConsentRequest,
  createConsentGate,
  type GateContext,
  type GateOptions,
  isShellAction,
  memoryStore,
  parseAction,
  quoteText,
  randomIds,
  systemClock,
  type Verdict,
} from "@acp/core";
import {
  type CommandSafety,
  evaluateShellAction,
  type ExecApprovalConfig,
  type ExecSafetyOptions,
  type CommandRewrite,
} from "@acp/core/exec";
import { FALLBACK_PATH } from "./environment-names.js";
import type { Variables } from "./environment.js";
import { rememberProgram } from "./hub-allow-always.js";
import { createHubChannel } from "./hub-channel.js";
import { prepareCommand } from "./hub-command.js";
import { recordRefusal } from "./hub-refusal.js";
import { type Call, decideCommand, type DecideParts } from "./hub-decide.js";
import { approvalIdOf, hubIds } from "./hub-ids.js";
import { askingLayer, fallbackLayer } from "./hub-layers.js";
import {
  type ExecApprovalHub,
  type ExecApprovalHubOptions,
  type ExecContext,
  HUB_CHANNEL,
} from "./hub-options.js";
import { resolveApproval, type ResolveParts } from "./hub-resolve.js";
import { inItsPlace, type RewriteParts, tellingOrigin } from "./hub-rewrite.js";
import { createHubTrials } from "./trial/hub-trials.js";
import { keepingLayer, keepQuestion } from "./trial/keep-trial.js";
import { makeTrialParts } from "./trial/trial-gate.js";
import type { TrialParts } from "./trial/run-trial.js";
import type { ExecProfile } from "./profile-config.js";
import type { ExecApprovalRequestPayload } from "./protocol.js";
import { type ApprovedSource, runApproved } from "./run-approved.js";

const EXEC_RULE = /^exec\./;
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

/**
 * The operator's rule that wants a person's consent, where it is not the configuration alone that
 * asks.
 */
function askingRule({ policy: { ruleId, ruleName } }: ConsentRequest): string | undefined {
  return EXEC_RULE.test(ruleId)
    ? undefined
    : `the rule ${quoteText(ruleName === "" ? ruleId : ruleName)} wants a person's consent`;
}

/** The message about a question. */
function describeWith(
  judge: (request: ConsentRequest) => CommandSafety,
): (request: ConsentRequest) => ExecApprovalRequestPayload {
  return (request) => {
    const { command, cwd } = request.action.parameters;
    const rule = askingRule(request);
    const keep = keepQuestion(request);
    const head = { approvalId: approvalIdOf(request.id), agentId: request.agent.id };
    if (keep !== undefined) {
      const riskReasons = [...keep.reasons, ...(rule === undefined ? [] : [rule])];
      return {
        ...head,
        command: keep.text,
        riskLevel: "needs-review",
        riskReasons,
        expiresAtMs: request.expiresAtMs,
      };
    }
    const { riskLevel, reasons } = judge(request);
    return {
      ...head,
      command: typeof command === "string" ? command : "",
      ...(typeof cwd === "string" ? { cwd } : {}),
      riskLevel,
      riskReasons: [
        ...reasons.map(({ message }) => message),
        ...(rule === undefined ? [] : [rule]),
      ],
      expiresAtMs: request.expiresAtMs,
    };
  };
}

/** Judges a question's command as the configuration stands now. */
function judgeWith(
  read: () => ExecApprovalConfig,
  safety: ExecSafetyOptions,
): (request: ConsentRequest) => CommandSafety {
  return ({ action: { tool, parameters } }) => {
    const { command, ...meta } = parameters;
    const action = parseAction({ name: tool, args: command, meta: { kind: "shell", ...meta } });
    if (!isShellAction(action))
      throw new ConsentError("action_invalid", "Cannot judge a question: it is about no command");
    return evaluateShellAction(action, read(), safety);
  };
}

/** Nobody is asked twice: what would be asked here is denied. */
const SILENT: Channel = {
  name: HUB_CHANNEL,
  deliver: () =>
    Promise.reject(new ConsentError("channel_unavailable", "Cannot ask: nobody answered in time")),
};

/** A configuration that does not load lets silence allow nothing. */
function isSilenceNo(read: () => ExecApprovalConfig): boolean {
  try {
    return read().askFallback === "deny";
  } catch {
    return true;
  }
}

/** Everything of one hub. */
interface HubParts extends Omit<DecideParts, "settling">, ResolveParts, Omit<RewriteParts, "gate"> {
  readonly clock: NonNullable<GateOptions["clock"]>;
  readonly projectRoot: string | undefined;
  readonly variables: () => Variables;
  readonly trying: TrialParts | undefined;
  /** Denies what is open. */
  readonly shut: () => Promise<void>;
}

function makeParts(options: ExecApprovalHubOptions): HubParts {
  const {
    config,
    clients: _,
    send,
    projectRoot: givenRoot,
    safety,
    variables = DEFAULT_VARIABLES,
    confirmDangerous = false,
    trials,
    ...given
  } = options;
  const {
    clock = systemClock,
    ids: givenIds = randomIds,
    layers = [],
    isolation = "none",
    audit,
  } = given;
  const projectRoot = realRoot(givenRoot);
  const profile = isProfile(config) ? config : undefined;
  const read = isProfile(config) ? () => config.read() : () => config;
  // What run-shell.ts runs has no input and no terminal, and the guards of git in its environment.
  const host = { isGuarded: true, noInput: true };
  const judging = {
    read,
    safety: { ...safety, ...host, ...(projectRoot === undefined ? {} : { projectRoot }) },
  };
  const judge = judgeWith(read, judging.safety);
  const origins: RewriteParts["origins"] = new Map();
  const ids = hubIds(givenIds, clock);
  const channel = createHubChannel({
    send,
    clock,
    describe: describeWith(judge),
    confirmDangerous,
  });
  // What a rule counts is counted once, whichever gate decides.
  const store = { limits: memoryStore(clock).limits, ...given.store };
  const shared = { ...given, clock, ids, isolation, store, approvers: approversOf(options) };
  // The protocol has no word for a question that stays open for nobody: what its caller takes back
  // is over.
  const gate = createConsentGate({
    ...shared,
    channel,
    layers: [tellingOrigin(askingLayer(judging), origins), keepingLayer(read), ...layers],
    retryWindowMs: 0,
  });
  const trying =
    trials === undefined
      ? undefined
      : makeTrialParts({ trials, gate, judging, shared: { ...shared, layers } });
  const fallbackGate = createConsentGate({
    ...shared,
    channel: SILENT,
    layers: [fallbackLayer(judging), ...layers],
    paused: () => "nobody answered in time",
  });
  return {
    gate,
    fallbackGate: () => (isSilenceNo(read) ? undefined : fallbackGate),
    channel,
    settling: new Map(),
    remember: (open, from) =>
      rememberProgram(
        { profile, audit, clock, ids, isolation, judge, read, askingRule },
        open,
        from,
      ),
    clock,
    projectRoot,
    variables: typeof variables === "function" ? variables : () => variables,
    judging,
    origins,
    trying,
    shut: async () => {
      await trying?.tryGate.close();
      await gate.close();
      await fallbackGate.close();
    },
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
 * Makes a hub.
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
 * @throws ConsentError `options_invalid` where the parts do not fit together.
 */
export function createExecApprovalHub(options: ExecApprovalHubOptions): ExecApprovalHub {
  const parts = makeParts(options);
  const { gate, channel, clock } = parts;
  const calls = new Set<Call>();
  const sources = new WeakMap<Allowed, ApprovedSource>();
  const trials = createHubTrials({ ...parts, contextOf, calls });

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
