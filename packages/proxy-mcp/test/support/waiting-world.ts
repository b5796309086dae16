/** A client that can show pages or has tasks, a proxy whose questions have an address, one server. */
import { onTestFinished } from "vitest";
import type { McpProxyOptions } from "../../src/index.js";
import { type Heard, type InProcess, inProcess } from "./in-process.js";
import type { Message } from "./line-client.js";
import { ASK_ALL, type Proxied, proxied } from "./proxied.js";

export const ORIGIN = "https://inbox.example.com";
export const TASKS = "io.modelcontextprotocol/tasks";
export const addressOf = async (requestId: string): Promise<string> => `${ORIGIN}/#/q/${requestId}`;

export interface Waits extends Proxied {
  readonly server: InProcess;
  /** Calls that the server got. */
  readonly calls: () => readonly Heard[];
  /** What the client got, but for answers. */
  readonly told: (method: string) => readonly Message[];
}

export function waits(
  options: Partial<McpProxyOptions> & { readonly answer?: Parameters<typeof inProcess>[0] } = {},
): Waits {
  const { answer, ...more } = options;
  const server = inProcess(answer);
  const p = proxied({
    policy: ASK_ALL,
    upstreams: [server.upstream],
    answerAddress: addressOf,
    ...more,
  });
  onTestFinished(() => p.proxy.close());
  const heard = (): readonly Heard[] => server.lines.map((line) => JSON.parse(line) as Heard);
  return {
    ...p,
    server,
    calls: () => heard().filter(({ method }) => method === "tools/call"),
    told: (method) =>
      p.client.lines
        .map((line) => JSON.parse(line) as Message)
        .filter((each) => each.method === method),
  };
}

/** Begins a session in which the client says what it can do. */
export async function greet(
  { client }: Pick<Waits, "client">,
  capabilities: object,
  protocolVersion = "2025-11-25",
): Promise<Message> {
  const clientInfo = { name: "t", version: "1" };
  const answer = await client.request("init", "initialize", {
    protocolVersion,
    capabilities,
    clientInfo,
  });
  client.send({ method: "notifications/initialized" });
  return answer;
}

/** The params of a request that belongs to no session. */
export function modern(capabilities: object, params: object = {}): object {
  return {
    ...params,
    _meta: {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientCapabilities": capabilities,
    },
  };
}

export const URL_MODE = { elicitation: { url: {} } };
export const WITH_TASKS = { extensions: { [TASKS]: {} } };
/** The newest request that the proxy made of the client. */
export async function elicited({ client }: Pick<Waits, "client">): Promise<Message> {
  return (await client.find(({ method }) => method === "elicitation/create")).message;
}
