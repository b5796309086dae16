/** Read body: the one message of a request, as the line that the proxy takes. */
import type { IncomingMessage } from "node:http";
import { readClientLine } from "../message.js";
import type { ClientMessage } from "../message.js";
import { oneLine } from "../one-line.js";
import { PARSE_ERROR } from "../rpc.js";
import type { RpcId } from "../rpc.js";
import {
  BODY_BYTES_MAX,
  BODY_MS_MAX,
  READING_BYTES_MAX,
  READING_OF_CLIENT_BYTES_MAX,
  SMALL_BODY_BYTES_MAX,
} from "./limits.js";
import type { Refusal } from "./refusal.js";

/** A message that may pass, or why it may not and whom to tell. */
export type ReadBody =
  | { readonly message: Exclude<ClientMessage, { kind: "refused" }> }
  | { readonly refusal: Refusal; readonly id?: RpcId | undefined };

/** Reads bodies; what those of one client and all of them have so far is bounded. */
export interface BodyReader {
  /**
   * Resolves with nothing where the connection ends first.
   *
   * @param key - Whose it is.
   */
  read(request: IncomingMessage, key: string): Promise<ReadBody | undefined>;
}

/** How much of bodies there may be at a time, in bytes. */
export interface BodyLimits {
  readonly body: number;
  /** Bodies up to here are always read: their number is bounded. */
  readonly small: number;
  readonly client: number;
  readonly all: number;
}

const LIMITS: BodyLimits = {
  body: BODY_BYTES_MAX,
  small: SMALL_BODY_BYTES_MAX,
  client: READING_OF_CLIENT_BYTES_MAX,
  all: READING_BYTES_MAX,
};

/** Reads no body yet. */
export function createBodyReader(limits: BodyLimits = LIMITS): BodyReader {
  let all = 0;
  const ofClients = new Map<string, number>();
  const count = (key: string, bytes: number): number => {
    all += bytes;
    const client = (ofClients.get(key) ?? 0) + bytes;
    if (client === 0) ofClients.delete(key);
    else ofClients.set(key, client);
    return client;
  };
  return {
    async read(request, key) {
      const tooLong: ReadBody = {
        refusal: { status: 413, reason: `its body has more than ${limits.body} bytes` },
      };
      let own = 0;
      const take = (bytes: number): ReadBody | undefined => {
        own += bytes;
        const client = count(key, bytes);
        if (own > limits.body) return tooLong;
        const reason = "too many bodies are being read";
        const isFull = own > limits.small && (client > limits.client || all > limits.all);
        return isFull
          ? { refusal: { status: 503, reason, headers: { "retry-after": "1" } } }
          : undefined;
      };
      try {
        const body = await whole(request, take);
        return Buffer.isBuffer(body) ? readMessage(body) : body;
      } finally {
        count(key, -own);
      }
    },
  };
}

function whole(
  request: IncomingMessage,
  take: (bytes: number) => ReadBody | undefined,
): Promise<Buffer | ReadBody | undefined> {
  const chunks: Buffer[] = [];
  return new Promise((resolve) => {
    const late = setTimeout(
      () => done({ refusal: { status: 408, reason: "its body did not come in time" } }),
      BODY_MS_MAX,
    );
    late.unref();
    const onData = (chunk: Buffer): void => {
      const refusal = take(chunk.length);
      if (refusal !== undefined) return done(refusal);
      chunks.push(chunk);
    };
    function done(result: Buffer | ReadBody | undefined): void {
      clearTimeout(late);
      request.off("data", onData);
      resolve(result);
    }
    request.on("data", onData);
    request.once("end", () => done(Buffer.concat(chunks)));
    request.once("close", () => done(undefined));
    request.once("error", () => done(undefined));
  });
}

/** Reads one message. Exported for tests. */
export function readMessage(body: Buffer): ReadBody {
  // A line break inside a text is no JSON, and would be, as a space.
  if (hasBreaks(body) && !isJson(body))
    return refusalOf({ id: undefined, code: PARSE_ERROR, reason: "it is not one JSON value" });
  const message = readClientLine(oneLine(body));
  if (message === undefined)
    return refusalOf({ id: undefined, code: PARSE_ERROR, reason: "its body is empty" });
  return message.kind === "refused" ? refusalOf(message) : { message };
}

const hasBreaks = (body: Buffer): boolean => body.includes(0x0a) || body.includes(0x0d);

function isJson(body: Buffer): boolean {
  try {
    JSON.parse(body.toString("utf8"));
    return true;
  } catch {
    return false;
  }
}

const refusalOf = ({
  id,
  code,
  reason,
}: {
  readonly id: RpcId | undefined;
  readonly code: number;
  readonly reason: string;
}): ReadBody => ({ refusal: { status: 400, code, reason }, id });
