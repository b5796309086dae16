/**
 * Handshake with several servers: one `initialize` of the client becomes one for each, and their
 * answers become one.
 */
import { RequestError } from "./failure.js";
import { greet, regreet } from "./greet.js";
import { createDeadline, declared, FAILED, joinLate, lateText } from "./late-servers.js";
import type { Deadline } from "./late-servers.js";
import { LATE_AFTER_MS } from "./limits.js";
import type { ManyState } from "./many-state.js";
import { mergeInitialize } from "./merge.js";
import type { InitializeAnswer } from "./merge.js";
import type { ClientRequest } from "./message.js";
import { isGone } from "./peer.js";
import { mayInstruct } from "./pins/instructions.js";
import { INTERNAL_ERROR, INVALID_PARAMS, INVALID_REQUEST } from "./rpc.js";

/**
 * The result for the client. A server that fails is left out and named in the instructions, as is
 * one that takes longer than the others; all of them failing is an error.
 *
 * @throws RequestError
 */
export async function handshake(
  state: ManyState,
  request: ClientRequest,
  lateAfterMs: number = LATE_AFTER_MS,
): Promise<object> {
  if (state.greeting !== undefined)
    throw new RequestError({
      code: INVALID_REQUEST,
      message: "Cannot initialize: the connection is initialized already",
    });
  const over = createDeadline(state.parts.clock, lateAfterMs);
  try {
    return await greetAll(state, request, over);
  } finally {
    over.end();
  }
}

async function greetAll(
  state: ManyState,
  request: ClientRequest,
  deadline: Deadline,
): Promise<object> {
  const first = await deadline.settled(
    state.peers.map((peer) => {
      const answer = greet(state, peer, { request });
      // The others have some time more from then on.
      void answer.then((greeted) => greeted !== undefined && deadline.begin());
      return { peer, answer };
    }),
  );
  const answers = first.values.filter((answer) => answer !== undefined);
  const lowest = answers.map(({ version }) => version).sort()[0];
  // Servers speak one version each from their first answer on, so those that answered a higher one
  // start anew.
  const higher = answers.filter(({ version }) => version !== lowest).map(({ peer }) => peer);
  const second = await deadline.settled(
    higher.map((peer) => ({ peer, answer: regreet(state, peer, { request, version: lowest }) })),
  );
  const lowered = second.values.filter((answer) => answer !== undefined);
  const late = [...first.late, ...second.late];
  const agreed = state.peers.flatMap((peer) =>
    [...lowered, ...answers.filter((each) => !higher.includes(each.peer))].filter(
      (each) => each.peer === peer,
    ),
  );
  if (agreed.some(({ version }) => version !== lowest)) {
    const versions = agreed
      .map(({ server, version }) => `"${server}" speaks ${version}`)
      .join(", ");
    throw new RequestError({
      code: INVALID_PARAMS,
      message: `Cannot initialize: the servers have no protocol version in common (${versions})`,
    });
  }
  const failed = state.peers.filter(isGone);
  const failures = failed.flatMap(({ failure }) => failure?.reason ?? []);
  if (agreed.length === 0 || lowest === undefined)
    throw new RequestError({
      code: INTERNAL_ERROR,
      message: failures.join("; "),
      data: { code: "server_unavailable" },
    });
  for (const { peer, result } of agreed) peer.join(result.capabilities);
  state.greeting = { request: { ...request, line: Buffer.from(request.line) }, version: lowest };
  state.isOpenEnded = late.length + failed.length > 0;
  for (const each of [...late, ...failed.map((peer) => ({ peer, answer: FAILED }))])
    void joinLate(state, each, state.greeting);
  return declared(
    mergeInitialize(await Promise.all(agreed.map((each) => readable(state, each))), [
      ...failures.map((reason) => `${reason}; its tools are listed once it is up.`),
      ...late.map(({ peer }) => lateText(peer.name)),
    ]),
    state.isOpenEnded,
  );
}

/** Without instructions that its client must not read. */
async function readable(
  { parts: { pins, log } }: ManyState,
  { server, result }: InitializeAnswer,
): Promise<InitializeAnswer> {
  const { instructions, ...rest } = result;
  const isReadable =
    typeof instructions !== "string" || (await mayInstruct({ server, pins, log }, instructions));
  return { server, result: isReadable ? result : rest };
}
