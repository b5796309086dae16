/**
 * Agent environment: every variable that an agent finds. What it needs to reach the gate, what a
 * terminal and a locale need, what the operator names; nothing else of ours.
 */
import { pathToFileURL } from "node:url";
import { ConsentError } from "@acp/core";
import type { SandboxInside } from "@acp/core";
import type { Io } from "../command.js";

/** Name of the fetch patch among the files inside. */
export const FETCH_PATCH_FILE = "fetch-patch.mjs";

/** Passed on where they are set, with `LC_…`: how a terminal, a language and a time look. */
const PASSED = [
  "TERM",
  "COLORTERM",
  "TERM_PROGRAM",
  "COLUMNS",
  "LINES",
  "NO_COLOR",
  "FORCE_COLOR",
  "LANG",
  "LANGUAGE",
  "TZ",
] as const;
const SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
/** Says what to do without: nothing of it may come from outside. */
const OURS = /^(?:ACP_.*|(?:https?|all|no)_proxy|NODE_USE_ENV_PROXY)$/i;
const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** What an environment is made of. */
export interface AgentEnvironmentParts {
  /** Our own. */
  readonly env: Io["env"];
  /** Names that the operator passes on. */
  readonly named: readonly string[];
  readonly sandbox: string;
}

/**
 * Checks the names that the operator passes on.
 *
 * @throws ConsentError `options_invalid` where one is ours, is no name or is not set.
 */
export function checkNamed(named: readonly string[], env: Io["env"]): void {
  for (const name of named) {
    const why = whyNot(name, env);
    if (why !== undefined)
      throw new ConsentError("options_invalid", `Cannot pass variable "${name}": ${why}`);
  }
}

function whyNot(name: string, env: Io["env"]): string | undefined {
  if (!NAME.test(name)) return "it is not the name of a variable; --env takes names, not values";
  if (OURS.test(name)) return "acp run sets or hides it";
  return env[name] === undefined ? "it is not set here" : undefined;
}

/** Makes the whole environment. */
export function makeAgentEnvironment(
  { env, named, sandbox }: AgentEnvironmentParts,
  { port, files, home }: SandboxInside,
): Readonly<Record<string, string>> {
  const passed = Object.entries(env).filter(
    ([name]) =>
      PASSED.some((each) => each === name) || name.startsWith("LC_") || named.includes(name),
  );
  const given: Readonly<Record<string, string>> = Object.fromEntries(
    passed.flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const])),
  );
  const patch = `--import=${pathToFileURL(`${files}/${FETCH_PATCH_FILE}`).href}`;
  return {
    HOME: home,
    ...given,
    // First, so that `acp` and `acp-mcp-bridge` are those of the inside.
    PATH: [files, given["PATH"] ?? env["PATH"] ?? SYSTEM_PATH].join(":"),
    ...proxyVariables(`http://127.0.0.1:${port}`, sandbox === "namespace" ? OWN_LOOPBACK : ""),
    // Not NODE_USE_ENV_PROXY: newer Nodes would open a tunnel for plain requests as well, and the
    // gate would judge the host alone.
    NODE_OPTIONS: [
      patch,
      ...(given["NODE_OPTIONS"] === undefined ? [] : [given["NODE_OPTIONS"]]),
    ].join(" "),
    // For programs that pass on few variables, and know us.
    ACP_PROXY_PORT: String(port),
    ACP_SANDBOX: sandbox,
  };
}

/** What an agent's own servers are called, where it has a loopback of its own. */
const OWN_LOOPBACK = "localhost,127.0.0.1,::1";

/** Both spellings, because programs differ; no exceptions but those given. */
function proxyVariables(url: string, direct: string): Readonly<Record<string, string>> {
  const names = ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"];
  const variables = [...names.map((name) => [name, url] as const), ["NO_PROXY", direct] as const];
  return Object.fromEntries(
    variables.flatMap(([name, value]) => [
      [name, value] as const,
      [name.toLowerCase(), value] as const,
    ]),
  );
}
