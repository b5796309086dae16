/**
 * Options: one table. An option means the same for every command that takes it.
 */

/** What an option is. */
export interface Option {
  /** The name of its value in help; left out for a flag. */
  readonly value?: string;
  readonly summary: string;
}

/** The name of an option, without its dashes. */
export type OptionName =
  | "help"
  | "version"
  | "json"
  | "home"
  | "config"
  | "server"
  | "agent"
  | "tty"
  | "off"
  | "all"
  | "once"
  | "approve"
  | "deny"
  | "reason"
  | "word"
  | "offer"
  | "args"
  | "tool"
  | "http"
  | "shell"
  | "action"
  | "limit"
  | "key-file"
  | "key"
  | "passkeys"
  | "origin"
  | "passkey-from"
  | "socket"
  | "at"
  | "host"
  | "min"
  | "since"
  | "until"
  | "decision"
  | "follow"
  | "format"
  | "checkpoints"
  | "stdin"
  | "cwd"
  | "project"
  | "profile"
  | "port"
  | "metrics"
  | "sandbox"
  | "require"
  | "mcp"
  | "workspace"
  | "read-only"
  | "review"
  | "diff"
  | "digest"
  | "overwrite"
  | "read"
  | "write"
  | "host-port"
  | "model-host"
  | "memory"
  | "private-home"
  | "user"
  | "env"
  | "unix-sockets"
  | "dns"
  | "openclaw-user"
  | "wait"
  | "check"
  | "resident";

/** Every option of every command. */
export const OPTIONS: Readonly<Record<OptionName, Option>> = {
  help: { summary: "Show what a command does, and end (-h)" },
  version: { summary: "Show the version, and end" },
  json: { summary: "Print JSON for programs" },
  home: { value: "DIR", summary: "The home directory; without it ACP_HOME, else ~/.acp" },
  config: { value: "FILE", summary: "Read this configuration instead of the home's config.yml" },
  server: {
    value: "NAME",
    summary: "A server as the policy calls it: of acp mcp the one after -- (default), of a secret where it may go (A,B)",
  },
  agent: {
    value: "NAME",
    summary: "The agent's id in policy, questions and log (of acp mcp: mcp-client, of acp proxy http: http-client, of acp run: agent)",
  },
  tty: { summary: "Ask on the controlling terminal too; of acp mcp only where the client does not draw on it" },
  off: { summary: "End the pause" },
  all: { summary: "Everything there is" },
  once: { value: "ID", summary: "Answer this one question and end" },
  approve: { summary: "With --once: say yes" },
  deny: { summary: "With --once: say no" },
  reason: { value: "TEXT", summary: "With --once: why; the agent reads it" },
  word: { value: "WORD", summary: "With --approve: the word that a critical question wants typed" },
  offer: { value: "ID", summary: "With --approve: what the yes also covers, of what the question offers" },
  args: { value: "JSON", summary: "With --tool: the arguments ({})" },
  tool: { value: "TOOL", summary: "A tool: SERVER.TOOL explains a call, its name in the log shows its events" },
  http: { value: '"METHOD URL"', summary: "Explain an HTTP request" },
  shell: { value: "COMMAND", summary: "Explain a shell command" },
  action: { value: "FILE", summary: "Explain an Action as JSON (spec/action.md); - is standard input" },
  limit: { value: "N", summary: "Show the last N events (20); 0 shows all" },
  "key-file": { value: "FILE", summary: "The file that opens the private key; without it ACP_KEY_FILE, else keys/unlock.key" },
  key: { value: "KEY", summary: "The public key to trust, or a file with it; without it the home's" },
  origin: {
    value: "URL",
    summary:
      "By what https name people reach the inbox, through a reverse proxy of yours (without it a name of this machine, new at each start)",
  },
  "passkey-from": {
    value: "LEVEL",
    summary: "From this risk on a yes takes a passkey: low, medium, high (default), critical, or rules-only",
  },
  socket: { value: "PATH", summary: "Listen on this Unix socket instead of a port, for a reverse proxy" },
  passkeys: { value: "FILE", summary: "The passkeys to trust, as acp passkeys export writes them; without it the home's" },
  at: { value: "TIME", summary: "The moment asked about, such as 2026-01-15T10:30:00Z (when the answer was given)" },
  host: { value: "HOST", summary: "A host that the secret may go to (A,B); * is every one" },
  min: { value: "N", summary: "How often a call must have been approved before a rule is suggested (5); at least 2" },
  since: { value: "WHEN", summary: "From this time on: 2026-01-15T10:30:00Z, or 30m for the last half hour" },
  until: { value: "WHEN", summary: "Before this time, written in the same way" },
  decision: { value: "WORD", summary: "Events of this decision, such as approved or deny" },
  follow: { summary: "Go on showing events as they are written; Ctrl-C ends it" },
  format: { value: "FORMAT", summary: "jsonl (the log's own lines, the default), csv or v0.3" },
  port: { value: "N", summary: "Listen on this port of 127.0.0.1 (proxy.http_port, else 8788; of acp inbox 8789); 0 takes a free one" },
  metrics: { value: "N", summary: "Serve counters for Prometheus at /metrics on this port of 127.0.0.1; 0 takes a free one" },
  checkpoints: { value: "FILE", summary: "Hold the log against these checkpoints too, such as a witness's copy" },
  stdin: { summary: "Commands from standard input, one JSON value a line" },
  cwd: { value: "DIR", summary: "Where the command would run (the current directory)" },
  project: {
    value: "DIR",
    summary: "The project: reading inside it may be safe. Without it, what the agent was opened on, else where the command runs",
  },
  profile: { value: "FILE", summary: "An agent profile's config.json (spec/exec-config.md), with its allowlist" },
  sandbox: { value: "NAME", summary: "namespace, uid, landlock, preload or env; auto (the default): the better of namespace and landlock" },
  require: { value: "LEVEL", summary: "The least that the sandbox must be: full, uid or partial (partial, unless --sandbox names one)" },
  mcp: { value: "stdio", summary: "Speak MCP with the command on its standard input and output" },
  workspace: { value: "DIR", summary: "The directory that the command works in (the current one)" },
  "read-only": { summary: "The command may not write in its workspace" },
  review: { summary: "What the command writes in its workspace is kept apart, for you to see and take (acp review)" },
  diff: { summary: "Show the lines that differ" },
  digest: { value: "SHA256", summary: "What acp review show gave: just this is taken" },
  overwrite: { summary: "Give up what was changed in the workspace meanwhile" },
  read: { value: "DIRS", summary: "Further directories that the command may read (A,B)" },
  write: {
    value: "PATHS",
    summary: "Files and folders of the workspace that the command may change although others run them by themselves (A,B)",
  },
  "host-port": { value: "PORTS", summary: "Ports of this machine that the command reaches as its own, past the gate (5432,6379)" },
  memory: {
    value: "SIZE",
    summary: "Memory that the command may use (512m, 4g): of all its processes where this host can limit that, else of each",
  },
  "private-home": { value: "NAME", summary: "The command's own home stays under this name, with its logins and caches" },
  "model-host": {
    value: "HOSTS",
    summary: "Hosts of the command's model, asked about once before it starts (api.example.com); none asks nothing",
  },
  user: { value: "NAME", summary: "The user, or its number, that the command runs as where acp runs as root" },
  env: { value: "NAMES", summary: "Variables of this environment that the command gets too (A,B)" },
  "unix-sockets": { summary: "The command may use Unix sockets of its own" },
  dns: { value: "system", summary: "With sandbox uid: the host's name servers may be asked past the gate, and much can leave that way" },
  wait: {
    value: "SECONDS",
    summary: "Ask by ACP, and wait this long for an answer (1 to 3600); the agent's own time-out for the hook must be 10 s longer",
  },
  check: {
    summary: "Run one forbidden command through the agent that is installed here, against a scripted model, and say whether it is stopped",
  },
  resident: { summary: "Stay, and answer the hooks of this home until none has come for ten minutes; hooks start it by themselves" },
  "openclaw-user": { value: "NAME", summary: "Run as this user, in sandbox uid, with the config.yml, policy.yml and log of its ~/.acp" },
};

/** Options that every command takes. */
export const COMMON_OPTIONS: readonly OptionName[] = ["home", "json", "help", "version"];

const NAMES: ReadonlySet<string> = new Set(Object.keys(OPTIONS));

/** Whether a text names an option. */
export function isOptionName(name: string): name is OptionName {
  return NAMES.has(name);
}

/** The row of an option. */
export function optionOf(name: OptionName): Option {
  return OPTIONS[name];
}
