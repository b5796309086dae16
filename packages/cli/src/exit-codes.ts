/**
 * Exit codes: one row each. Codes are API; docs/reference/cli.md is made from this table.
 */
import type { ConsentErrorCode } from "@acp/core";

/** What a command reports when it ends. */
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

/** The number and the meaning of every exit. */
export const EXIT_CODES: Readonly<Record<Exit, { readonly code: number; readonly meaning: string }>> = {
  ok: { code: 0, meaning: "Done. Also a normal end of `acp mcp` (the client closed, or SIGINT or SIGTERM came) and of `acp approve`." },
  failed: { code: 1, meaning: "The command could not do its work, or an answer was refused." },
  usage: { code: 2, meaning: "The command line is wrong; the message says how to mend it. Of `acp exec hook`: the call is blocked." },
  invalid: { code: 3, meaning: "A policy, a configuration, the home, its keys or its vault are missing or do not load." },
  audit: { code: 4, meaning: "An audit log is broken, missing, or cannot be kept." },
  nothing: { code: 5, meaning: "There is nothing to act on: no such question, no running gate, no such secret, no sandbox that holds." },
  unproven: { code: 6, meaning: "A proof does not hold." },
  review: { code: 7, meaning: "A person should see the command before it runs." },
  dangerous: { code: 8, meaning: "The command is destructive or hostile." },
  not_run: {
    code: 125,
    meaning: "Of `acp run`: it failed itself, whatever the reason; the agent did not start, or its end could not be recorded.",
  },
  not_runnable: { code: 126, meaning: "Of `acp run`: there is such a command inside, and it cannot be run." },
  not_found: { code: 127, meaning: "Of `acp run`: there is no such command inside." },
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

/** The exit that an error code leads to. */
export function exitOf(code: ConsentErrorCode): Exit {
  return EXIT_OF[code] ?? "failed";
}
