/**
 * Authorization: credentials of a remote server that change while it is used, such as a token that
 * is renewed. They are added on the way out, after the gate released a call, to requests of the
 * server's own origin alone, and taken out of everything that the server says. Format:
 * spec/mcp-proxy.md §19.
 */
import type { Agent, ConsentGate, Masker } from "@acp/core";
import { asError, isConsentError } from "@acp/core";
import { maskLine } from "../mask-line.js";
import { unmaskable } from "../masks.js";
import { errorLine } from "../rpc.js";
import { exchange } from "./exchange.js";
import { orEnd } from "./or-end.js";
import type { Exchanged, ExchangeParts } from "./exchange.js";
import { readMessage } from "./read-message.js";
import type { RemoteHandlers } from "./remote-handlers.js";

/** Credentials of a remote server that change while it is used. */
export interface RemoteAuthorization {
  /**
   * The `authorization` header of a request; `undefined` where there is none to send.
   *
   * @param url - Where the request goes.
   * @throws ConsentError where the credentials cannot be had now; the request is not sent.
   */
  header(url: URL): Promise<string | undefined>;
  /** The server refused a request, and did nothing. */
  refused(refusal: AuthorizationRefusal): Promise<AuthorizationAnswer>;
  /** Takes what was sent out of what the server says; `undefined` where nothing was sent. */
  masker(): Masker | undefined;
  /**
   * The same credentials for the calls of one agent, whom people are then told of. Absent: who calls
   * makes no difference.
   */
  as?(caller: AuthorizationCaller): RemoteAuthorization;
}

/** Whose calls are refused, and who judges them. */
export interface AuthorizationCaller {
  /** Its calls need the credentials; people are asked about it, by its id. */
  readonly agent: Agent;
  /** What judges that agent, and asks people about it. */
  readonly gate: ConsentGate;
}

/** What a server answered instead of doing something. */
export interface AuthorizationRefusal {
  /** 401: without credentials, or with some that do not count. 403: with too few rights. */
  readonly status: 401 | 403;
  /** The header `www-authenticate`. */
  readonly challenge: string | undefined;
  /** The header `authorization` that the request had. */
  readonly sent: string | undefined;
}

/**
 * What is done about it: `again`, the request is sent once more; `pass`, the server's answer is the
 * client's; or why the request was not made.
 */
export type AuthorizationAnswer =
  | "again"
  | "pass"
  | { readonly code: string; readonly message: string };

/** A request that was not made for want of credentials. */
export class AuthorizationError extends Error {
  override readonly name = "AuthorizationError";
  /** Stable: a code of spec/mcp-proxy.md §19. */
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

/** A request is sent so many times, each with other credentials. */
const TRIES_MAX = 2;

/**
 * Sends a request with the credentials of now.
 *
 * @throws AuthorizationError where there are none that the server takes; what {@link exchange}
 *   throws.
 */
export async function exchangeAuthorized(
  authorization: RemoteAuthorization | undefined,
  url: URL,
  parts: ExchangeParts,
): Promise<Exchanged> {
  if (authorization === undefined) return exchange(url, parts);
  for (let tries = 1; ; tries++) {
    const sent = await orProblem(authorization.header(url), parts.signal);
    const headers = { ...parts.headers, ...(sent !== undefined && { authorization: sent }) };
    const response = await exchange(url, { ...parts, headers });
    const { status } = response;
    if (status !== 401 && status !== 403) return response;
    const challenge = response.headers["www-authenticate"];
    const refused = authorization.refused({ status, challenge, sent });
    const answer = await orProblem(refused, parts.signal);
    if (answer === "pass") return response;
    response.body.destroy();
    if (answer !== "again") throw new AuthorizationError(answer.code, answer.message);
    if (tries >= TRIES_MAX)
      throw new AuthorizationError(
        "authorization_refused",
        "The server refuses the token that it was just given; nothing was done",
      );
  }
}

/** Who takes a request back does not wait for its credentials. */
async function orProblem<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  try {
    return await orEnd(work, signal);
  } catch (error) {
    if (signal.aborted) throw error;
    const code = isConsentError(error) ? error.code : "authorization_unavailable";
    throw new AuthorizationError(code, `${asError(error).message}; nothing was sent`);
  }
}

/** What a server says, without the credentials that it was sent. */
export function maskedHandlers(
  server: string,
  authorization: RemoteAuthorization,
  on: RemoteHandlers,
): RemoteHandlers {
  const masked = (text: string): string => {
    const masker = authorization.masker();
    if (masker === undefined) return text;
    return Buffer.concat([masker.push(Buffer.from(text)), masker.end()]).toString("utf8");
  };
  return {
    ...on,
    say(line) {
      const masker = authorization.masker();
      const said = masker === undefined ? line : maskLine(line, masker, () => false);
      if (said !== undefined) return on.say(said);
      const { id, isRequest } = readMessage(line);
      on.log(unmaskable(server).message);
      return id === undefined || isRequest ? undefined : on.say(errorLine(id, unmaskable(server)));
    },
    log: (line) => on.log(masked(line)),
    lost: (reason) => on.lost(masked(reason)),
  };
}
