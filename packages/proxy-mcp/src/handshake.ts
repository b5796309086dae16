/**
 * Handshake with several servers: one `initialize` of the client becomes one for each, and their
 * answers become one.
 */
import { RequestError } from "./failure.js";
import { replaceValues } from "./json-walk.js";
import { askFor } from "./many-state.js";
import type { ManyState, OpenRequest } from "./many-state.js";
import { mergeInitialize } from "./merge.js";
import type { InitializeAnswer } from "./merge.js";
import { isRecord, resultOf } from "./message.js";
import type { ClientRequest } from "./message.js";
import { mayInstruct } from "./pins/instructions.js";
import { answerWithin } from "./peer.js";
import type { Peer } from "./peer.js";
import { INTERNAL_ERROR, INVALID_PARAMS, INVALID_REQUEST } from "./rpc.js";

interface Greeted extends InitializeAnswer {
  readonly peer: Peer;
  readonly version: string;
}

/**
 * The result for the client. A server that fails is left out and named in the instructions; all of
 * them failing is an error.
 *
 * @throws RequestError
 */
export async function handshake(
  state: ManyState,
  request: ClientRequest,
  open: OpenRequest,
): Promise<object> {
  if (state.greeted)
    throw new RequestError({
      code: INVALID_REQUEST,
      message: "Cannot initialize: the connection is initialized already",
    });
  const answers = await greetAll(state, state.peers, { request, open });
  const lowest = answers.map(({ version }) => version).sort()[0];
  // Servers speak one version each from their first answer on, so those that answered a higher one
  // start anew.
  const higher = answers.filter(({ version }) => version !== lowest).map(({ peer }) => peer);
  await Promise.all(higher.map((peer) => peer.restart()));
  const lowered =
    higher.length === 0 ? [] : await greetAll(state, higher, { request, open, version: lowest });
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
  const failures = state.peers.flatMap(({ failure }) =>
    failure === undefined ? [] : [failure.reason],
  );
  if (agreed.length === 0)
    throw new RequestError({
      code: INTERNAL_ERROR,
      message: failures.join("; "),
      data: { code: "server_unavailable" },
    });
  for (const { peer, result } of agreed)
    peer.capabilities = isRecord(result.capabilities) ? result.capabilities : {};
  state.greeted = true;
  return mergeInitialize(
    await Promise.all(agreed.map((each) => readable(state, each))),
    failures.map((reason) => `${reason}; its tools are missing.`),
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

interface Greeting {
  readonly request: ClientRequest;
  readonly open: OpenRequest;
  /** The version to ask for instead of the client's. */
  readonly version?: string | undefined;
}

async function greetAll(
  state: ManyState,
  peers: readonly Peer[],
  greeting: Greeting,
): Promise<readonly Greeted[]> {
  const answers = await Promise.all(peers.map((peer) => greet(state, peer, greeting)));
  return answers.filter((answer) => answer !== undefined);
}

async function greet(
  { parts }: ManyState,
  peer: Peer,
  { request, open, version }: Greeting,
): Promise<Greeted | undefined> {
  const versions =
    version === undefined ? [] : [{ path: ["params", "protocolVersion"], value: version }];
  const sent = askFor(open, peer, {
    build: (id) => replaceValues(request.line, [{ path: ["id"], value: id }, ...versions]),
  });
  let line: Buffer | undefined;
  try {
    line = await answerWithin(parts, sent.answer, parts.startTimeoutMs);
  } catch {
    return undefined; // told by the peer's failure
  }
  const server = peer.name;
  if (line === undefined)
    peer.giveUp(`Server "${server}" did not answer "initialize" within ${parts.startTimeoutMs} ms`);
  else {
    const result = resultOf(line);
    if (isRecord(result) && typeof result.protocolVersion === "string")
      return { peer, server, result, version: result.protocolVersion };
    peer.giveUp(`Server "${server}" refused "initialize"`);
  }
  return undefined;
}
