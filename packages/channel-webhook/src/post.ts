/**
 * Post: one POST to checked addresses. Follows no redirect, reads no more of a reply than its
 * limit, and only of a 2xx.
 */
import {
  type IncomingHttpHeaders,
  type IncomingMessage,
  type RequestOptions,
  Agent as HttpAgent,
  request as httpRequest,
} from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import { type LookupFunction, isIP } from "node:net";
import { RESPONSE_BYTES_MAX } from "@acp/core";
import type { Target } from "./target.js";

/** Connections to the receiver at once; what comes beyond waits its turn. */
const CONNECTIONS_MAX = 256;

/** What the receiver said. */
export interface Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /**
   * `undefined`: not read, because the status is no success or the body is longer than an answer
   * can be.
   */
  readonly body: Uint8Array | undefined;
}

/** One attempt. */
export interface PostParts {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  /** As checked; no other is connected to. */
  readonly addresses: readonly string[];
  readonly signal: AbortSignal;
}

/** Posts to one target. */
export type Post = (parts: PostParts) => Promise<Reply>;

const isSuccess = (status: number): boolean => status >= 200 && status <= 299;

/** A lookup that knows the addresses already, in both of the forms that sockets ask for. */
function pinned(addresses: readonly string[]): LookupFunction {
  const all = addresses.map((address) => ({ address, family: isIP(address) }));
  return (_host, options, callback) => {
    const [first] = all;
    if (first === undefined) callback(new Error("there is no address"), "");
    else if (options.all === true) callback(null, all);
    else callback(null, first.address, first.family);
  };
}

function readReply(response: IncomingMessage): Promise<Reply> {
  const { statusCode: status = 0, headers } = response;
  const reply = (body: Uint8Array | undefined): Reply => {
    response.destroy();
    return { status, headers, body };
  };
  if (!isSuccess(status)) return Promise.resolve(reply(undefined));
  return new Promise((resolve, reject) => {
    const chunks: Uint8Array[] = [];
    let bytes = 0;
    response.on("data", (chunk: Uint8Array) => {
      bytes += chunk.byteLength;
      if (bytes > RESPONSE_BYTES_MAX) resolve(reply(undefined));
      else chunks.push(chunk);
    });
    response.once("end", () => resolve(reply(Buffer.concat(chunks))));
    // A reply that breaks off is no reply: the attempt failed.
    response.on("error", reject);
  });
}

/**
 * Makes the poster for a target.
 *
 * @param ca - Authorities to trust instead of the system's, as PEM.
 */
export function createPost(target: Target, ca: string | undefined): Post {
  const { url, host, port } = target;
  const isHttps = url.protocol === "https:";
  const agent = isHttps
    ? new HttpsAgent({ maxSockets: CONNECTIONS_MAX })
    : new HttpAgent({ maxSockets: CONNECTIONS_MAX });
  return ({ headers, body, addresses, signal }) =>
    new Promise((resolve, reject) => {
      const options: RequestOptions = {
        method: "POST",
        host,
        port,
        path: `${url.pathname}${url.search}`,
        headers: {
          "content-type": "application/json; charset=utf-8",
          "content-length": body.byteLength,
          "accept-encoding": "identity",
          // A connection that is kept could be gone when it is used again; one for each attempt
          // fails when it is made.
          connection: "close",
          "user-agent": "acp-channel-webhook",
          ...headers,
        },
        agent,
        lookup: pinned(addresses),
        signal,
      };
      const request = isHttps
        ? httpsRequest({ ...options, ...(ca === undefined ? {} : { ca }) })
        : httpRequest(options);
      request.on("error", reject);
      request.once("response", (response) => void readReply(response).then(resolve, reject));
      request.end(body);
    });
}
