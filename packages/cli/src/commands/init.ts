/**
 * `acp init`: makes the home with a commented config.yml and policy.yml. What exists stays.
 */
import { initHome } from "@acp/home";
import type { Run } from "../command.js";
import { homePath } from "../home-source.js";

/** Runs the command. */
export const init: Run = async (invocation) => {
  const { print } = invocation;
  const { home, created, existing } = await initHome(homePath(invocation));
  print.result({ home: home.dir, created, existing }, () => [
    ...created.map((path) => `${print.tone("green", "made")} ${path}`),
    ...existing.map((path) => `${print.tone("dim", "kept")} ${path}`),
    "",
    `Next: read ${home.policyPath}, then put \`acp mcp --\` before the command of an MCP server in your client's configuration,`,
    "and keep `acp approve` running in a second terminal.",
  ]);
  return "ok";
};
