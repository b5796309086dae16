/**
 * Open a tunnel: CONNECT through a proxy. It waits as long as the proxy does, because a person may
 * be asked.
 */
import { request } from "node:http";
import type { IncomingMessage } from "node:http";
import { connect } from "node:net";
import type { Duplex } from "node:stream";
import type { Proxy, Target } from "./environment.js";

const BODY_BYTES_MAX = 65_536;

/** Why there is no tunnel. */
export interface TunnelRefused extends Error {
  readonly code: "tunnel_refused";
  readonly status: number;
  /** What the proxy says (spec/http-proxy.md §7); empty where that is something else. */
  readonly refusal: Readonly<Record<string, unknown>>;
}

/** `host:port` as CONNECT sends it. */
export function authorityOf({ host, port }: Pick<Target, "host" | "port">): string {
  return `${host.includes(":") ? `[${host}]` : host}:${port}`;
}

/**
 * Opens a tunnel to the target.
 *
 * @param signal - Aborts when nobody wants it any more: its connection goes, and with it the
 *   question about it.
 * @throws TunnelRefused where the proxy says no; what the socket says where it cannot be reached.
 */
export function openTunnel(proxy: Proxy, target: Target, signal?: AbortSignal): Promise<Duplex> {
  const authority = authorityOf(target);
  return new Promise((resolve, reject) => {
    const asked = request({
      method: "CONNECT",
      path: authority,
      headers: {
        host: authority,
        ...(proxy.authorization !== undefined && { "proxy-authorization": proxy.authorization }),
      },
      // Without an agent: those of this process go through here.
      createConnection: () => connect({ host: proxy.host, port: proxy.port }),
    });
    const onAbort = (): unknown => {
      // A proxy takes a mere end for one that still waits for its answer.
      asked.socket?.resetAndDestroy();
      return asked.destroy(new Error("the request for the tunnel was canceled"));
    };
    signal?.addEventListener("abort", onAbort, { once: true });
    asked.on("error", reject);
    asked.on("connect", (answer, socket, head) => {
      signal?.removeEventListener("abort", onAbort);
      if (answer.statusCode === 200) {
        if (head.length > 0) socket.unshift(head);
        resolve(socket);
      } else
        void readBody(answer, socket, head).then((body) =>
          reject(refused(authority, answer.statusCode ?? 0, body)),
        );
    });
    asked.end();
    if (signal?.aborted === true) onAbort();
  });
}

/** What stands after the head of an answer that is no tunnel. A connection that breaks ends it. */
async function readBody(
  { headers }: IncomingMessage,
  socket: Duplex,
  head: Buffer,
): Promise<string> {
  const wanted = Math.min(Number(headers["content-length"] ?? BODY_BYTES_MAX), BODY_BYTES_MAX);
  let body = head;
  // Leaving the loop ends the connection.
  try {
    if (body.length < wanted)
      for await (const chunk of socket) {
        body = Buffer.concat([body, chunk]);
        if (body.length >= wanted) break;
      }
  } catch {
    // What came is what there is.
  }
  socket.destroy();
  return body.toString("utf8", 0, wanted);
}

function refused(authority: string, status: number, body: string): TunnelRefused {
  const refusal = parsed(body);
  const { code, reason, remedy } = refusal;
  const why = [code, reason, remedy].filter((each) => typeof each === "string").join("; ");
  const error = new Error(
    `Cannot open a tunnel to "${authority}": the proxy says ${status}${why === "" ? "" : ` ${why}`}`,
  );
  return Object.assign(error, { code: "tunnel_refused", status, refusal } as const);
}

function parsed(body: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(body);
    const error: unknown =
      typeof value === "object" && value !== null && "error" in value ? value.error : undefined;
    return typeof error === "object" && error !== null ? { ...error } : {};
  } catch {
    return {};
  }
}
