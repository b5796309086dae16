/**
 * Commands that start agents so that they cannot go around the gate. Rows of the table in commands.ts.
 */
import type { Command } from "../command.js";

/** `acp run` and `acp sandbox …`. */
export const SANDBOX_COMMANDS: readonly Command[] = [
  {
    name: "run",
    summary: "Run a command so that all it can reach is the gate",
    usage: "-- COMMAND [ARGS…]",
    operandsMax: 0,
    takesRest: true,
    options: [
      "sandbox",
      "require",
      "mcp",
      "workspace",
      "read-only",
      "review",
      "read",
      "write",
      "host-port",
      "model-host",
      "memory",
      "private-home",
      "user",
      "env",
      "unix-sockets",
      "dns",
      "openclaw-user",
      "config",
      "agent",
      "key-file",
    ],
    details: [
      "The command runs in a sandbox (docs/how-to/sandbox.md) whose only way out is the gate: its HTTP requests go to the HTTP proxy, its MCP client starts `acp-mcp-bridge` and gets the servers of config.yml. The policy judges both, and where it asks, a person answers in `acp approve`, in another terminal; never in the command's own.",
      "Before the command starts, the sandbox is tried from inside. It never becomes a weaker one than asked for: without --sandbox and --require it is the better of namespace and landlock, or nothing runs. --sandbox preload and --sandbox env hold nobody who resists; what they are is said at the start and stands in every event of the log.",
      "In namespace and landlock the command sees its workspace, what --read names and the system's programs, has a home and a temporary directory of its own, and does not see the home of acp. A command that is installed elsewhere, as in your home, is refused with the --read that it needs. A workspace that holds that is refused by every sandbox.",
      "In namespace, what other programs run by themselves stays read-only in the workspace: Git's hooks and configuration, settings of editors, shells, package managers and coding agents. --write names exceptions, as --write .vscode,.git/config. What the command makes anew of these gets another name when it has ended (.npmrc.set-aside).",
      "With --review, in namespace, nothing that the command writes reaches the workspace: it sees an overlay, and at its end, or at any time with acp review, you see what is different and take all, some or none of it. Sources and scripts that you run later are protected by this alone.",
      "In namespace, localhost is the command's own: its servers are there, and services of this machine are not. --host-port 5432 opens one of them under the same number, unseen by the gate; never ACP's own or a container engine's. acp pause cuts it.",
      "The home inside is the command's own and is gone when it ends. --private-home NAME keeps it in ACP's home, for each command that is started with this name: logins, histories, caches. What is in it runs in a sandbox only.",
      "Memory is limited to 4 GiB for all processes together where this host has a control group for it: as root usually, as a plain user where systemd delegates one. --memory 8g is another size. Where there is no such group, memory is not limited unless --memory names a size, which then holds for each process (RLIMIT_DATA); programs that reserve much more than they use, such as those built with sanitizers, do not start below it.",
      "Agents give up while their first connection waits for a person. Where the policy asks about the host of the command's model, known by the keys that --env names, by the name of the command or from --model-host, it is asked before the command starts, and the yes may cover that host for 12 hours.",
      "Of the environment it gets PATH, a terminal's, a language's and a time zone's variables, and those that --env names.",
      "With --mcp stdio the command is an MCP client: it is started with pipes, and its standard input and output are MCP's.",
      "Standard streams, terminal and signals are the command's. So is the exit code: 128 and the signal's number where a signal ended it. What fails on our side is 125. Where standard error is a terminal, what was refused stands in the log alone: `acp audit show --follow`.",
    ],
    examples: [
      "acp run -- node agent.mjs",
      "acp run --require full --workspace ./project --read-only -- npx some-agent",
      "acp run --mcp stdio --env OPENAI_API_KEY -- python agent.py",
      "acp run --sandbox uid --user agent -- ./agent",
    ],
    exits: ["not_runnable", "not_found"],
    failure: "not_run",
    load: async () => (await import("../commands/run.js")).run,
  },
  {
    name: "sandbox probe",
    summary: "Say what each sandbox can enforce on this host",
    usage: "",
    operandsMax: 0,
    takesRest: false,
    options: ["user"],
    details: [
      "Tries each sandbox of `acp run` and says of every way out whether it is closed: enforced, partial or none, with the reason and what would mend it. Exits with 0 where one of them holds (level full, uid or partial).",
    ],
    examples: ["acp sandbox probe", "acp sandbox probe --json"],
    exits: ["nothing"],
    load: async () => (await import("../commands/sandbox-probe.js")).sandboxProbe,
  },
];
