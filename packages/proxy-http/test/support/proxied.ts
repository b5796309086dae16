/** A proxy in this process with a real gate, and a person who answers when the test says so. */
import { memoryAuditSink } from "@acp/audit";
import { type Channel, type ConsentRequest, createConsentGate, makeResponse } from "@acp/core";
import { parsePolicy } from "@acp/core/policy";
import type { AskSession, ConsentGate } from "@acp/core";
import {
  createHttpConsentProxy,
  type HttpConsentProxy,
  type HttpConsentProxyOptions,
  type ProxyCount,
} from "../../src/index.js";
import type { ProxyLogEntry } from "../../src/index.js";
import { until } from "./raw.js";

export interface Question {
  readonly request: ConsentRequest;
  readonly session: AskSession;
  approve(): Promise<void>;
  deny(): Promise<void>;
  /** How it ended, once it has. */
  readonly ending: () => string | undefined;
}

export interface HeldChannel extends Channel {
  /** How many questions came. */
  asked(): number;
  question(index: number): Promise<Question>;
}

function heldChannel(): HeldChannel {
  const questions: Question[] = [];
  return {
    name: "held",
    asked: () => questions.length,
    async question(index) {
      await until(() => questions.length > index, `for question ${index}`);
      const found = questions[index];
      if (found === undefined) throw new Error("unreachable");
      return found;
    },
    async deliver(request, session) {
      let ending: string | undefined;
      void session.ended.then((how) => {
        ending = how.status;
      });
      const answer = async (decision: "approved" | "denied"): Promise<void> => {
        await session.submit(
          makeResponse(request, { nowMs: Date.now(), channel: "held", decision }),
        );
      };
      questions.push({
        request,
        session,
        ending: () => ending,
        approve: () => answer("approved"),
        deny: () => answer("denied"),
      });
    },
  };
}

export interface Proxied {
  readonly port: number;
  readonly proxy: HttpConsentProxy;
  readonly gate: ConsentGate;
  readonly channel: HeldChannel;
  readonly logs: readonly ProxyLogEntry[];
  readonly counts: readonly ProxyCount[];
  readonly audit: ReturnType<typeof memoryAuditSink>;
  /** The sum of what was counted under a name, with these labels. */
  counted(name: ProxyCount["name"], labels?: Readonly<Record<string, string>>): number;
}

export const AGENT = { id: "agent-1" };
const ALLOW_ALL = {
  version: "1",
  default: "deny",
  rules: [{ match: { kind: "http" }, action: "allow" }],
};

/** Allows everything unless another policy is given; `127.0.0.1` is named. */
export async function proxied(
  options: Partial<HttpConsentProxyOptions> = {},
  policy: object = ALLOW_ALL,
): Promise<Proxied> {
  const channel = heldChannel();
  const audit = memoryAuditSink();
  const gate = createConsentGate({ policy: parsePolicy(policy), channel, audit });
  const logs: ProxyLogEntry[] = [];
  const counts: ProxyCount[] = [];
  const proxy = createHttpConsentProxy({
    gate,
    agent: AGENT,
    privateHosts: ["127.0.0.1"],
    log: (entry) => logs.push(entry),
    count: (count) => counts.push(count),
    ...options,
  });
  const { port } = await proxy.listen({ port: 0 });
  const counted: Proxied["counted"] = (name, labels = {}) =>
    counts
      .filter(
        (count) =>
          count.name === name &&
          Object.entries(labels).every(([label, value]) => count.labels[label] === value),
      )
      .reduce((sum, { by }) => sum + by, 0);
  return { port, proxy, gate, channel, logs, counts, audit, counted };
}
