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
  | "once"
  | "approve"
  | "deny"
  | "reason"
  | "args"
  | "tool"
  | "http"
  | "shell"
  | "action"
  | "limit";

/** Every option of every command. */
export const OPTIONS: Readonly<Record<OptionName, Option>> = {
  help: { summary: "Show what a command does, and end (-h)" },
  version: { summary: "Show the version, and end" },
  json: { summary: "Print JSON for programs" },
  home: { value: "DIR", summary: "The home directory; without it ACP_HOME, else ~/.acp" },
  config: { value: "FILE", summary: "Read this configuration instead of the home's config.yml" },
  server: { value: "NAME", summary: "What the policy calls the server after -- (default)" },
  agent: { value: "NAME", summary: "The agent's id in policy, questions and log (mcp-client)" },
  tty: { summary: "Ask on the controlling terminal too; only where the MCP client does not draw on it" },
  off: { summary: "End the pause" },
  once: { value: "ID", summary: "Answer this one question and end" },
  approve: { summary: "With --once: say yes" },
  deny: { summary: "With --once: say no" },
  reason: { value: "TEXT", summary: "With --once: why; the agent reads it" },
  args: { value: "JSON", summary: "With --tool: the arguments ({})" },
  tool: { value: "SERVER.TOOL", summary: "Explain a tool call" },
  http: { value: '"METHOD URL"', summary: "Explain an HTTP request" },
  shell: { value: "COMMAND", summary: "Explain a shell command" },
  action: { value: "FILE", summary: "Explain an Action as JSON (spec/action.md); - is standard input" },
  limit: { value: "N", summary: "Show the last N events (20); 0 shows all" },
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
