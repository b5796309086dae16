/**
 * Guard: what a request must be before anybody looks whose it is. A page in a browser can send requests
 * to this machine, and a name that it controls may lead here: a request is for us only if it names this
 * machine and our port, and comes from no other page. Source: MCP 2025-11-25, "Security Warning".
 */
import type { IncomingMessage } from "node:http";
import type { Refusal } from "./refusal.js";

/** Where the listener's endpoints are. */
export type Route = "mcp" | "sse" | "messages";

/** What a request asks for, or why it is refused. */
export type Guarded = { readonly refusal: Refusal } | { readonly route: Route; readonly url: URL };

const METHODS: Readonly<Record<Route, readonly string[]>> = {
  mcp: ["POST", "GET", "DELETE"],
  sse: ["GET"],
  messages: ["POST"],
};
/** Each of these means one thing only if it stands there once. */
const ONCE: ReadonlySet<string> = new Set([
  "accept",
  "authorization",
  "content-length",
  "content-type",
  "host",
  "last-event-id",
  "mcp-method",
  "mcp-name",
  "mcp-protocol-version",
  "mcp-session-id",
  "origin",
  "transfer-encoding",
]);
const LOOPBACK = /^(?:localhost|127\.0\.0\.1|\[::1\])$/u;
/** What a name is made of, and perhaps a port. */
const AUTHORITY = /^([a-z0-9.-]+|\[::1\])(?::(\d{1,5}))?$/iu;

/**
 * Looks at the head of a request.
 *
 * @param port - Where the listener is reached; undefined while it is not known.
 */
export function guard(request: IncomingMessage, port: number | undefined): Guarded {
  const twice = repeated(request.rawHeaders);
  if (twice !== undefined) return refused(400, `the header "${twice}" stands there twice`);
  const { host = "", origin } = request.headers;
  if (!isOurs(host, port))
    return refused(403, "its Host is not this listener, as a name in a page's control would be");
  if (origin !== undefined && !isOwnOrigin(origin, port))
    return refused(403, "it comes from a page of another origin");
  const { url = "", method = "" } = request;
  if (!url.startsWith("/") || !URL.canParse(url, "http://localhost"))
    return refused(400, "its target is not a path");
  const target = new URL(url, "http://localhost");
  const route = target.pathname.slice(1);
  if (!isRoute(route)) return refused(404, "there is nothing at this path; the endpoint is /mcp");
  const allowed = METHODS[route];
  if (!allowed.includes(method))
    return {
      refusal: {
        status: 405,
        reason: `${method} is not served here`,
        headers: { allow: allowed.join(", ") },
      },
    };
  return { route, url: target };
}

/** Why a POST's body is not read. */
export function bodyRefusal({ headers }: IncomingMessage): Refusal | undefined {
  const type = headers["content-type"] ?? "";
  if (!/^application\/json\s*(?:;\s*charset\s*=\s*"?utf-8"?\s*)?$/iu.test(type))
    return { status: 415, reason: "its content-type is not application/json" };
  if ((headers["content-encoding"] ?? "identity") !== "identity")
    return { status: 415, reason: "its body is encoded" };
  return undefined;
}

/** Whether a client takes these types. */
export function accepts({ headers }: IncomingMessage, types: readonly string[]): boolean {
  const listed = (headers.accept ?? "")
    .split(",")
    .map((each) => each.split(";", 1)[0]?.trim().toLowerCase() ?? "");
  return types.every((type) =>
    listed.some((each) => each === type || each === "*/*" || each === `${type.split("/")[0]}/*`),
  );
}

const refused = (status: number, reason: string): Guarded => ({ refusal: { status, reason } });

const isRoute = (name: string): name is Route => Object.hasOwn(METHODS, name);

function repeated(rawHeaders: readonly string[]): string | undefined {
  const seen = new Set<string>();
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = (rawHeaders[at] ?? "").toLowerCase();
    if (seen.has(name) && ONCE.has(name)) return name;
    seen.add(name);
  }
  return undefined;
}

/** A Host without a port is one of port 80. */
function isOurs(authority: string, port: number | undefined): boolean {
  const [, name = "", written = "80"] = AUTHORITY.exec(authority) ?? [];
  return LOOPBACK.test(name.toLowerCase()) && port !== undefined && Number(written) === port;
}

function isOwnOrigin(origin: string, port: number | undefined): boolean {
  const prefix = "http://";
  return origin.startsWith(prefix) && isOurs(origin.slice(prefix.length), port);
}
