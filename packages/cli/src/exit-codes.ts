/**
 * Exit codes: one row each. Codes are API; docs/reference/cli.md comes from this table.
 */
import type { ConsentErrorCode } from "@acp/core";

/** How a command ended; {@link EXIT_CODES} has the exit code. */
export type Exit =
  | "ok"
  | "failed"
  | "usage"
  | "invalid"
  | "audit"
  | "nothing"
  | "unproven"
  | "review"
  | "dangerous"
  | "not_run"
  | "not_runnable"
  | "not_found";

/** The exit code of each end, and its meaning. */
export const EXIT_CODES: Readonly<
  Record<Exit, { readonly code: number; readonly meaning: string }>
> = {
  ok: {
    code: 0,
    meaning:
      "Success. Also a normal end of `acp mcp` (the client closed the connection, or SIGINT or SIGTERM arrived) and of `acp approve`.",
  },
  failed: { code: 1, meaning: "The command failed, or an answer was refused." },
  usage: {
    code: 2,
    meaning:
      "The command line is invalid; the message says how to fix it. For `acp exec hook`: the call is blocked.",
  },
  invalid: {
    code: 3,
    meaning:
      "A policy, a configuration, the home, its keys or its vault is missing or does not load.",
  },
  audit: { code: 4, meaning: "An audit log is broken or missing, or cannot be written." },
  nothing: {
    code: 5,
    meaning:
      "Nothing to act on, for example no such question, no running gate, no such secret, or no sandbox that holds.",
  },
  unproven: { code: 6, meaning: "A proof is not valid." },
  review: {
    code: 7,
    meaning:
      "A person should look: at a command before it runs, or at what an MCP server presents.",
  },
  dangerous: { code: 8, meaning: "The command is destructive or hostile." },
  not_run: {
    code: 125,
    meaning:
      "For `acp run`: ACP itself failed, whatever the reason. The agent did not start, or its end could not be recorded.",
  },
  not_runnable: {
    code: 126,
    meaning: "For `acp run`: the command exists in the sandbox but cannot be run.",
  },
  not_found: { code: 127, meaning: "For `acp run`: the command does not exist in the sandbox." },
};

const EXIT_OF: Partial<Record<ConsentErrorCode, Exit>> = {
  options_invalid: "usage",
  action_invalid: "usage",
  host_invalid: "usage",
  json_invalid: "usage",
  json_lone_surrogate: "usage",
  json_duplicate_key: "usage",
  json_unsafe_integer: "usage",
  json_too_deep: "usage",
  json_too_large: "usage",
  policy_invalid: "invalid",
  config_invalid: "invalid",
  home_invalid: "invalid",
  vault_invalid: "invalid",
  key_locked: "invalid",
  key_rejected: "invalid",
  secret_invalid: "usage",
  audit_failed: "audit",
  audit_busy: "audit",
};

/** The exit for an error code. */
export function exitOf(code: ConsentErrorCode): Exit {
  return EXIT_OF[code] ?? "failed";
}
