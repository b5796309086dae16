/** Greet: asks one of several servers for `initialize`, in the version that their client speaks. */
import { replaceValues } from "./json-walk.js";
import { greetingResult } from "./kept-session.js";
import type { Greeting, ManyState } from "./many-state.js";
import type { InitializeAnswer } from "./merge.js";
import { answerWithin } from "./peer.js";
import type { Peer } from "./peer.js";

/** A server's answer. */
export interface Greeted extends InitializeAnswer {
  readonly peer: Peer;
  readonly version: string;
}

/** Has a server start anew, and asks it for another version. */
export async function regreet(
  state: ManyState,
  peer: Peer,
  greeting: Greeting,
): Promise<Greeted | undefined> {
  await peer.restart();
  return greet(state, peer, greeting);
}

/** `undefined` where it failed; the peer has why. Never rejects. */
export async function greet(
  { parts }: ManyState,
  peer: Peer,
  { request, version }: Greeting,
): Promise<Greeted | undefined> {
  const versions =
    version === undefined ? [] : [{ path: ["params", "protocolVersion"], value: version }];
  const sent = peer.greet((id) =>
    replaceValues(request.line, [{ path: ["id"], value: id }, ...versions]),
  );
  let line: Buffer | undefined;
  try {
    line = await answerWithin(parts, sent.answer, peer.startTimeoutMs);
  } catch {
    return undefined; // told by the peer's failure
  }
  const server = peer.name;
  if (line === undefined)
    peer.giveUp(`Server "${server}" did not answer "initialize" within ${peer.startTimeoutMs} ms`);
  else {
    const answer = greetingResult(line);
    if (answer !== undefined) return { peer, server, ...answer };
    peer.giveUp(`Server "${server}" refused "initialize"`);
  }
  return undefined;
}
