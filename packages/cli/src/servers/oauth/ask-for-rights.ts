/**
 * Ask for rights: a server says that its token lacks some, and a person is asked through the gate
 * whether it may have them. A yes gives nothing by itself: who agrees signs in again, at a terminal.
 * Nobody waits for the answer, since the call was refused already. Format: spec/mcp-proxy.md §19.
 */
import { toolAction } from "@acp/core";
import type { AuthorizationCaller } from "@acp/proxy-mcp";

/** Asks, once for each agent and set of rights. */
export interface RightsDesk {
  /**
   * Says what a person says about it, as a sentence with a blank before it; empty where nobody is
   * asked.
   *
   * @param scopes - What is lacking, as a shell takes it.
   * @param command - What a person runs who agrees.
   * @param caller - Whose call needs them: its gate is asked, as that agent.
   */
  ask(scopes: readonly string[], command: string, caller: AuthorizationCaller): string;
}

/** What asks. */
export interface RightsDeskParts {
  readonly server: string;
  readonly signal: AbortSignal;
}

/** No server tool can be called so, since a policy names it. */
const TOOL = "mcp:authorize";
/** Of one agent: a server could think of rights all day. */
const QUESTIONS_MAX = 3;

const TEXTS = {
  open: " A person is being asked.",
  agreed: " A person agreed.",
  denied: " A person, or the policy, denied that: do not try again.",
} as const;

/** The desk of one server, for the agents of one client. */
export function createRightsDesk({ server, signal }: RightsDeskParts): RightsDesk {
  const agents = new Map<string, Map<string, keyof typeof TEXTS>>();
  return {
    ask(scopes, command, { agent, gate }) {
      const answers = agents.get(agent.id) ?? new Map<string, keyof typeof TEXTS>();
      agents.set(agent.id, answers);
      const scope = [...scopes].sort().join(" ");
      const known = answers.get(scope);
      if (known !== undefined) return TEXTS[known];
      if (scope === "" || answers.size >= QUESTIONS_MAX) return "";
      answers.set(scope, "open");
      const action = toolAction(server, TOOL, { scope, sign_in: command });
      void gate
        .run(action, () => Promise.resolve(), { agent, signal })
        .then(({ ran }) => answers.set(scope, ran ? "agreed" : "denied"))
        // A gate that fails has said no.
        .catch(() => answers.set(scope, "denied"));
      return TEXTS.open;
    },
  };
}
