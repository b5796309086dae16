/**
 * Guards: what holds for every request, whoever sends it: the inbox's own name, its own page, its
 * own key. Format: spec/web-inbox.md §1.
 */
import type { Settings } from "./options.js";
import { elsewhere, refuse } from "./reply.js";

const CHANGING: readonly string[] = ["POST", "DELETE"];

/** Whether a method changes something. */
export const isChanging = (method: string): boolean => CHANGING.includes(method);

const namedBy = (request: Request, url: URL): string =>
  (request.headers.get("host") ?? url.host).toLowerCase();

/** A name that resolves here does not make a page elsewhere ours (DNS rebinding). */
export function refuseHost(
  { host }: Pick<Settings, "host">,
  request: Request,
  url: URL,
): Response | undefined {
  const named = namedBy(request, url);
  if (named === host) return undefined;
  const isPage = request.method === "GET" && !url.pathname.startsWith("/api/");
  return isPage && isLoopbackName(named) ? elsewhere() : refuse("host_unknown");
}

/**
 * Whether the browser asks for the script of a service worker, at our own name or at one that this
 * machine's programs share: whoever held the port may have left one, and what it is answered takes
 * that one's place.
 */
export function asksForWorker(
  { host }: Pick<Settings, "host">,
  request: Request,
  url: URL,
): boolean {
  const named = namedBy(request, url);
  return (
    request.headers.get("service-worker") === "script" && (named === host || isLoopbackName(named))
  );
}

/** Whether a `Host` header names this machine to itself. */
function isLoopbackName(host: string): boolean {
  return /^(?:(?:[^:]+\.)?localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d+)?$/.test(host);
}

/**
 * A request for `/api/` comes from our own page, and what a form or an image can send is not enough
 * to change something.
 */
export function refuseOrigin(
  { origin }: Pick<Settings, "origin">,
  { method, headers }: Request,
): Response | undefined {
  const site = headers.get("sec-fetch-site");
  if (site !== null && site !== "same-origin" && site !== "none") return refuse("origin_refused");
  const from = headers.get("origin");
  if (!isChanging(method))
    return from === null || from === origin ? undefined : refuse("origin_refused");
  const isJson = /^application\/json(?:;\s*charset=utf-8)?$/i.test(
    headers.get("content-type") ?? "",
  );
  return from === origin && isJson && headers.has("x-acp-inbox")
    ? undefined
    : refuse("origin_refused");
}
