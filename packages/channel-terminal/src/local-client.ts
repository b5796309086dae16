/**
 * LocalClient: a board in this process as an ApproverClient, for the terminal front.
 */
import type { ApproverClient, QuestionChange } from "./approver-client.js";
import type { Board } from "./board.js";
import { createFeed } from "./feed.js";

/**
 * The client of a board in this process; its answers are those of the person at the terminal,
 * `local`.
 */
export function createLocalClient(board: Board): ApproverClient {
  const changes = createFeed<QuestionChange>();
  const stop = board.subscribe((change) => changes.push(change));
  const close = async (): Promise<void> => {
    stop();
    changes.end();
  };
  return {
    pending: () => board.pending(),
    changes,
    answer: (claim) => board.answer(claim, "local"),
    close,
    [Symbol.asyncDispose]: close,
  };
}
