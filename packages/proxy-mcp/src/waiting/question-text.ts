/**
 * Question text: what the user of a client reads about a call that waits for a person. It names the
 * server, the tool and the question, and never says what the call does: that stands on the page, for
 * those who sign in.
 */
import { escapeText } from "@acp/core";

/** A call that waits for a person. */
export interface WaitingCall {
  readonly server: string;
  /** The tool's name, which the server chose. */
  readonly tool: string;
  readonly requestId: string;
}

/** Characters of a tool's name. */
const NAME_CHARS_MAX = 128;

const nameOf = (tool: string): string => {
  const shown = escapeText(tool);
  return shown.length > NAME_CHARS_MAX ? `${shown.slice(0, NAME_CHARS_MAX)}…` : shown;
};

/** For whoever may open the page. */
export function describeQuestion({ server, tool, requestId }: WaitingCall): string {
  return `[acp] A person has to approve or deny the tool "${nameOf(tool)}" of server "${server}" before it runs. Open the approval inbox, sign in, and answer question ${requestId}. Opening the page approves nothing.`;
}

/** For a model, and for a person who looks over its shoulder. */
export function describeWait({ server, tool, requestId }: WaitingCall): string {
  return `Waiting for a person to answer ${requestId} (tool "${nameOf(tool)}" of server "${server}"), for example in the approval inbox (acp inbox) or with acp approve. Nothing has been executed yet`;
}
