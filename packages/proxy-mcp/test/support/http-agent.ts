/** Agents over HTTP: a listener in front of a proxy with a real gate, and requests to it byte by byte. */
import { connect } from "node:net";
import { memoryAuditSink } from "@acp/audit";
import { createConsentGate } from "@acp/core";
import { parsePolicy } from "@acp/core/policy";
import { manualClock, type ManualClock } from "@acp/testing";
import { onTestFinished } from "vitest";
import {
  createMcpListener,
  createMcpSessions,
  type McpListenerOptions,
  type McpSessionsOptions,
  type UpstreamConfig,
} from "../../src/index.js";
import { ALLOW_ALL, type HeldChannel, heldChannel, scripted } from "./proxied.js";

/** Two clients. */
export const TOKENS = { ada: "ada-token-0123456789", bob: "bob-token-0123456789" } as const;

export interface Listening {
  readonly port: number;
  readonly url: string;
  readonly logs: readonly string[];
  readonly channel: HeldChannel;
  readonly clock: ManualClock;
  /** Tokens that work; a test takes some away. */
  readonly tokens: Map<string, string>;
  /** How many connections to the proxy were opened. */
  readonly served: () => number;
}

export interface ListeningOptions
  extends Partial<McpListenerOptions>,
    Pick<McpSessionsOptions, "answerAddress"> {
  readonly policy?: object;
  readonly upstreams?: readonly UpstreamConfig[];
}

/** Listens until the test is over. */
export async function listening({
  policy = ALLOW_ALL,
  upstreams = [{ name: "fs", command: scripted() }],
  answerAddress,
  ...more
}: ListeningOptions = {}): Promise<Listening> {
  const clock = manualClock();
  const channel = heldChannel(() => clock.now());
  const logs: string[] = [];
  const log = (line: string): void => void logs.push(line);
  const gate = createConsentGate({
    policy: parsePolicy(policy),
    channel,
    audit: memoryAuditSink(),
    clock,
  });
  const sessions = createMcpSessions({
    gate,
    upstreams,
    log,
    clock,
    sessionsMax: 16,
    ...(answerAddress !== undefined && { answerAddress }),
  });
  const tokens = new Map<string, string>(Object.entries(TOKENS).map(([id, token]) => [token, id]));
  let served = 0;
  const listener = createMcpListener({
    credentials: {
      find(token) {
        const id = token === undefined ? undefined : tokens.get(token);
        return id === undefined ? undefined : { agent: { id }, key: `key of ${token}` };
      },
      holds: (key) => [...tokens.keys()].some((token) => key === `key of ${token}`),
    },
    serve(connection, { agent }) {
      served++;
      sessions.serve(connection, { agent });
    },
    log,
    clock,
    ...more,
  });
  const port = await listener.listen(0);
  onTestFinished(async () => {
    await listener.close();
    await sessions.close();
  });
  const url = `http://127.0.0.1:${port}`;
  return { port, url, logs, channel, clock, tokens, served: () => served };
}

export interface Sent {
  readonly method?: string;
  readonly path?: string;
  readonly token?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly signal?: AbortSignal;
}

const POSTED = {
  "content-type": "application/json",
  accept: "application/json, text/event-stream",
};

/** One request; a body that is no text is written as JSON. */
export function send(
  { url }: Pick<Listening, "url">,
  { method = "POST", path = "/mcp", token = TOKENS.ada, headers = {}, body, signal }: Sent,
): Promise<Response> {
  return fetch(`${url}${path}`, {
    method,
    headers: {
      ...(method === "POST" ? POSTED : { accept: "text/event-stream" }),
      ...(token !== "" && { authorization: `Bearer ${token}` }),
      ...headers,
    },
    ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
    ...(signal !== undefined && { signal }),
  });
}

export const initialize = (version = "2025-11-25"): object => ({
  jsonrpc: "2.0",
  id: "init",
  method: "initialize",
  params: {
    protocolVersion: version,
    capabilities: {},
    clientInfo: { name: "t", version: "1" },
  },
});

/** Begins a session; gives the headers that belong to it. */
export async function begin(
  at: Pick<Listening, "url">,
  token: string = TOKENS.ada,
): Promise<Readonly<Record<string, string>>> {
  const answer = await send(at, { body: initialize(), token });
  const id = answer.headers.get("mcp-session-id") ?? "";
  await answer.text();
  const headers = { "mcp-session-id": id, "mcp-protocol-version": "2025-11-25" };
  const told = { jsonrpc: "2.0", method: "notifications/initialized" };
  await (await send(at, { headers, token, body: told })).text();
  return headers;
}

/** A message that belongs to no session, and its headers. */
export function stateless(
  id: unknown,
  method: string,
  params: Readonly<Record<string, unknown>> = {},
): { readonly body: object; readonly headers: Readonly<Record<string, string>> } {
  const { _meta: meta, ...rest } = params;
  const name = params["name"] ?? params["uri"];
  return {
    body: {
      jsonrpc: "2.0",
      id,
      method,
      params: {
        ...rest,
        _meta: {
          "io.modelcontextprotocol/protocolVersion": "2026-07-28",
          "io.modelcontextprotocol/clientCapabilities": {},
          ...(typeof meta === "object" && meta),
        },
      },
    },
    headers: {
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": method,
      ...(typeof name === "string" && { "mcp-name": name }),
    },
  };
}

/** Bytes as they are; what comes back until the other side closes. */
export function raw(port: number, bytes: string): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1", () => socket.write(bytes));
    let text = "";
    socket.on("data", (chunk: Buffer) => (text += chunk.toString("latin1")));
    socket.on("error", () => resolve(text));
    socket.on("close", () => resolve(text));
  });
}

/** The events of a stream until one satisfies, or it ends. */
export async function eventsOf(
  response: Response,
  until: (data: string) => boolean = () => false,
): Promise<readonly { readonly id: string; readonly data: string }[]> {
  const found: { id: string; data: string }[] = [];
  const decoder = new TextDecoder();
  let rest = "";
  if (response.body === null) return found;
  const reader = response.body.getReader();
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return found;
    rest += decoder.decode(value, { stream: true });
    const parts = rest.split("\n\n");
    rest = parts.pop() ?? "";
    for (const part of parts) {
      const field = (name: string): string | undefined =>
        part
          .split("\n")
          .find((line) => line.startsWith(`${name}:`))
          ?.slice(name.length + 1)
          .trimStart();
      const data = field("data");
      if (data === undefined) continue;
      found.push({ id: field("id") ?? "", data });
      if (data !== "" && until(data)) {
        void reader.cancel();
        return found;
      }
    }
  }
}
