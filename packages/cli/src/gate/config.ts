/**
 * What a gate takes from the command line and the configuration file. Without a file everything has
 * its default.
 */
import { access } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { ConsentError, ruleForSeveral } from "@acp/core";
import type { GateOptions, Policy } from "@acp/core";
import type { KeyPair } from "@acp/core/proof";
import { openServerConfig, readConfig } from "@acp/home";
import type { CommandServer, Config, Home, UpstreamServer } from "@acp/home";
import type { Invocation } from "../command.js";
import { onFile } from "../failure.js";

/** Name of the one server that the command line gives, unless it says another. */
const ONLY_SERVER = "default";

/** The configuration in force and where it was read. */
export interface HomeConfig {
  readonly file: string;
  /** `undefined` where there is no file. */
  readonly config: Config | undefined;
  /** Of the file's text: `sha256:<hex>`; absent where there is no file. */
  readonly hash?: string;
  readonly policyFile: string;
  /** Whether the configuration names the policy file: then it must exist. */
  readonly isPolicyNamed: boolean;
}

/** What of a command line the configuration needs. */
type ConfigContext = Pick<Invocation, "values" | "io">;

/**
 * Reads `--config`, or the home's config.yml where there is one.
 *
 * @param real - Where that file was found to lie; it is read there.
 * @throws ConsentError `config_invalid`, beginning with the place, or `home_invalid`.
 */
export async function readHomeConfig(
  home: Home,
  { values, io }: ConfigContext,
  real?: string,
): Promise<HomeConfig> {
  const file = values.config === undefined ? home.configPath : resolve(io.cwd, values.config);
  if (values.config === undefined && (await isMissing(file)))
    return { file, config: undefined, policyFile: home.policyPath, isPolicyNamed: false };
  const config = await onFile(file, () =>
    readConfig(real ?? file, { homeDir: io.userHome, cwd: dirname(file) }),
  );
  return {
    file,
    config,
    hash: config.hash,
    policyFile: config.policyPath ?? home.policyPath,
    isPolicyNamed: config.policyPath !== undefined,
  };
}

/**
 * Only what is surely not there is "no configuration": one that cannot be looked at must stop the
 * start.
 */
function isMissing(file: string): Promise<boolean> {
  return access(file).then(
    () => false,
    (error: NodeJS.ErrnoException) => error.code === "ENOENT",
  );
}

/**
 * The servers to stand in front of: the words after `--`, else those of the configuration.
 *
 * @throws ConsentError `config_invalid` where there is none.
 */
export function chooseServers(
  { file, config }: HomeConfig,
  { rest, values }: Pick<Invocation, "rest" | "values">,
): readonly UpstreamServer[] {
  if (rest.length > 0) return [{ name: values.server ?? ONLY_SERVER, command: rest }];
  if (values.server !== undefined)
    throw new ConsentError(
      "options_invalid",
      "Cannot use --server: it names the server whose command follows --",
    );
  const servers = config?.servers ?? [];
  if (servers.length === 0) {
    throw new ConsentError(
      "config_invalid",
      `Cannot start: there is no MCP server; write acp mcp -- COMMAND, or add one to proxy.upstream_servers in ${file}`,
    );
  }
  return servers;
}

/**
 * The servers with their whole environment, encrypted variables opened.
 *
 * @param servers - From {@link chooseServers}.
 * @throws ConsentError `vault_invalid` or `key_locked`, naming file and field.
 */
export function openEnvironments(
  servers: readonly UpstreamServer[],
  {
    file,
    keys,
    env,
    shares = false,
  }: {
    readonly file: string;
    readonly keys: KeyPair | undefined;
    readonly env: Invocation["io"]["env"];
    /** Whether servers that say `shared` are: then they get nothing of this process's environment. */
    readonly shares?: boolean;
  },
): Promise<readonly UpstreamServer[]> {
  return onFile(file, () =>
    servers.map((server, index) => {
      const opened = openServerConfig(server, index, keys);
      if (!("command" in opened) || (shares && opened.shared === true)) return opened;
      return withEnvironment(opened, env);
    }),
  );
}

/** What loaded but deserves a look. */
export function configWarnings({ file, config }: HomeConfig): readonly string[] {
  return (config?.warnings ?? []).map((warning) => `${file}: ${warning}`);
}

/**
 * Refuses a policy that asks several people where the configuration names nobody: nobody could tell
 * one person on two channels from two people.
 *
 * @throws ConsentError `config_invalid`, beginning with the place.
 */
export function checkSeveral(
  policy: Policy,
  {
    policyFile,
    file,
    config,
  }: { readonly policyFile: string } & Pick<HomeConfig, "file" | "config">,
): Promise<void> {
  const rule = config?.approvers === undefined ? ruleForSeveral(policy) : undefined;
  return onFile(policyFile, () => {
    if (rule === undefined) return;
    const { ruleId, quorum = 0, quorumAt: position } = rule;
    throw new ConsentError(
      "config_invalid",
      `Cannot use policy: rule "${ruleId}" needs ${quorum} people, and ${file} names no "approvers"`,
      position === undefined ? {} : { position },
    );
  });
}

/** What of the configuration a gate takes. */
export function gateOptionsOf({
  config,
}: Pick<HomeConfig, "config">): Pick<
  GateOptions,
  "askTimeoutMs" | "promptLimit" | "approvers" | "groups"
> {
  return {
    groups: config?.groups ?? {},
    ...(config?.askTimeoutMs !== undefined && { askTimeoutMs: config.askTimeoutMs }),
    ...(config?.promptLimit !== undefined && { promptLimit: config.promptLimit }),
    ...(config?.approvers !== undefined && { approvers: config.approvers }),
  };
}

/** The configuration adds to our environment; the proxy takes the whole. */
function withEnvironment(server: CommandServer, env: Invocation["io"]["env"]): CommandServer {
  if (server.env === undefined) return server;
  const own = Object.entries(env).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value] as const],
  );
  return { ...server, env: { ...Object.fromEntries(own), ...server.env } };
}
