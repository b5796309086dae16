/**
 * Options: one table. An option means the same in every command that takes it.
 */

/** One row of the table of options. */
export interface Option {
  /** The name of its value in help; omitted for a flag. */
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
  | "alone"
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
  | "request"
  | "approver"
  | "denied"
  | "follow"
  | "format"
  | "checkpoint"
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
  | "resident"
  | "stay"
  | "fix"
  | "yes"
  | "quick"
  | "full"
  | "online"
  | "without-logs"
  | "to"
  | "dry-run"
  | "scope"
  | "timeout"
  | "delete-home"
  | "client";

/** Every option of every command. */
export const OPTIONS: Readonly<Record<OptionName, Option>> = {
  help: { summary: "Show help for a command, and exit (-h)" },
  version: { summary: "Show the version, and exit" },
  json: { summary: "Print JSON for programs" },
  home: { value: "DIR", summary: "The home directory (default: ACP_HOME, or ~/.acp)" },
  config: { value: "FILE", summary: "Read this configuration instead of the home's config.yml" },
  server: {
    value: "NAME",
    summary:
      "A server's name in the policy. For acp mcp: the server after -- (default). For a secret: the servers it may go to (A,B)",
  },
  agent: {
    value: "NAME",
    summary:
      "The agent's ID in policy, questions and log (defaults: mcp-client for acp mcp, " +
      "http-client for acp proxy http, agent for acp run)",
  },
  tty: {
    summary:
      "Also ask on the controlling terminal; for acp mcp, only if the client does not draw on it",
  },
  off: { summary: "End the pause" },
  all: { summary: "Everything" },
  once: { value: "ID", summary: "Answer this one question and exit" },
  approve: { summary: "With --once: approve" },
  deny: { summary: "With --once: deny" },
  reason: { value: "TEXT", summary: "With --once: the reason, which the agent can read" },
  word: {
    value: "WORD",
    summary: "With --approve: the word that a critical question asks you to type",
  },
  offer: {
    value: "ID",
    summary:
      "With --approve: the offer that the approval also covers, one of those in the question",
  },
  args: { value: "JSON", summary: "With --tool: the arguments (default: {})" },
  tool: {
    value: "TOOL",
    summary: "A tool. To explain a call: SERVER.TOOL. To show its events: its name in the log",
  },
  http: { value: '"METHOD URL"', summary: "Explain an HTTP request" },
  shell: { value: "COMMAND", summary: "Explain a shell command" },
  action: {
    value: "FILE",
    summary: "Explain an action in JSON (spec/action.md); - is standard input",
  },
  limit: { value: "N", summary: "Show the last N events (default: 20); 0 shows all" },
  "key-file": {
    value: "FILE",
    summary: "The file that opens the private key (default: ACP_KEY_FILE, or keys/unlock.key)",
  },
  key: {
    value: "KEY",
    summary: "The public key to trust, or a file that contains it (default: the home's)",
  },
  origin: {
    value: "URL",
    summary:
      "The HTTPS address at which people reach the inbox, through your reverse proxy (default: a " +
      "name of this machine, new at each start)",
  },
  "passkey-from": {
    value: "LEVEL",
    summary:
      "Approving needs a passkey from this risk upward: low, medium, high (default), critical, or rules-only",
  },
  socket: {
    value: "PATH",
    summary: "Listen on this Unix socket instead of a port, for a reverse proxy",
  },
  passkeys: {
    value: "FILE",
    summary: "The passkeys to trust, as acp passkeys export writes them (default: the home's)",
  },
  at: {
    value: "TIME",
    summary: "The time to check, such as 2026-01-15T10:30:00Z (default: when the answer was given)",
  },
  host: { value: "HOST", summary: "The hosts that the secret may go to (A,B); * means every host" },
  min: {
    value: "N",
    summary:
      "How often a call must have been approved before a rule is suggested (default: 5, at least 2)",
  },
  since: {
    value: "WHEN",
    summary:
      "From this time on: 14:03, yesterday 14:03, 2026-01-15 or 2026-01-15 14:03 of this " +
      "machine's clock, 2026-01-15T10:30:00Z, or 30m for the last half hour",
  },
  until: { value: "WHEN", summary: "Before this time, in the same format" },
  decision: { value: "WORD", summary: "Events with this decision, such as approved or deny" },
  request: { value: "ID", summary: "Events of this question, such as cr_0b9e…" },
  approver: { value: "NAME", summary: "Events that say that this person answered" },
  denied: { summary: "Only denials" },
  follow: { summary: "Keep showing events as they are written; Ctrl-C ends it" },
  format: { value: "FORMAT", summary: "jsonl (default: the log's own lines), csv or v0.3" },
  port: {
    value: "N",
    summary:
      "Listen on this port of 127.0.0.1 (default: proxy.http_port, or 8788; 8789 for acp inbox); 0 picks a free one",
  },
  metrics: {
    value: "N",
    summary: "Serve Prometheus counters at /metrics on this port of 127.0.0.1; 0 picks a free one",
  },
  checkpoint: { summary: "Rotate the key that signs checkpoints of the audit logs instead" },
  checkpoints: {
    value: "FILE",
    summary: "Also check the log against these checkpoints, such as a witness's copy",
  },
  stdin: { summary: "Read commands from standard input, one JSON value per line" },
  cwd: { value: "DIR", summary: "Where the command would run (default: the current directory)" },
  project: {
    value: "DIR",
    summary:
      "The project, inside which reading may be safe (default: what the agent was opened on, or where the command runs). For acp mcp wrap: also change the clients' files of this project",
  },
  profile: {
    value: "FILE",
    summary: "An agent profile's config.json (spec/exec-config.md), with its allowlist",
  },
  sandbox: {
    value: "NAME",
    summary:
      "namespace, uid, landlock, preload, env, or auto (default: the better of namespace and landlock)",
  },
  require: {
    value: "LEVEL",
    summary:
      "The minimum level of the sandbox: full, uid or partial (default: partial, unless --sandbox names one)",
  },
  mcp: { value: "stdio", summary: "Speak MCP with the command on its standard input and output" },
  workspace: {
    value: "DIR",
    summary: "The directory that the command works in (default: the current one)",
  },
  "read-only": { summary: "The command may not write in its workspace" },
  review: {
    summary:
      "Keep what the command writes in its workspace apart, for you to review and take (acp review)",
  },
  diff: { summary: "Show the lines that differ" },
  digest: {
    value: "SHA256",
    summary: "The digest that acp review show printed; only what it identifies is taken",
  },
  overwrite: { summary: "Discard changes made in the workspace meanwhile" },
  read: { value: "DIRS", summary: "More directories that the command may read (A,B)" },
  write: {
    value: "PATHS",
    summary:
      "Workspace files and folders that the command may change although other programs run them on their own (A,B)",
  },
  "host-port": {
    value: "PORTS",
    summary: "Ports of this machine that the command reaches as its own, past the gate (5432,6379)",
  },
  memory: {
    value: "SIZE",
    summary:
      "Memory that the command may use (512m, 4g): all its processes together if this host can limit that, otherwise each process",
  },
  "private-home": {
    value: "NAME",
    summary: "Keep the command's own home under this name, with its logins and caches",
  },
  "model-host": {
    value: "HOSTS",
    summary:
      "Hosts of the command's model, to ask about once before it starts (api.example.com); none asks about nothing",
  },
  user: {
    value: "NAME",
    summary: "The user name or number that the command runs as, when acp runs as root",
  },
  env: { value: "NAMES", summary: "Variables of this environment to pass to the command (A,B)" },
  "unix-sockets": { summary: "The command may use Unix sockets of its own" },
  dns: {
    value: "system",
    summary:
      "With sandbox uid: the command may query the host's name servers past the gate, through which much data can leave",
  },
  wait: {
    value: "SECONDS",
    summary:
      "Ask through ACP, and wait this long for an answer (1 to 3600); set the agent's own hook timeout at least 10 s longer",
  },
  check: {
    summary:
      "Run one forbidden command through the agent that is installed here, with a scripted model, and report whether it is stopped",
  },
  stay: {
    summary: "Go on without clients and approvers, until SIGINT, SIGTERM or acp resident stop",
  },
  resident: {
    summary:
      "Be served by the home's resident gate, whatever ACP_ALONE says; that is the default without it",
  },
  alone: {
    summary:
      "Have a gate and a log of its own in this process; also with ACP_ALONE=1. Never chosen for you",
  },
  "openclaw-user": {
    value: "NAME",
    summary:
      "Run as this user, in sandbox uid, with the config.yml, policy.yml and log in its ~/.acp",
  },
  fix: { summary: "Repair what can be repaired, asking before each change" },
  yes: { summary: "Agree to every change without being asked (acp doctor: with --fix)" },
  quick: { summary: "Look only at how each log ends, and try no sandbox" },
  full: { summary: "Prove each line and checkpoint again, whatever the index says" },
  online: { summary: "Also ask the services of the channels" },
  "without-logs": { summary: "Leave the audit logs out" },
  to: { value: "DIR", summary: "Restore into this new directory instead of the home" },
  "dry-run": { summary: "Check everything, show what would happen, and change nothing" },
  client: { value: "NAMES", summary: "Only these clients (A,B), such as cursor or claude-code" },
  scope: {
    value: "SCOPES",
    summary: 'Also ask for these rights ("A B"), beside those that you granted before',
  },
  timeout: { value: "SECONDS", summary: "Give up after this long (10 to 3600; default: 300)" },
  "delete-home": {
    summary: "Also delete the home with its logs and keys, after you type its path",
  },
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
