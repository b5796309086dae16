/**
 * A real inbox on a port of its own, and a real gate behind it: policy, signer, verifier of
 * passkeys, log. Nothing is simulated but the agent.
 */
import { once } from "node:events";
import { createServer } from "node:http";
import {
  type Action,
  type Clock,
  type ConsentGate,
  type JsonObject,
  type RunResult,
  createConsentGate,
  isJsonObject,
  isToolAction,
  systemClock,
  toolAction,
} from "@acp/core";
import { createConsentSigner, generateKeyPair } from "@acp/core/proof";
import { readPolicy } from "@acp/core/yaml";
import { type MemoryAuditSink, memoryAuditSink } from "@acp/audit";
import {
  type Inbox,
  type InboxOptions,
  type InboxPauses,
  type PasskeyStore,
  createInbox,
  createPasskeyVerifier,
  memoryPasskeys,
  toNodeHandler,
} from "../../src/index.js";

/** Ada and Bob are asked; Carol signs in, and is asked nothing but what everybody is. */
const PEOPLE = ["ada", "bob", "carol"];

const POLICY = `
version: "1"
default: ask
classify:
  - { tool: send_mail, category: communication, risk: medium }
  - { tool: send_payment, category: financial, risk: high }
  - { tool: deploy, category: system, risk: medium }
  - { tool: "write_*", category: write, risk: low }
rules:
  - id: notes
    name: Notes are asked for
    match: { tool: write_note }
    action: ask
    level: low
  - id: files
    name: Files outside of the notes
    match: { tool: write_file }
    action: ask
    level: medium
    approvers: [ada, bob]
    offers:
      - { covers: call, ttl: 600, uses: 3 }
      - { covers: tool, ttl: 600 }
  - id: mail
    name: Mail leaves the house
    match: { tool: send_mail }
    action: ask
    level: high
    approvers: [ada, bob]
  - id: payments
    name: Payments take a passkey
    match: { tool: send_payment }
    action: ask
    level: critical
    approval: passkey
    approvers: [ada]
  - id: deploy
    name: Two people deploy
    match: { tool: deploy }
    action: ask
    level: medium
    approvers: [ada, bob]
    quorum: 2
`;

/** An inbox under test, and what happened behind it. */
export interface World extends AsyncDisposable {
  readonly origin: string;
  readonly inbox: Inbox;
  /** What a request for a path of the page gets. */
  fetch(path: string): Promise<Response>;
  readonly gate: ConsentGate;
  readonly passkeys: PasskeyStore;
  readonly audit: MemoryAuditSink;
  /** The arguments of what was performed, in order. */
  readonly performed: JsonObject[];
  /**
   * An agent wants something; settles when it was performed or denied, rejects where the arguments
   * say that it `breaks`.
   */
  want(tool: string, args: JsonObject): Promise<RunResult<string>>;
  /** The same of another agent. */
  wantAs(agent: string, tool: string, args: JsonObject): Promise<RunResult<string>>;
  /** Agents that are paused. */
  readonly paused: Set<string>;
  /** Nobody reaches the inbox any more. */
  unplug(): Promise<void>;
  /** The request and the answer of the last yes in the log. */
  lastRecord(): { readonly request: JsonObject; readonly response: JsonObject };
}

export interface WorldOptions
  extends Partial<Pick<InboxOptions, "passkeyFrom" | "passkeys" | "reviews">> {
  readonly clock?: Clock;
  /** Where it listens; a free port unless given. */
  readonly port?: number;
}

/** The name that the passkeys of all worlds are made for. */
export const RP_ID = "k3v9.localhost";

let worlds = 0;

function recordIn(audit: MemoryAuditSink): {
  readonly request: JsonObject;
  readonly response: JsonObject;
} {
  const events = audit.events();
  const end = events.findLast(({ eventType }) => eventType === "consent_approved");
  const responses = end?.metadata["responses"];
  const [response] = Array.isArray(responses) ? responses : [];
  const request = events
    .filter(({ eventType }) => eventType === "consent_requested")
    .map(({ metadata }) => metadata["request"])
    .findLast(
      (each) =>
        isJsonObject(each) && isJsonObject(response) && each["id"] === response["request_id"],
    );
  if (!isJsonObject(request) || !isJsonObject(response))
    throw new Error("the log lacks the record");
  return { request, response };
}

/** Carol operates the gate, and is asked nothing but what everybody is. */
function pausesOf(paused: Set<string>, gate: () => ConsentGate): InboxPauses {
  return {
    operators: ["carol"],
    list: async () => Array.from(paused, (agent) => ({ agent })),
    pause(agent) {
      paused.add(agent);
      return gate().endPaused();
    },
    resume: async (agent) => paused.delete(agent),
  };
}

/** Opens an inbox on a free port. */
export async function openWorld({
  clock = systemClock,
  port = 0,
  passkeys = memoryPasskeys(),
  ...options
}: WorldOptions = {}): Promise<World> {
  const server = createServer();
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  // As `acp inbox` does it: the name is another one each time, and passkeys are made for the one
  // above it.
  const origin = `http://fresh-${++worlds}.${RP_ID}:${typeof address === "object" && address !== null ? address.port : 0}`;

  const paused = new Set<string>();
  const people = PEOPLE.map((approver) => ({ approver }));
  const inbox = createInbox({
    origin,
    rpId: RP_ID,
    people,
    passkeys,
    clock,
    pauses: pausesOf(paused, () => gate),
    ...options,
  });
  server.on("request", toNodeHandler(inbox.handler));
  const audit = memoryAuditSink();
  const gate = createConsentGate({
    policy: readPolicy(POLICY),
    channel: inbox.channel(),
    audit,
    approvers: PEOPLE.map((id) => ({ id, channel: "web", subject: id })),
    signer: createConsentSigner(generateKeyPair()),
    verifiers: [createPasskeyVerifier({ passkeys: () => passkeys.list() })],
    askTimeoutMs: 3_600_000,
    promptLimit: "none",
    pausedAgent: ({ id, parents = [] }) =>
      [id, ...parents].some((each) => paused.has(each)) ? `the agent ${id} is paused` : undefined,
    clock,
  });
  const unplug = async (): Promise<void> => {
    if (!server.listening) return;
    server.close();
    server.closeAllConnections();
    await once(server, "close");
  };
  const performed: JsonObject[] = [];
  const perform = async ({ action }: { readonly action: Action }): Promise<string> => {
    if (isToolAction(action)) {
      performed.push(action.args);
      if (action.args["breaks"] === true) throw new TypeError("it broke");
    }
    return "done";
  };
  return {
    origin,
    inbox,
    fetch: (path) => inbox.handler(new Request(origin + path)),
    gate,
    passkeys,
    audit,
    performed,
    want: (tool, args) =>
      gate.run(toolAction("office", tool, args), perform, { agent: { id: "assistant" } }),
    wantAs: (id, tool, args) =>
      gate.run(toolAction("office", tool, args), perform, { agent: { id } }),
    paused,
    unplug,
    lastRecord: () => recordIn(audit),
    async [Symbol.asyncDispose]() {
      await gate.close();
      await inbox.close();
      await unplug();
    },
  };
}
