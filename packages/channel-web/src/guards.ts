/**
 * Guards: what holds for every request, whoever sends it: the inbox's own name, its own page, its own key. Format: spec/web-inbox.md §1.
 */
import type { Settings } from "./options.js";
import { refuse } from "./reply.js";

const CHANGING: readonly string[] = ["POST", "DELETE"];

/** Whether a method changes something. */
export const isChanging = (method: string): boolean => CHANGING.includes(method);

/** A name that resolves here does not make a page elsewhere ours (DNS rebinding). */
export function refuseHost({ host }: Pick<Settings, "host">, request: Request, url: URL): Response | undefined {
  const named = request.headers.get("host") ?? url.host;
  return named.toLowerCase() === host ? undefined : refuse("host_unknown");
}

/** A request for `/api/` comes from our own page, and what a form or an image can send is not enough to change something. */
export function refuseOrigin({ origin }: Pick<Settings, "origin">, { method, headers }: Request): Response | undefined {
  const site = headers.get("sec-fetch-site");
  if (site !== null && site !== "same-origin" && site !== "none") return refuse("origin_refused");
  const from = headers.get("origin");
  if (!isChanging(method)) return from === null || from === origin ? undefined : refuse("origin_refused");
  const isJson = /^application\/json(?:;\s*charset=utf-8)?$/i.test(headers.get("content-type") ?? "");
  return from === origin && isJson && headers.has("x-acp-inbox") ? undefined : refuse("origin_refused");
}
