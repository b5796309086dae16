/**
 * Commands that judge shell commands, by themselves or for a coding agent. Rows of the table in
 * commands.ts.
 */
import type { Command } from "../command.js";

/** `acp exec …`. */
export const EXEC_COMMANDS: readonly Command[] = [
  {
    name: "exec check",
    summary: "Show how risky a shell command is, and why",
    usage: "[COMMAND]",
    operandsMax: 1,
    takesRest: false,
    options: ["stdin", "cwd", "project", "profile"],
    details: [
      "Judges COMMAND as the exec layer does: safe, needs-review or dangerous, with every reason " +
        "and its place in the text. It runs nothing and reads no file of the project. COMMAND is " +
        "a single argument, so put it in quotes.",
      "With --stdin it judges many commands. Each line of standard input is a JSON string, or an " +
        "object with `command` and, if the command runs elsewhere, `cwd`. Each answer is one " +
        "line of JSON, in the same order. A line that cannot be read gets an `error` answer and " +
        "the rest continue. The exit code is then 1; otherwise it is 0, whatever the answers " +
        "are.",
      "The answer is about bash, and about the text alone. It does not cover what a script, a " +
        "link or an alias does (docs/explanation/exec-safety.md).",
    ],
    examples: [
      "acp exec check 'git log --oneline | head'",
      "acp exec check 'rm -rf ~/Downloads' --json",
      "acp exec check --profile config.json 'pnpm install'",
      'printf \'%s\\n\' \'"ls"\' \'{"command":"make","cwd":"/src/app"}\' | acp exec check --stdin',
    ],
    exits: ["invalid", "review", "dangerous"],
    load: async () => (await import("../commands/exec-check.js")).execCheck,
  },
  {
    name: "exec hook",
    summary: "Judge the command that a coding agent is about to run",
    usage: "[claude-code|codex|gemini-cli|cursor]",
    operandsMax: 1,
    takesRest: false,
    options: ["project", "profile", "wait", "check"],
    details: [
      "A hook for coding agents. It reads the event that the agent sends before it runs a " +
        "command, and answers in the agent's own format: allow, ask or deny. Without --profile, " +
        "safe commands are allowed and a person is asked about all others.",
      "With --wait, ACP asks the person, as `acp mcp` does: in `acp approve`, `acp inbox`, or " +
        "the channels in config.yml. A question that nobody answers is denied. Without --wait " +
        "the agent itself asks, and not every agent can.",
      "Events about other tools get no decision. An event that cannot be read or judged is " +
        "refused with exit code 2, which these agents treat as a block. " +
        "docs/how-to/exec-hooks.md shows how to set up each agent, and what it does with the " +
        "answer.",
      "Name the agent. If you don't, the event itself must identify it.",
    ],
    examples: [
      "acp exec hook claude-code",
      "acp exec hook gemini-cli --wait 110",
      "acp exec hook --check codex",
      "acp exec hook codex --wait 110 --profile ~/.acp/agent-profiles/main/config.json",
      "acp exec hook cursor --project /src/app",
    ],
    exits: ["ok"],
    failure: "usage",
    load: async () => (await import("../commands/exec-hook.js")).execHook,
  },
];
