/**
 * Commands that start agents so that they cannot bypass the gate. Rows of the table in commands.ts.
 */
import type { Command } from "../command.js";

/** `acp run` and `acp sandbox …`. */
export const SANDBOX_COMMANDS: readonly Command[] = [
  {
    name: "run",
    summary: "Run a command in a sandbox that can reach only the gate",
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
      "alone",
      "key-file",
    ],
    details: [
      "The command runs in a sandbox (docs/how-to/sandbox.md) whose only way out is the gate. " +
        "Its HTTP requests go to the HTTP proxy. Its MCP client starts `acp-mcp-bridge` and gets " +
        "the servers in config.yml. The policy judges both. Where it asks, a person answers in " +
        "`acp approve` in another terminal, never in the command's own.",
      "Before the command starts, the sandbox is tested from inside. ACP never falls back to a " +
        "weaker sandbox than you asked for. Without --sandbox and --require it uses the better " +
        "of namespace and landlock; if neither works, nothing runs. --sandbox preload and " +
        "--sandbox env do not hold a program that resists. The startup notice and every event in " +
        "the log say so.",
      "In namespace and landlock, the command sees its workspace, the paths in --read and the " +
        "system's programs. It has a home and a temporary directory of its own, and it does not " +
        "see ACP's home. A command installed elsewhere, for example in your home, is refused, " +
        "and the message shows the --read that it needs. Every sandbox refuses a workspace that " +
        "contains ACP's home.",
      "In namespace, files in the workspace that other programs run on their own stay read-only: " +
        "Git's hooks and configuration, and the settings of editors, shells, package managers " +
        "and coding agents. --write names exceptions, for example --write .vscode,.git/config. " +
        "If the command creates such a file, it is renamed when the command ends " +
        "(.npmrc.set-aside).",
      "With --review, in namespace, nothing that the command writes reaches the workspace. The " +
        "command sees an overlay. When it ends, or at any time with acp review, you see what " +
        "changed and take all, some or none of it. Only this protects sources and scripts that " +
        "you run later.",
      "In namespace, localhost belongs to the command: it reaches its own servers there, not the " +
        "services of this machine. --host-port 5432 opens one of those under the same number, " +
        "without the gate seeing the traffic. ACP's own ports and those of container engines " +
        "cannot be opened. acp pause cuts the connection.",
      "The home inside belongs to the command and is removed when the command ends. " +
        "--private-home NAME keeps it in ACP's home, for every command that you start with this " +
        "name: logins, histories, caches. What it contains runs in a sandbox only.",
      "Memory is limited to 4 GiB for all processes together if this host has a control group " +
        "for it, which is usual for root, and for a plain user if systemd delegates one. " +
        "--memory 8g sets another size. Without such a group, memory is not limited unless " +
        "--memory names a size, which then applies to each process (RLIMIT_DATA). With that " +
        "limit, programs that reserve much more memory than they use, such as those built with " +
        "sanitizers, do not start.",
      "Agents give up while their first connection waits for a person. If the policy asks about " +
        "the host of the command's model, ACP asks before the command starts, and the approval " +
        "may cover that host for 12 hours. ACP finds the host from the keys that --env names, " +
        "from the command's name, or from --model-host.",
      "Of your environment, the command gets only PATH, the terminal, language and time zone variables, and those that --env names.",
      "With --mcp stdio, the command is an MCP client. It is started with pipes, and its standard input and output carry MCP.",
      "The gate is in the resident process of the home, as for `acp mcp`, and starts the servers. " +
        "If it ends, connections break, the command goes on, and the next process serves new " +
        "connections. With --alone, or with ACP_ALONE=1, this command has a gate and a log of its " +
        "own; so it has, and says so, with --openclaw-user.",
      "If the home's key needs a passphrase and standard input is a terminal, it is asked for " +
        "before the command starts. Otherwise nothing starts until a person runs `acp unlock`.",
      "The standard streams, the terminal and signals belong to the command. So does the exit " +
        "code: 128 plus the signal number if a signal ended it. If ACP itself fails, the exit " +
        "code is 125. If standard error is a terminal, refusals appear only in the log: " +
        "`acp audit show --follow`.",
    ],
    examples: [
      "acp run -- node agent.mjs",
      "acp run --require full --workspace ./project --read-only -- npx some-agent",
      "acp run --mcp stdio --env OPENAI_API_KEY -- python agent.py",
      "acp run --sandbox uid --user agent -- ./agent",
      "acp run --alone -- node agent.mjs",
    ],
    exits: ["not_runnable", "not_found"],
    failure: "not_run",
    load: async () => (await import("../commands/run.js")).run,
  },
  {
    name: "sandbox probe",
    summary: "Show what each sandbox can enforce on this host",
    usage: "",
    operandsMax: 0,
    takesRest: false,
    options: ["user"],
    details: [
      "Tries each sandbox of `acp run` and reports for every way out whether it is closed: " +
        "enforced, partial or none, with the reason and how to fix it. The exit code is 0 if one " +
        "of them holds (level full, uid or partial).",
    ],
    examples: ["acp sandbox probe", "acp sandbox probe --json"],
    exits: ["nothing"],
    load: async () => (await import("../commands/sandbox-probe.js")).sandboxProbe,
  },
];
