/**
 * A proxy in this process between a raw-line client and real server processes, with a real gate.
 */
import { fileURLToPath } from "node:url";
import { memoryAuditSink } from "@acp/audit";
import {
  type AnswerParts,
  type AskSession,
  type Channel,
  type ConsentGate,
  type ConsentRequest,
  createConsentGate,
  type JsonObject,
  type Layer,
  makeResponse,
  type Vault,
} from "@acp/core";
import { parsePolicy } from "@acp/core/policy";
import { type ManualClock, manualClock } from "@acp/testing";
import {
  createArgumentCheck,
  createMcpProxy,
  type McpProxy,
  type McpProxyOptions,
  type UpstreamConfig,
} from "../../src/index.js";
import { type LineClient, pipes } from "./line-client.js";

export interface Question {
  readonly request: ConsentRequest;
  readonly session: AskSession;
  approve(modifications?: JsonObject): Promise<void>;
  deny(reason: string): Promise<void>;
}

/** A person who answers when the test says so. */
export interface HeldChannel extends Channel {
  readonly questions: readonly Question[];
  /** The nth question, once it is asked. */
  question(index: number): Promise<Question>;
}

export function heldChannel(now: () => number): HeldChannel {
  const questions: Question[] = [];
  const waiters: (() => void)[] = [];
  return {
    name: "held",
    questions,
    async question(index) {
      while (questions.length <= index) await new Promise<void>((resolve) => waiters.push(resolve));
      const found = questions[index];
      if (found === undefined) throw new Error("unreachable");
      return found;
    },
    async deliver(request, session) {
      const answer = async (
        parts: Pick<AnswerParts, "decision" | "reason" | "modifications">,
      ): Promise<void> => {
        const receipt = await session.submit(
          makeResponse(request, { nowMs: now(), channel: "held", ...parts }),
        );
        if (receipt.status !== "final")
          throw new Error(`the answer was not taken: ${JSON.stringify(receipt)}`);
      };
      questions.push({
        request,
        session,
        approve: (modifications) =>
          answer(
            modifications === undefined
              ? { decision: "approved" }
              : { decision: "approved_with_modifications", modifications },
          ),
        deny: (reason) => answer({ decision: "denied", reason }),
      });
      for (const wake of waiters.splice(0)) wake();
    },
  };
}

export interface Proxied {
  readonly client: LineClient;
  readonly proxy: McpProxy;
  readonly gate: ConsentGate;
  readonly channel: HeldChannel;
  readonly clock: ManualClock;
  readonly logs: readonly string[];
  readonly audit: ReturnType<typeof memoryAuditSink>;
}

const SERVER = fileURLToPath(new URL("./scripted-server.mjs", import.meta.url));

export function scripted(options: object = {}): readonly string[] {
  return [process.execPath, SERVER, JSON.stringify(options)];
}

/** Allows `echo` and what is named like it, asks for `ask_*`-like tools by the given policy. */
export function proxied(
  options: {
    readonly policy: object;
    readonly upstreams?: readonly UpstreamConfig[];
    readonly vault?: Vault;
    readonly layers?: readonly Layer[];
  } & Partial<McpProxyOptions>,
): Proxied {
  const {
    policy,
    upstreams = [{ name: "fs", command: scripted() }],
    vault,
    layers = [],
    ...more
  } = options;
  const clock = manualClock();
  const channel = heldChannel(() => clock.now());
  const audit = memoryAuditSink();
  const logs: string[] = [];
  const argumentCheck = createArgumentCheck({ log: (line) => logs.push(line) });
  const gate = createConsentGate({
    policy: parsePolicy(policy),
    channel,
    audit,
    clock,
    argumentCheck,
    layers,
    ...(vault === undefined ? {} : { vault }),
  });
  const { input, output, client } = pipes();
  const proxy = createMcpProxy({
    gate,
    agent: { id: "agent" },
    upstreams,
    input,
    output,
    log: (line) => logs.push(line),
    clock,
    ...more,
  });
  return { client, proxy, gate, channel, clock, logs, audit };
}

/** Requests of servers are allowed by name only. */
export const SERVERS_MAY_ASK = ["sampling/*", "elicitation/*", "roots/*"].map((requests) => ({
  match: { tool: `mcp:${requests}` },
  action: "allow",
}));
/** Requests that the scripted server has for tests. */
export const FOR_TESTS = [{ match: { tool: "mcp:vendor/*" }, action: "allow" }];
export const ALLOW_ALL = { version: "1", default: "allow", rules: SERVERS_MAY_ASK };
export const ASK_ALL = { version: "1", default: "ask", rules: FOR_TESTS };
