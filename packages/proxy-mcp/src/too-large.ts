/**
 * Too large: what is done about a line of a server that is longer than a line may be. Rules:
 * spec/mcp-proxy.md §8.
 */
import type { OversizeLine } from "./framing.js";
import { idAtEdges } from "./message.js";
import { errorLine, INTERNAL_ERROR } from "./rpc.js";

/** A method among the first members: JSON-RPC has none in an answer. */
const METHOD_AT_START = /^\s*\{[^{}[\]]*"method"\s*:/;

/**
 * An answer becomes an error, which nobody gets where nobody waits for it; where nobody can be told,
 * the server is given up.
 *
 * @param answer - Takes the error in place of the answer.
 */
export function tooLarge(
  line: OversizeLine,
  server: { readonly name: string; giveUp(reason: string): void },
  answer: (line: Buffer) => void,
): void {
  const { name } = server;
  const message = `Server "${name}" sent a line that is too long`;
  const id = idAtEdges(line);
  // Its sender would wait for an answer that never comes.
  if (id === undefined || METHOD_AT_START.test(line.head.toString("latin1")))
    return server.giveUp(message);
  const data = { code: "answer_too_large", server: name };
  return answer(errorLine(id, { code: INTERNAL_ERROR, message, data }));
}
