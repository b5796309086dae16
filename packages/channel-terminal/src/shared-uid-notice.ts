/**
 * SharedUidNotice: what a gate must say where nothing but good manners keeps the agent from
 * answering for the person.
 */

/** The warning where agent and gate run as the same user: for stderr and for the log. */
export const sharedUidNotice: string =
  "The agent runs as the same user as the gate: it could reach the terminal and the approve socket and answer its own questions; run it as another user or in a sandbox to prevent that";
