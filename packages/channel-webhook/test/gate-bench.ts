/** A gate whose people are reached by webhook: everything real but the time. */
import { type ServerResponse, createServer } from "node:http";
import {
  type ConsentGate,
  type JsonObject,
  createConsentGate,
  makeResponse,
  toolAction,
} from "@acp/core";
import { parsePolicy } from "@acp/core/policy";
import { type ManualClock, manualClock } from "@acp/testing";
import { expect } from "vitest";
import {
  type WebhookChannel,
  type WebhookChannelOptions,
  createWebhookChannel,
  toNodeHandler,
} from "../src/index.js";
import {
  type Receiver,
  SECRET,
  type Taken,
  listen,
  type signed,
  startReceiver,
  stopServer,
} from "./receiver.js";

/** How long a test looks for what must come. */
const patience = { timeout: 120_000, interval: 5 };
const agent = { id: "agent-1" };
const stops: (() => Promise<void>)[] = [];

/** Ends what {@link makeBench} started. */
export async function stopBenches(): Promise<void> {
  for (const stop of stops.splice(0).toReversed()) await stop();
}

/** A gate, its channel and a receiver. */
export interface Bench {
  readonly clock: ManualClock;
  readonly receiver: Receiver;
  readonly channel: WebhookChannel;
  readonly gate: ConsentGate;
  /** Asks for an action; counts it where it is performed. */
  ask(path: string): Promise<string>;
  readonly performed: readonly string[];
  /** Posts to the callback, over a socket. */
  call(
    message: ReturnType<typeof signed>,
  ): Promise<{ readonly status: number; readonly code: unknown }>;
  /** Lets `ms` pass once everything that is under way has come to rest. */
  pass(ms: number): Promise<void>;
}

export async function makeBench(options: Partial<WebhookChannelOptions> = {}): Promise<Bench> {
  const clock = manualClock();
  const receiver = await startReceiver(() => clock.now());
  const channel = createWebhookChannel({
    url: receiver.url,
    secret: SECRET,
    approvers: ["alice", "bob"],
    clock,
    ...options,
  });
  const server = createServer(toNodeHandler(channel.handler));
  const url = `http://127.0.0.1:${await listen(server)}/callback`;
  let seq = -1;
  const audit = {
    append: async (events: readonly unknown[]) => ({
      seq: (seq += events.length),
      hash: "sha256:0",
    }),
  };
  const gate = createConsentGate({
    channel,
    audit,
    clock,
    policy: parsePolicy({ version: "1", default_action: "ask" }),
    approvers: [
      { id: "Alice", channel: "webhook", subject: "alice" },
      { id: "Bob", channel: "webhook", subject: "bob" },
    ],
  });
  stops.push(
    () => receiver.close(),
    () => stopServer(server),
    () => channel.close(),
    () => gate.close(),
  );
  const performed: string[] = [];
  return {
    clock,
    receiver,
    channel,
    gate,
    performed,
    async ask(path) {
      const result = await gate.run(
        toolAction("files", "write_file", { path }),
        async () => void performed.push(path),
        { agent },
      );
      return result.verdict.code;
    },
    async call(message) {
      const response = await fetch(url, { method: "POST", ...message });
      const body: unknown = await response.json();
      return {
        status: response.status,
        code: typeof body === "object" && body !== null && "code" in body ? body.code : "taken",
      };
    },
    async pass(ms) {
      await new Promise((resolve) => setTimeout(resolve, 20));
      await clock.advance(ms);
    },
  };
}

export const yesTo = (
  { json }: Pick<Taken, "json">,
  clock: ManualClock,
  changes: JsonObject = {},
): string =>
  JSON.stringify({
    ...makeResponse(
      { id: String(json["id"]), nonce: String(json["nonce"]) },
      { decision: "approved", nowMs: clock.now(), channel: "webhook", approverId: "alice" },
    ),
    ...changes,
  });

export async function shown({ receiver }: Bench, count = 1): Promise<Taken> {
  const questions = (): readonly Taken[] =>
    receiver.taken.filter(({ json }) => json["type"] === "consent_request");
  await expect.poll(() => questions().length, patience).toBeGreaterThanOrEqual(count);
  const question = questions()[count - 1];
  if (question === undefined) throw new Error("no question was shown");
  return question;
}

/** Lets the question run out, whatever is still being tried. */
export async function runOut(bench: Bench, verdict: Promise<string>): Promise<string> {
  let code: string | undefined;
  void verdict.then((given) => (code = given));
  await expect.poll(async () => (await bench.pass(10_000), code), patience).toBeDefined();
  return verdict;
}

export const reply = (message: ReturnType<typeof signed>, response: ServerResponse): void =>
  void response.writeHead(200, message.headers).end(message.body);

/** The headers that a question was signed with. */
export function signatureOf({ headers }: Taken): Record<string, string> {
  const names = ["webhook-id", "webhook-timestamp", "webhook-signature"];
  return Object.fromEntries(names.map((name) => [name, String(headers[name])]));
}
