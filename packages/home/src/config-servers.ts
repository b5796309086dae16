/** Config, servers: the MCP servers to stand in front of. */
import { invalid } from "@acp/core/yaml";
import {
  below,
  exactlyOne,
  flag,
  idleWhere,
  list,
  map,
  number,
  onlyBeside,
  optional,
  refined,
  required,
  section,
  type Shape,
  text,
  textLike,
  word,
} from "@acp/core/unstable";
import { hosts, opaque, pathShape, url } from "./config-values.js";
import { splitWords } from "./words.js";
import type { PathOrigins } from "./paths.js";

/** What a server may see and reach in its sandbox. Format: spec/home.md §3. */
export interface ServerReach {
  /**
   * `none` starts the server outside of any sandbox. Absent: in a sandbox if `acp run` starts it.
   */
  readonly sandbox?: "auto" | "none";
  /** Whether the server may read or change the agent's workspace. Absent: neither. */
  readonly workspace?: "read" | "write";
  /** More directories that the server may read. */
  readonly read?: readonly string[];
  /** More directories that the server may change. */
  readonly write?: readonly string[];
  /** Hosts that the server may reach, as `host` (ports 443 and 80) or `host:port`. Absent: none. */
  readonly network?: readonly string[];
}

/** What of a server's own word counts, and what of it is shown. Format: spec/home.md §3. */
export interface ServerTrust {
  /** `annotations`: hints such as `readOnlyHint` count. Absent: only those that warn do. */
  readonly trust?: "annotations";
  /** True: tools that the policy denies whatever their arguments are left out of its lists. */
  readonly hideDenied?: boolean;
}

/** What a server may take. Format: spec/home.md §3. */
export interface ServerLimits {
  /** Bytes of one message of the server. Absent: 10 MiB. */
  readonly messageBytesMax?: number;
  /** Milliseconds that the server may take for a tool call. Absent: no limit. */
  readonly callTimeoutMs?: number;
  /** Tool calls that the server has at a time; further ones wait in order. Absent: no limit. */
  readonly callsMax?: number;
  /** Milliseconds that the server may take to answer `initialize`. Absent: 50 s. */
  readonly startTimeoutMs?: number;
}

/** An MCP server that is started as a process. Format: spec/home.md §3. */
export interface CommandServer extends ServerReach, ServerTrust {
  /** What policies, questions and logs call the server; 1 to 64 of `a-z 0-9 - _`. */
  readonly name: string;
  /** Program and arguments; no shell reads them. */
  readonly command: readonly string[];
  /** Variables added to the server's environment. */
  readonly env?: Readonly<Record<string, string>>;
  /** Working directory. In a sandbox, it must be one that the server sees. */
  readonly cwd?: string;
  /** What the server may take. Absent: what every server may. */
  readonly limits?: ServerLimits;
  /** The clients of the home's resident share one process. Absent: each has its own. */
  readonly shared?: boolean;
}

/** How a person signs in to a server. Format: spec/home.md §3. */
export interface ServerOAuth {
  /** A client that was registered before: its ID, or the https address of its metadata document. */
  readonly clientId?: string;
  /** The vault's name of that client's secret. Absent: it has none. */
  readonly clientSecret?: string;
  /** The address of this machine that it was registered with. */
  readonly redirectUri?: string;
  /** The authorization server. Absent: the first that the server names. */
  readonly issuer?: string;
  /** What to ask for. Absent: what the server says that it needs. */
  readonly scopes?: readonly string[];
}

/** An MCP server that is running already. Format: spec/home.md §3. */
export interface UrlServer extends ServerTrust {
  /** What policies, questions and logs call the server. */
  readonly name: string;
  /** Its MCP endpoint: https, or http on this machine. */
  readonly url: string;
  /** Sent with every request, such as `Authorization`. */
  readonly headers?: Readonly<Record<string, string>>;
  /** How a person signs in (`acp mcp login`). */
  readonly oauth?: ServerOAuth;
  /** What the server may take. Absent: what every server may. */
  readonly limits?: ServerLimits;
}

/** An MCP server of the configuration. */
export type UpstreamServer = CommandServer | UrlServer;

const PATHS_MAX = 64;
const COMMAND_CHARS_MAX = 8_192;
/** A text of JavaScript holds no more than twice as much. */
const RESULT_MEGABYTES_MAX = 256;
const MEGABYTE = 1024 * 1024;
/** A day. */
const TIMEOUT_SECONDS_MAX = 86_400;
const SECOND_MS = 1_000;
const CALLS_MAX = 10_000;
const LIMITS = ["workspace", "read", "write", "network"];

/** Names stand before `__` in the names of tools, and in policies. */
const serverName: Shape<string> = textLike(/^(?!.*__)[a-z0-9_-]{1,64}$/, {
  charsMax: 64,
  problem: "a server's name consists of lowercase letters, digits, dashes and single underscores",
});

const command: Shape<readonly string[]> = refined(text(COMMAND_CHARS_MAX), (value, spot) => {
  const split = splitWords(value);
  if ("problem" in split) throw invalid(spot, `the command ${split.problem}`);
  return split.words;
});

const environment: Shape<Readonly<Record<string, string>>> = map(opaque, {
  pattern: /^[A-Za-z_][A-Za-z0-9_]*$/,
  problem: "a variable's name consists of letters, digits and underscores",
});

/** Not those that the transport has a say in. */
const headers: Shape<Readonly<Record<string, string>>> = map(opaque, {
  pattern:
    /^(?!(?:accept|connection|content-.*|host|mcp-.*|transfer-encoding)$)[A-Za-z][A-Za-z0-9-]*$/i,
  problem: "a header's name consists of letters, digits and dashes, and is none of MCP's own",
});

/** Of this machine: nobody else may get the answer to a sign-in. */
const redirectUri: Shape<string> = refined(url, (value, spot) => {
  const { protocol, hostname, search, hash } = new URL(value);
  const isHere = protocol === "http:" && ["127.0.0.1", "localhost"].includes(hostname);
  if (!isHere || search !== "" || hash !== "")
    throw invalid(spot, "it must begin with http://127.0.0.1 or http://localhost");
  return value;
});

const SCOPES_MAX = 64;
const CLIENT_ID_CHARS_MAX = 2_048;
const SECRET_NAME_CHARS_MAX = 256;

const oauth: Shape<ServerOAuth> = section(
  {
    clientId: optional(
      "client_id",
      text(CLIENT_ID_CHARS_MAX),
      "A client registered before: its ID, or the https address of its metadata document.",
    ),
    clientSecret: optional(
      "client_secret",
      textLike(/^[A-Za-z_][A-Za-z0-9_.-]*$/, {
        charsMax: SECRET_NAME_CHARS_MAX,
        problem: "it is the name of a secret in the vault (acp vault set NAME --host HOST)",
      }),
      "Name of the client's secret in the vault.",
    ),
    redirectUri: optional(
      "redirect_uri",
      redirectUri,
      "The address of this machine that the client was registered with.",
    ),
    issuer: optional(
      "issuer",
      url,
      "The authorization server. Default: the first that the server names.",
    ),
    scopes: optional(
      "scopes",
      list(textLike(/^[!#-[\]-~]+$/, { charsMax: 256, problem: "a scope is a word of ASCII" }), {
        min: 1,
        max: SCOPES_MAX,
        problem: `there are no scopes, or more than ${SCOPES_MAX}`,
      }),
      "What to ask for. Default: what the server says that it needs.",
    ),
  },
  [onlyBeside("client_id", ["client_secret", "redirect_uri"])],
);

const directories: Shape<readonly string[], PathOrigins> = list(pathShape, {
  max: PATHS_MAX,
  problem: `there are more than ${PATHS_MAX} directories`,
});

const times = (max: number, unit: number): Shape<number> =>
  refined(number({ min: 1, max, whole: true }), (value) => value * unit);

const server: Shape<UpstreamServer, PathOrigins> = refined(
  section(
    {
      name: required("name", serverName, "What policies, questions and logs call the server."),
      url: optional("url", url, "The MCP endpoint of a running server: https, or http here."),
      headers: optional("headers", headers, "Headers sent with every request to the url."),
      oauth: optional("oauth", oauth, "How a person signs in to the url (acp mcp login)."),
      command: optional("command", command, "Program and arguments, split into words; no shell."),
      args: optional("args", list(opaque), "More arguments, one each."),
      env: optional("env", environment, "Variables added to the server's environment."),
      cwd: optional("cwd", pathShape, "Working directory."),
      trust: optional(
        "trust",
        word(["annotations"]),
        "annotations: hints such as readOnlyHint count. Default: only those that warn do.",
      ),
      hideDenied: optional(
        "hide_denied",
        flag,
        "Leave tools out of lists that the policy denies whatever their arguments. Default: false.",
      ),
      sandbox: optional(
        "sandbox",
        word(["auto", "none"]),
        "none starts the server outside any sandbox. Default: in one if acp run starts it.",
      ),
      workspace: optional(
        "workspace",
        word(["read", "write"]),
        "Whether the server may read or change the agent's workspace. Default: neither.",
      ),
      read: optional("read", directories, "More directories that the server may read."),
      write: optional("write", directories, "More directories that the server may change."),
      network: optional(
        "network",
        hosts,
        "Hosts that the server may reach: host (ports 443 and 80) or host:port. Default: none.",
      ),
      messageBytesMax: optional(
        "max_result_megabytes",
        times(RESULT_MEGABYTES_MAX, MEGABYTE),
        "Size of one answer, in MiB. Default: 10.",
      ),
      callTimeoutMs: optional(
        "call_timeout_seconds",
        times(TIMEOUT_SECONDS_MAX, SECOND_MS),
        "Seconds that the server may take for a tool call. Default: no limit.",
      ),
      callsMax: optional(
        "max_calls",
        number({ min: 1, max: CALLS_MAX, whole: true }),
        "Tool calls that the server has at a time; further ones wait. Default: no limit.",
      ),
      shared: optional(
        "shared",
        flag,
        "true: the clients of the resident share one process of the server. Default: one each.",
      ),
      startTimeoutMs: optional(
        "start_timeout_seconds",
        times(TIMEOUT_SECONDS_MAX, SECOND_MS),
        "Seconds that the server may take to start. Default: 50.",
      ),
    },
    [
      exactlyOne("command", "url"),
      onlyBeside("url", ["headers", "oauth"]),
      onlyBeside("command", ["args", "env", "cwd", "sandbox", "shared", ...LIMITS]),
      idleWhere({
        key: "sandbox",
        values: ["none"],
        keys: LIMITS,
        problem: (key) =>
          `"${key}" limits a sandbox, and "sandbox: none" has none; leave one of them out`,
      }),
    ],
  ),
  (
    {
      name,
      url: address,
      headers: sent,
      oauth: signIn,
      command: words = [],
      args = [],
      ...settings
    },
    spot,
  ) => {
    const { messageBytesMax, callTimeoutMs, callsMax, startTimeoutMs, ...others } = settings;
    const { trust, hideDenied, ...rest } = others;
    const all = { messageBytesMax, callTimeoutMs, callsMax, startTimeoutMs };
    const given = Object.entries(all).filter(([, value]) => value !== undefined);
    const limits = given.length === 0 ? {} : { limits: Object.fromEntries(given) };
    const trusted = trust === undefined ? {} : { trust };
    const more = { ...trusted, ...(hideDenied === true && { hideDenied }), ...limits };
    if (settings.shared === true && settings.sandbox === "auto")
      throw invalid(
        below(spot, "shared"),
        'a server in a sandbox is not shared; leave "shared" or "sandbox: auto" out',
      );
    if (address === undefined) return { name, command: [...words, ...args], ...rest, ...more };
    const isFixed = Object.keys(sent ?? {}).some(
      (header) => header.toLowerCase() === "authorization",
    );
    if (signIn !== undefined && isFixed)
      throw invalid(
        below(spot, "oauth"),
        'the header Authorization and "oauth" exclude each other; leave one of them out',
      );
    return {
      name,
      url: address,
      ...(sent !== undefined && { headers: sent }),
      ...(signIn !== undefined && { oauth: signIn }),
      ...more,
    };
  },
);

/** The list `upstream_servers`. */
export const servers: Shape<readonly UpstreamServer[], PathOrigins> = refined(
  list(server),
  (each, spot) => {
    const names = new Set<string>();
    for (const [at, { name }] of each.entries()) {
      if (names.has(name))
        throw invalid(below(below(spot, at), "name"), `another server is called "${name}"`);
      names.add(name);
    }
    return each;
  },
);
