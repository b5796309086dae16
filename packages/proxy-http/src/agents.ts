/**
 * Agents: who asks, by the credentials of the request. Whoever gives wrong ones is nobody, not the
 * agent that asks without any. A header may name a part of the agent that it comes from, never
 * another agent. Format: spec/http-proxy.md §3.
 */
import { hash, timingSafeEqual } from "node:crypto";
import { type Agent, ConsentError, type ConsentGate } from "@acp/core";
import type { Caller } from "./caller.js";
import { refused } from "./refusals.js";

/**
 * An agent and the proxy credentials with which it authenticates. Format: spec/http-proxy.md §3.
 */
export interface AgentAccount {
  /** The agent as whom its requests are judged. */
  readonly agent: Agent;
  /**
   * Username: 1 to 128 printable ASCII characters without blanks and colons, unique in the proxy.
   */
  readonly username: string;
  /** Password: 16 to 512 printable ASCII characters. */
  readonly token: string;
  /** The agent's own gate, if it has a policy of its own. Absent: the proxy's gate. */
  readonly gate?: ConsentGate;
}

/** Whether the request header `x-agent-id` names the part of an agent that makes the request. */
export type Attribution = "none" | "x-agent-id";

/** Parts of {@link createAgents}. */
export interface AgentsOptions {
  readonly agents?: readonly AgentAccount[];
  /** Who asks where no credentials are given. Left out: such a request is refused. */
  readonly agent?: Agent;
  readonly attribution?: Attribution;
}

/**
 * Finds who asks.
 *
 * @param rawHeaders - Names and values in turn, as they came.
 * @param known - Who the socket belongs to, where that was known before: credentials are not looked
 *   at then.
 * @throws RefusedError `agent_unknown` or `request_invalid`.
 */
export type FindCaller = (rawHeaders: readonly string[], known?: Caller) => Caller;

/** Names a part of the agent, e.g. a sub-agent; never forwarded where attribution is on. */
export const ATTRIBUTION_HEADER = "x-agent-id";
const CREDENTIALS_HEADER = "proxy-authorization";
/**
 * Stands between an agent's id and its part's, and in no id of an account: `a/b` is a part of `a`
 * and nobody else.
 */
const SEPARATOR = "/";

const BASIC = /^basic +([A-Za-z0-9+/]+={0,2})$/i;
const PART = /^[A-Za-z0-9._-]{1,64}$/;
const USERNAME = /^[\u0021-\u0039\u003b-\u007e]{1,128}$/;
const TOKEN = /^[\u0020-\u007e]{16,512}$/;
const AGENT_ID_CHARS_MAX = 190;

interface Known {
  readonly digest: Buffer;
  readonly caller: Caller;
}

const digestOf = (credentials: string | Buffer): Buffer => hash("sha256", credentials, "buffer");

function invalid(why: string): ConsentError {
  return new ConsentError("options_invalid", `Cannot tell agents apart: ${why}`);
}

function checkId({ id }: Agent, attribution: Attribution): void {
  if (typeof id !== "string" || id === "" || id.length > AGENT_ID_CHARS_MAX)
    throw invalid(`an agent has no id of 1 to ${AGENT_ID_CHARS_MAX} characters`);
  if (attribution !== "none" && id.includes(SEPARATOR))
    throw invalid(`the id "${id}" has a "/", which names a part of an agent`);
}

function checkAccounts({ agents = [], agent, attribution = "none" }: AgentsOptions): void {
  const usernames = new Set<string>();
  for (const account of agents) {
    checkId(account.agent, attribution);
    if (typeof account.username !== "string" || !USERNAME.test(account.username))
      throw invalid("a username is 1 to 128 printable ASCII characters without spaces and colons");
    if (typeof account.token !== "string" || !TOKEN.test(account.token))
      throw invalid(
        `the token of "${account.username}" is not 16 to 512 printable ASCII characters`,
      );
    if (usernames.has(account.username))
      throw invalid(`the username "${account.username}" appears twice`);
    if (account.agent.id === agent?.id)
      throw invalid(`"${agent.id}" has credentials and needs none`);
    usernames.add(account.username);
  }
  if (agent !== undefined) checkId(agent, attribution);
}

/** The values of one header, whatever case its name has. */
export function valuesOf(rawHeaders: readonly string[], name: string): readonly string[] {
  return rawHeaders.filter(
    (_, index) => index % 2 === 1 && rawHeaders[index - 1]?.toLowerCase() === name,
  );
}

/** Every account is compared, each in constant time. */
function findAccount(accounts: readonly Known[], credentials: Buffer): Caller | undefined {
  const digest = digestOf(credentials);
  let found: Caller | undefined;
  for (const account of accounts)
    if (timingSafeEqual(account.digest, digest)) found = account.caller;
  return found;
}

/** The bytes of base64 in its one spelling, `undefined` for any other. */
function decode(base64: string): Buffer | undefined {
  const bytes = Buffer.from(base64, "base64");
  return bytes.toString("base64") === base64 ? bytes : undefined;
}

function callerByCredentials(
  rawHeaders: readonly string[],
  accounts: readonly Known[],
): Caller | undefined {
  const [value, ...more] = valuesOf(rawHeaders, CREDENTIALS_HEADER);
  if (value === undefined) return undefined;
  if (more.length > 0) throw refused("agent_unknown", "the proxy credentials appear twice");
  const base64 = BASIC.exec(value)?.[1];
  const credentials = base64 === undefined ? undefined : decode(base64);
  if (credentials === undefined)
    throw refused("agent_unknown", "the proxy credentials are not Basic and base64");
  const caller = findAccount(accounts, credentials);
  if (caller === undefined) throw refused("agent_unknown", "no agent has these proxy credentials");
  return caller;
}

/**
 * The caller as the part of it that the request names. It is judged as started by the caller, and
 * shares its limits.
 */
function partOf(caller: Caller, rawHeaders: readonly string[]): Caller {
  const [part, ...more] = valuesOf(rawHeaders, ATTRIBUTION_HEADER);
  const { agent } = caller;
  if (agent.id.includes(SEPARATOR))
    throw refused("agent_unknown", "the id of the agent names a part of another one");
  if (part === undefined) return caller;
  if (more.length > 0 || !PART.test(part))
    throw refused(
      "request_invalid",
      `${ATTRIBUTION_HEADER} is not one name of 1 to 64 letters, digits, ".", "_" and "-"`,
    );
  return {
    ...caller,
    agent: {
      ...agent,
      id: `${agent.id}${SEPARATOR}${part}`,
      parents: [agent.id, ...(agent.parents ?? [])],
    },
  };
}

/**
 * Makes the finder.
 *
 * @throws ConsentError `options_invalid`; it never shows a token.
 */
export function createAgents(options: AgentsOptions): FindCaller {
  const { agents = [], agent, attribution = "none" } = options;
  checkAccounts(options);
  const accounts = agents.map(
    ({ username, token, ...caller }): Known => ({
      digest: digestOf(`${username}:${token}`),
      caller: Object.freeze({ ...caller }),
    }),
  );
  const fallback = agent === undefined ? undefined : Object.freeze({ agent });
  return (rawHeaders, known) => {
    const caller = known ?? callerByCredentials(rawHeaders, accounts) ?? fallback;
    if (caller === undefined)
      throw refused("agent_unknown", "the request has no proxy credentials");
    return attribution === "none" ? caller : partOf(caller, rawHeaders);
  };
}
