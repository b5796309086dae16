/**
 * Run trial: a command that a person would be asked about, run unasked where it can do nothing:
 * decided by a gate that asks nobody, held before that gate's yes, and written down with how it was
 * held and what it changed. Whatever is missing for that, the command is asked about as ever.
 */
import type { Readable } from "node:stream";
import { relative } from "node:path";
import {
  actionDigest,
  type AuditSink,
  type Clock,
  type CommandTrials,
  type ConsentGate,
  type GateContext,
  type HeldTrial,
  type Ids,
  logEvent,
  type Policy,
  type ShellAction,
  toolAction,
  type TrialWrites,
} from "@acp/core";
import { isSecretName } from "@acp/core/exec";
import { FALLBACK_PATH } from "../environment-names.js";
import { makeEnvironment, type Variables } from "../environment.js";
import { BASH } from "../executor/run-shell.js";
import { OUTPUT_BYTES_MAX, type RunOptions } from "../run-approved.js";
import { type MayTryParts, whyNotTried } from "./may-try.js";
import { LINES_MAX, type NotTried, type Tried, type TrialResult } from "./trial-result.js";
import { type HeldEnd, runHeld } from "./run-held.js";
import type { TrialSlots } from "./slots.js";
import { changeLine, coveredBelow, keepable } from "./text.js";

/** How long a trial may run unless its caller says otherwise. */
export const TRIAL_TIMEOUT_MS = 120_000;
/**
 * All that a trial has of variables but for those of locale that its call brings, and a home that
 * is empty.
 */
export const TRIAL_VARIABLES: Variables = { PATH: FALLBACK_PATH, LANG: "C.UTF-8" };

/** What trials need of their hub. */
export interface TrialParts extends MayTryParts {
  readonly gate: ConsentGate;
  /** The gate that says yes to trials, and to nothing else. */
  readonly tryGate: ConsentGate;
  readonly trials: CommandTrials<Readable>;
  readonly slots: TrialSlots;
  readonly policy: () => Policy | undefined;
  readonly audit: AuditSink;
  readonly clock: Clock;
  readonly ids: Ids;
}

/** One command, prepared. */
export interface TrialCall {
  readonly action: ShellAction;
  readonly context: GateContext & { readonly signal: AbortSignal };
  readonly variables: Variables;
  readonly workspace: string;
  readonly options: Omit<RunOptions, "signal">;
}

const NOTICE_LINES_MAX = 20;
const notTried = (reason: string): NotTried => ({ tried: false, reason });
const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);

/**
 * Tries a command.
 *
 * @throws What `onOutput` throws, after the command was ended and recorded.
 */
export async function runTrial(parts: TrialParts, call: TrialCall): Promise<TrialResult> {
  const why = whyNotTried(parts, call.action, call.context);
  if (why !== undefined) return notTried(why);
  using place = parts.slots.take(call.context.agent.id);
  if (place === undefined) return notTried("too many trials are running");
  let held: HeldTrial<Readable>;
  try {
    held = await hold(parts, call);
  } catch (error) {
    return notTried(messageOf(error));
  }
  let isLeft = true;
  try {
    const verdict = await parts.tryGate(call.action, call.context);
    if (verdict.decision === "deny") return notTried(verdict.reason);
    const { signal } = call.context;
    const result = await parts.tryGate.perform(
      verdict,
      async (release) => {
        isLeft = false;
        const {
          timeoutMs = TRIAL_TIMEOUT_MS,
          outputBytesMax = OUTPUT_BYTES_MAX,
          onOutput: take = () => undefined,
        } = call.options;
        const run = {
          signal: release.signal,
          masker: release.masker,
          take,
          timeoutMs,
          outputBytesMax,
          clock: parts.clock,
        };
        const ended = await runHeld(held, run);
        return { ended, isNoted: await note(parts, call, { ended, held }) };
      },
      { signal },
    );
    if (!result.ran) return notTried(result.verdict.reason);
    const { ended, isNoted } = result.value;
    return triedOf(ended, held, {
      isNoted,
      isRecorded: result.recorded,
      workspace: call.workspace,
    });
  } finally {
    if (isLeft) await held.close();
  }
}

/** @throws Anything where it cannot be had. */
async function hold(parts: TrialParts, call: TrialCall): Promise<HeldTrial<Readable>> {
  const { action, context, workspace, variables } = call;
  const cwd = action.meta.cwd ?? workspace;
  const environment = await makeEnvironment({ variables, cwd, projectRoot: workspace });
  return parts.trials.hold({
    agent: context.agent.id,
    workspace,
    cwd,
    argv: [BASH, "--noprofile", "--norc", "-c", "--", action.args],
    variables: environment.variables,
    isCovered: coverOf(parts, call),
    signal: context.signal,
  });
}

/**
 * What a trial must not see, though it is in the workspace: what the exec layer takes for a secret
 * by its name, what a rule that denies names by a path, and what a rule or a layer would let no
 * tool read.
 */
function coverOf(
  { gate, policy }: Pick<TrialParts, "gate" | "policy">,
  { context, workspace }: TrialCall,
): (path: string) => boolean {
  const rules = policy();
  const isDenied = (path: string): boolean =>
    gate
      .evaluate(toolAction("files", "read_file", { path }), context)
      .rulings.some(({ ruling }) => ruling?.effect === "deny");
  return (path) =>
    isSecretName(relative(workspace, path)) || rules?.deniesPath(path) === true || isDenied(path);
}

interface Noted {
  readonly ended: HeldEnd;
  readonly held: HeldTrial<Readable>;
}

/**
 * Writes down what it was and what it changed; false where the log does not have it, and then it is
 * not to be kept.
 */
async function note(
  { audit, clock, ids, trials }: TrialParts,
  { action, context }: TrialCall,
  { ended, held }: Noted,
): Promise<boolean> {
  const { outcome, writes } = ended;
  const event = logEvent(
    "gate_notice",
    { id: ids.next("ae"), atMs: clock.now() },
    {
      notice: "exec_trial",
      text: "a command that a person would be asked about ran unasked, as a trial: offline, in a throw-away copy of its workspace; nothing was kept",
      isolation: trials.isolation,
      action: actionDigest(action),
      end: outcome.end,
      covered: held.covered.length,
      ...(writes !== undefined && {
        digest: writes.digest,
        changes: writes.changes.length,
        refused: writes.refused.length,
        paths: writes.changes.slice(0, NOTICE_LINES_MAX).map(({ path }) => path),
      }),
    },
  );
  return audit.append([{ ...event, agent: context.agent.id }]).then(
    () => true,
    () => false,
  );
}

interface ResultParts {
  readonly isNoted: boolean;
  readonly isRecorded: boolean;
  readonly workspace: string;
}

function triedOf(
  { outcome, writes }: HeldEnd,
  { covered }: HeldTrial<Readable>,
  { isNoted, isRecorded, workspace }: ResultParts,
): Tried {
  const shown: Pick<TrialWrites, "changes" | "refused"> = writes ?? { changes: [], refused: [] };
  const recorded = isNoted && isRecorded;
  return {
    tried: true,
    kept: false,
    outcome,
    changes: shown.changes.slice(0, LINES_MAX).map(changeLine),
    changeCount: shown.changes.length + shown.refused.length,
    neverKept:
      writes === undefined
        ? 0
        : writes.changes.length - keepable(writes).length + writes.refused.length,
    covered: coveredBelow(workspace, covered),
    coveredCount: covered.length,
    recorded,
    ...(writes?.canKeep === true && recorded && { digest: writes.digest }),
  };
}
