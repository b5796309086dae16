/**
 * Commands about shell commands: how risky one is, and what a coding agent is told. Rows of the table in commands.ts.
 */
import type { Command } from "../command.js";

/** `acp exec …`. */
export const EXEC_COMMANDS: readonly Command[] = [
  {
    name: "exec check",
    summary: "Say how risky a shell command is, and why",
    usage: "[COMMAND]",
    operandsMax: 1,
    takesRest: false,
    options: ["stdin", "cwd", "project", "profile"],
    details: [
      "Judges COMMAND as the exec layer does: safe, needs-review or dangerous, with every reason and its place in the text. Nothing is run, and no file of the project is read. COMMAND is one word for your own shell: put it in quotes.",
      "With --stdin it judges many: each line of standard input is a JSON text, or an object with `command` and, where it runs elsewhere, `cwd`. Each answer is one line of JSON, in the same order. A line that cannot be read is answered with `error`, the rest goes on, and the exit is 1; otherwise it is 0, whatever the answers.",
      "The answer is about bash, and about the text alone: what a script, a link or an alias does is not seen (docs/explanation/exec-safety.md).",
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
    options: ["project", "profile", "wait", "check", "resident"],
    details: [
      "A hook for coding agents: reads the event that the agent sends before it runs a command, and answers in the agent's own words: go on, ask the person, or do not. Without --profile what is safe goes on and a person is asked about everything else.",
      "With --wait the person is asked by ACP, as with acp mcp: acp approve, acp inbox, or what config.yml names; silence is a no. Without it the agent asks, and not every agent can.",
      "Events about other tools are answered with no decision. What cannot be read or judged is refused, with exit 2, which those agents take as a block. docs/how-to/exec-hooks.md says how each agent is wired, and what it does with the answer.",
      "Name the agent: without it the event has to tell who sent it.",
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
    load: async () => (await import("../commands/exec-hook.js")).createExecHook(EXEC_COMMANDS),
  },
];
