/**
 * Tokens: how agents say who they are over HTTP. A private file of the home names one for each agent; a
 * variable names one for this start. A line that is taken out works no more from then on. Format:
 * spec/home.md §2.1.
 */
import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { lstat } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { ConsentError, quoteText } from "@acp/core";
import { createFileAtomic, readPrivateFile, writeFileAtomic } from "@acp/home";
import type { Home } from "@acp/home";
import type { McpCaller, McpCredentials } from "@acp/proxy-mcp";
import type { Invocation } from "../command.js";
import { checkAgentId } from "../servers/agent-id.js";

/** Where the tokens of a home are. */
export const tokensPath = ({ dir }: Pick<Home, "dir">): string => join(dir, "mcp-tokens");

/** A token by itself, for the agent of this start. */
export const TOKEN_VARIABLE = "ACP_MCP_TOKEN";

const FILE_BYTES_MAX: number = 256 * 1024;
const AGENTS_MAX = 1_000;
const TOKEN_BYTES = 32;
const AGENT = /^[!-~]{1,128}$/u;
const TOKEN = /^[A-Za-z0-9._~+/-]{16,512}=*$/u;
const HEAD =
  "# Tokens of agents that reach `acp mcp serve`, one a line: AGENT TOKEN [POLICY]. Whoever has a token is that agent.\n";

/** An agent and its token. */
export interface AgentToken {
  readonly agent: string;
  readonly token: string;
  /** Absolute path of the policy that judges this agent instead of the main one. */
  readonly policyPath?: string;
}

/**
 * The tokens of a home; none where there is no file.
 *
 * @throws ConsentError `home_invalid` for a file that others may read or write, or that is not as it
 *   must be; no token is shown.
 */
export async function readTokens(path: string): Promise<readonly AgentToken[]> {
  if (!(await isThere(path))) return [];
  const text = await readPrivateFile(path, FILE_BYTES_MAX);
  const found = text.split("\n").flatMap((line, at) => {
    const words = line.split("#", 1)[0]?.trim().split(/\s+/u) ?? [];
    if (words.length === 1 && words[0] === "") return [];
    return [readLine(words, path, at + 1)];
  });
  const twice = found.find(({ token }, at) => found.findIndex((one) => one.token === token) !== at);
  if (twice !== undefined)
    throw invalid(path, `the agent ${quoteText(twice.agent)} has another agent's token`);
  if (found.length > AGENTS_MAX) throw invalid(path, `it has more than ${AGENTS_MAX} tokens`);
  return found;
}

function readLine(words: readonly string[], path: string, line: number): AgentToken {
  const [agent = "", token = "", policy, ...rest] = words;
  if (!AGENT.test(agent) || !TOKEN.test(token) || rest.length > 0)
    throw invalid(
      path,
      `line ${line} is not AGENT TOKEN [POLICY], the token of 16 to 512 letters, digits or -._~+/`,
    );
  checkAgentId(agent);
  return {
    agent,
    token,
    ...(policy !== undefined && { policyPath: resolve(dirname(path), policy) }),
  };
}

const invalid = (place: string, why: string): ConsentError =>
  new ConsentError("home_invalid", `Cannot read the tokens in "${place}": ${why}`);

function isThere(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return false;
      throw error;
    },
  );
}

/**
 * The token of an agent, which is made where it has none.
 *
 * @throws ConsentError as {@link readTokens}; `options_invalid` for a name that no agent can have here.
 */
export async function ensureToken(path: string, agent: string): Promise<string> {
  checkAgentId(agent);
  if (!AGENT.test(agent))
    throw new ConsentError(
      "options_invalid",
      `Cannot make a token for ${JSON.stringify(agent)}: here an agent's name is printable ASCII without spaces`,
    );
  const known = await readTokens(path);
  const found = known.find((each) => each.agent === agent);
  if (found !== undefined) return found.token;
  const token = randomBytes(TOKEN_BYTES).toString("base64url");
  const line = `${agent} ${token}\n`;
  // Two that begin at once: the second finds the first one's.
  if (!(await isThere(path)) && (await createFileAtomic(path, `${HEAD}${line}`))) return token;
  const before = await readPrivateFile(path, FILE_BYTES_MAX);
  await writeFileAtomic(path, `${before.replace(/\n?$/u, "\n")}${line}`);
  // Another process may have written at the same time: what is not there does not work.
  const isKept = (await readTokens(path)).some((each) => each.token === token);
  return isKept ? token : ensureToken(path, agent);
}

/** The policy of an agent with a token. */
export interface AgentPolicy {
  /** Absolute path of its own; `undefined` for the main one. */
  readonly path: string | undefined;
}

/** Credentials that are looked up anew whenever the file changes. */
export interface HomeCredentials extends McpCredentials {
  /** Who has one now. */
  agents(): readonly string[];
  /** Which policy judges a key's agent; nothing where the key works no more. */
  policyOf(key: string): AgentPolicy | undefined;
}

interface Known extends McpCaller {
  readonly digest: Buffer;
  readonly policyPath: string | undefined;
}

/**
 * Opens them.
 *
 * @param agent - Whose the token of the environment is.
 * @throws ConsentError as {@link readTokens}; `options_invalid` for a variable that is no token.
 */
export async function openCredentials(
  path: string,
  {
    agent,
    env,
    log,
  }: {
    readonly agent: string;
    readonly env: Invocation["io"]["env"];
    readonly log: (line: string) => void;
  },
): Promise<HomeCredentials> {
  const own = ofVariable(agent, env);
  let seen = await stampOf(path);
  let known: readonly Known[] = [...own, ...(await readTokens(path)).map(knownOf)];
  const renew = async (): Promise<void> => {
    const stamp = await stampOf(path);
    if (stamp === seen) return;
    try {
      known = [...own, ...(await readTokens(path)).map(knownOf)];
    } catch (error) {
      // What cannot be read names nobody.
      known = own;
      log(error instanceof Error ? error.message : String(error));
    }
    seen = stamp;
  };
  return {
    agents: () => known.map(({ agent: { id } }) => id),
    policyOf(key) {
      const found = known.find((each) => each.key === key);
      return found === undefined ? undefined : { path: found.policyPath };
    },
    async find(token) {
      await renew();
      if (token === undefined) return undefined;
      const digest = digestOf(token);
      let found: McpCaller | undefined;
      // All are compared, so that the time tells nothing.
      for (const each of known)
        if (timingSafeEqual(each.digest, digest)) found = { agent: each.agent, key: each.key };
      return found;
    },
    holds(key) {
      void renew().catch(() => (known = own));
      return known.some((each) => each.key === key);
    },
  };
}

function ofVariable(agent: string, env: Invocation["io"]["env"]): readonly Known[] {
  const token = env[TOKEN_VARIABLE];
  if (token === undefined) return [];
  if (!TOKEN.test(token))
    throw new ConsentError(
      "options_invalid",
      `Cannot use ${TOKEN_VARIABLE}: a token has 16 to 512 letters, digits or -._~+/`,
    );
  return [knownOf({ agent, token })];
}

const digestOf = (token: string): Buffer => createHash("sha256").update(token, "utf8").digest();

function knownOf({ agent, token, policyPath }: AgentToken): Known {
  const digest = digestOf(token);
  // With another policy it is another client: what it has open goes on by none that was taken away.
  const key = [agent, digest.toString("base64url"), policyPath ?? ""].join(" ");
  return { agent: { id: agent }, key, digest, policyPath };
}

/** Another one whenever the file is another one. */
function stampOf(path: string): Promise<string> {
  return lstat(path, { bigint: true }).then(
    ({ ino, mtimeNs, ctimeNs, size, mode }) => [ino, mtimeNs, ctimeNs, size, mode].join(" "),
    (error: NodeJS.ErrnoException) => error.code ?? "unknown",
  );
}
