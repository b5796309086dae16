/**
 * Keep trial: what a trial wrote reaches the workspace by an Action of its own, which is bound to
 * the digest of just these writes and asks a person, whatever rules and grants there are. Format:
 * spec/exec-approval.md §8.
 */
import type { Readable } from "node:stream";
import {
  type Action,
  type Allowed,
  type AuditSink,
  type Clock,
  type CommandTrials,
  type ConsentGate,
  type ConsentRequest,
  type Denied,
  type Ids,
  isToolAction,
  type KeptWrites,
  type Layer,
  logEvent,
  quoteText,
  type RunResult,
  toolAction,
} from "@acp/core";
import type { ExecApprovalConfig } from "@acp/core/exec";
import { refuse } from "../hub-refusal.js";
import { changeLine, keepable } from "./text.js";

/** Server and name of the Action. */
export const KEEP = { server: "acp-trials", tool: "keep" } as const;

/** All of it is shown: what is more is asked about as a command. */
const CHANGES_MAX = 500;
const TEXT_CHARS_MAX = 50_000;
const DIGEST = /^[0-9a-f]{64}$/;
const REMEDY = "Run the trial again, or ask for the command itself";

/** The Action that keeps writes, or why there is none. */
export function keepAction(
  trials: CommandTrials<Readable> | undefined,
  agent: string,
  digest: string,
): Action | Denied {
  const writes = DIGEST.test(digest) ? trials?.find(agent, digest) : undefined;
  if (writes === undefined)
    return refuse(
      "action_invalid",
      "there is no such trial of this agent, or its time is over",
      REMEDY,
    );
  const lines = keepable(writes).map(changeLine);
  if (lines.length > CHANGES_MAX || lines.join("\n").length > TEXT_CHARS_MAX)
    return refuse("action_invalid", "it wrote more than a person can be shown", REMEDY);
  const { workspace, argv } = writes;
  const neverKept = writes.changes.length - lines.length + writes.refused.length;
  return toolAction(KEEP.server, KEEP.tool, {
    digest,
    workspace,
    command: argv.at(-1) ?? "",
    changes: [...lines],
    neverKept,
  });
}

/** The layer that has each of them asked about, and offers nothing but the one yes. */
export function keepingLayer(read: () => ExecApprovalConfig): Layer {
  return {
    name: "exec-trial",
    judge(action) {
      if (!isKeep(action)) return undefined;
      const reason = "it writes what a trial wrote into the workspace";
      return {
        effect: "ask",
        ruleId: "exec.keep-trial",
        reason,
        level: "medium",
        ask: { offers: [], timeoutMs: read().timeoutMs },
      };
    },
  };
}

function isKeep(action: Action): boolean {
  return isToolAction(action) && action.meta.server === KEEP.server && action.name === KEEP.tool;
}

/** What a client shows in a command's place; `undefined` for a question about a command. */
export function keepQuestion({
  action: { server, tool, parameters },
}: ConsentRequest): { text: string; reasons: string[] } | undefined {
  if (server !== KEEP.server || tool !== KEEP.tool) return undefined;
  const { digest, command, changes, neverKept } = parameters;
  const lines = Array.isArray(changes) ? changes.filter((line) => typeof line === "string") : [];
  const tried = typeof command === "string" ? command : "";
  const text = [
    "keep what a trial wrote",
    `digest ${typeof digest === "string" ? digest : ""}`,
    `trial of ${quoteText(tried)}`,
    ...lines,
  ].join("\n");
  const left = Number(neverKept);
  const reasons = [
    `no command runs: ${lines.length} paths of the workspace become what an offline trial made of them, where they are as they were before it`,
    ...(left === 0
      ? []
      : [
          `${left} more are left out: other programs run them by themselves, or they lead out of the workspace`,
        ]),
  ];
  return { text, reasons };
}

/** What keeping needs. */
export interface KeepParts {
  readonly gate: Pick<ConsentGate, "perform">;
  readonly trials: CommandTrials<Readable>;
  readonly audit: AuditSink;
  readonly clock: Clock;
  readonly ids: Ids;
}

/** Keeps what a person said yes to: the writes of the digest in the Action, and no others. */
export function keepWrites(
  parts: KeepParts,
  verdict: Allowed,
  { agent, signal }: { readonly agent: string; readonly signal: AbortSignal },
): Promise<RunResult<KeptWrites>> {
  return parts.gate.perform(
    verdict,
    async ({ action }) => {
      const { digest } = isToolAction(action) && isKeep(action) ? (action.args ?? {}) : {};
      if (typeof digest !== "string") throw new Error("the action keeps nothing");
      const kept = await parts.trials.keep(agent, digest);
      await note(parts, { agent, digest, kept });
      return kept;
    },
    { signal },
  );
}

/** The outcome is in the workspace; that the log lacks its counts does not undo it. */
async function note(
  { audit, clock, ids }: KeepParts,
  {
    agent,
    digest,
    kept,
  }: { readonly agent: string; readonly digest: string; readonly kept: KeptWrites },
): Promise<void> {
  const { taken, already, conflicts, apart, failed } = kept;
  const counts = {
    taken: taken.length,
    already: already.length,
    conflicts: conflicts.length,
    apart: apart.length,
    failed: failed.length,
  };
  const text = `what a trial wrote was kept: ${taken.length} paths`;
  const event = logEvent(
    "gate_notice",
    { id: ids.next("ae"), atMs: clock.now() },
    { notice: "exec_trial_kept", text, digest, ...counts },
  );
  await audit.append([{ ...event, agent }]).catch(() => undefined);
}
