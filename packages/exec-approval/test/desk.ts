/** Desk: a hub with its people in a test's hands. */
import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type MemoryAuditSink, memoryAuditSink } from "@acp/audit";
import type { Verdict } from "@acp/core";
import { parseExecApprovalConfig } from "@acp/core/exec";
import { type ManualClock, manualClock, seededIds } from "@acp/testing";
import { onTestFinished } from "vitest";
import { createExecApprovalHub } from "../src/hub.js";
import type { ExecApprovalHub, ExecApprovalHubOptions } from "../src/hub-options.js";
import type {
  ApprovalDecision,
  ExecApprovalEnd,
  ExecApprovalRequestPayload,
  ResolveExecApprovalResult,
  RpcOutcome,
} from "../src/protocol.js";

/** A directory of a test's own, by its real name. */
export async function scratchDirectory(): Promise<string> {
  const directory = await realpath(await mkdtemp(join(tmpdir(), "exec-hub-")));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  return directory;
}

/** A hub, what it sent, and how to answer. */
export interface Desk {
  readonly hub: ExecApprovalHub;
  readonly clock: ManualClock;
  readonly audit: MemoryAuditSink;
  readonly project: string;
  readonly sent: readonly ExecApprovalRequestPayload[];
  /** How the requests ended that have, by id. */
  readonly ends: ReadonlyMap<string, ExecApprovalEnd>;
  /** The request of this number, once it is there. */
  request(at?: number): Promise<ExecApprovalRequestPayload>;
  answer(
    decision: ApprovalDecision,
    at?: number,
    from?: string,
  ): Promise<RpcOutcome<ResolveExecApprovalResult>>;
  /** Types of the log's events, in order. */
  types(): readonly string[];
}

/** Options of a desk: of its hub, and its configuration as it is written. */
export interface DeskOptions extends Partial<Omit<ExecApprovalHubOptions, "clock">> {
  readonly written?: Readonly<Record<string, unknown>>;
}

/** Who wants to run something. */
export const AGENT = { agentId: "agent-1" } as const;
/** Asked about by every configuration that asks on a miss. */
export const REVIEWED = "touch made.txt";
/** The document's own: never allowed by an entry, nor by silence. No test runs it. */
export const DANGEROUS = "rm -rf /tmp/test-data";

/** The deny code, or `allow`. */
export const codeOf = (verdict: Verdict): string =>
  verdict.decision === "deny" ? verdict.code : verdict.decision;

/** Who answers unless a test says otherwise. */
export const PHONE = "device-phone";
/** Another one. */
export const LAPTOP = "device-laptop";

const TURNS_MAX = 20_000;

/** Opens a desk in a project of its own. */
export async function openDesk({ written = {}, ...options }: DeskOptions = {}): Promise<Desk> {
  const project = options.projectRoot ?? (await scratchDirectory());
  const clock = manualClock();
  const audit = memoryAuditSink();
  const sent: ExecApprovalRequestPayload[] = [];
  const ends = new Map<string, ExecApprovalEnd>();
  const hub = createExecApprovalHub({
    config: parseExecApprovalConfig(written),
    clients: [PHONE, LAPTOP],
    send: async (payload, { ended }) => {
      sent.push(payload);
      void ended.then((end) => ends.set(payload.approvalId, end));
    },
    audit,
    clock,
    ids: seededIds(),
    projectRoot: project,
    ...options,
  });
  onTestFinished(() => hub.close());
  const request = async (at: number = 0): Promise<ExecApprovalRequestPayload> => {
    for (let turn = 0; turn < TURNS_MAX; turn++) {
      const found = sent[at];
      if (found !== undefined) return found;
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    throw new Error(`no request number ${at} came`);
  };
  return {
    hub,
    clock,
    audit,
    project,
    sent,
    ends,
    request,
    async answer(decision, at = 0, from = PHONE) {
      const { approvalId } = await request(at);
      return hub.resolveExecApproval({ approvalId, decision }, { from });
    },
    types: () => audit.events().map(({ eventType }) => eventType),
  };
}
