/**
 * HomePauses: agents paused from the inbox's page are paused in the home, where every gate of it
 * reads it, as `acp pause --agent` does it. The operator is the person whose home it is.
 */
import type { InboxPauses } from "@acp/channel-web";
import type { PausedEnd } from "@acp/core";
import { listPausedAgents, pauseAgent, resumeAgent } from "@acp/home";
import type { Home } from "@acp/home";

/** Where agents are paused, by whom, and how the running gates learn of it. */
export interface HomePausesParts {
  readonly home: Home;
  /** The approver id of the home's owner. */
  readonly operator: string;
  readonly endPaused: () => Promise<PausedEnd>;
}

/** The pauses of a home. */
export function homePauses({ home, operator, endPaused }: HomePausesParts): InboxPauses {
  return {
    operators: [operator],
    list: async () =>
      (await listPausedAgents(home, Date.now())).map(({ agent, until }) =>
        until === "until-off" ? { agent } : { agent, untilMs: until },
      ),
    // First the pause, so that nothing new is asked and no yes goes through; then the open
    // questions.
    async pause(agent) {
      await pauseAgent(home, agent, "until-off");
      return endPaused();
    },
    resume: (agent) => resumeAgent(home, agent),
  };
}
