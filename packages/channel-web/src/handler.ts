/**
 * Handler: an inbox as a function from Request to Response. First the rules for every request, then
 * who is signed in, then the body, then the route. Never rejects. Format: spec/web-inbox.md.
 */
import { type JsonObject, asError, isConsentError, isJsonObject, parseJson } from "@acp/core";
import { ANSWER_ROUTES } from "./answers.js";
import { BATCH_ROUTES } from "./batch.js";
import { readBody } from "./body.js";
import { ENROL_ROUTES } from "./enrol.js";
import type { Files } from "./files.js";
import { asksForWorker, refuseHost, refuseOrigin } from "./guards.js";
import { OUTCOME_ROUTES } from "./outcomes.js";
import { PAUSE_ROUTES } from "./pauses.js";
import { PREPARE_ROUTES } from "./prepare.js";
import { READING_ROUTES } from "./reading.js";
import { refuse } from "./reply.js";
import { REVIEW_ROUTES } from "./reviews.js";
import type { InboxParts, Route } from "./routes.js";
import { type Session, hasKey } from "./session.js";
import { SIGN_IN_ROUTES } from "./sign-in.js";

const ROUTES: readonly Route[] = [
  ...SIGN_IN_ROUTES,
  ...READING_ROUTES,
  ...PREPARE_ROUTES,
  ...ANSWER_ROUTES,
  ...BATCH_ROUTES,
  ...OUTCOME_ROUTES,
  ...ENROL_ROUTES,
  ...PAUSE_ROUTES,
  ...REVIEW_ROUTES,
];
/** Bytes of a body: an answer with the largest edit. */
const BODY_BYTES_MAX: number = 1024 * 1024;
/** Bytes of a body from somebody whom nobody knows. */
const OPEN_BODY_BYTES_MAX: number = 16 * 1024;

/**
 * The only service worker that this server has: it ends itself, and with it whatever stood there.
 */
const WORKER = "/sw.js";

/** What the handler needs. */
export interface HandlerParts {
  readonly parts: InboxParts;
  readonly files: Files;
  readonly isClosed: () => boolean;
}

/** A route that a path leads to. */
interface Found {
  readonly route: Route;
  readonly id: string;
}

function match(route: Route, path: string): Found | undefined {
  if (!route.path.endsWith("/:id")) return route.path === path ? { route, id: "" } : undefined;
  const base = route.path.slice(0, -":id".length);
  const id = path.startsWith(base) ? path.slice(base.length) : "";
  // Ids are base64url: nothing in them is written with a percent sign.
  return /^[\w-]{1,1400}$/.test(id) ? { route, id } : undefined;
}

function find(method: string, path: string): Found | Response {
  const found = ROUTES.flatMap((route) => match(route, path) ?? []);
  const allow = [...new Set(found.map(({ route }) => route.method))].join(", ");
  if (found.length === 0) return refuse("not_found");
  return (
    found.find(({ route }) => route.method === method) ??
    refuse("method_not_allowed", { headers: { allow } })
  );
}

/** Whether a session holds: a passkey that was revoked since ends what it signed in to. */
export async function sessionHolds(
  { sessions, keyring }: Pick<InboxParts, "sessions" | "keyring">,
  session: Session,
): Promise<boolean> {
  if (!sessions.holds(session)) return false;
  const { passkeyId, person } = session;
  if (
    passkeyId === undefined ||
    (await keyring.usable(person.approver)).some(({ id }) => id === passkeyId)
  )
    return sessions.holds(session);
  sessions.end(session);
  return false;
}

async function readJson(request: Request, bytesMax: number): Promise<JsonObject | Response> {
  if (request.bodyUsed)
    return refuse("body_invalid", {
      message: "the body was read before: mount the inbox before body parsers",
    });
  try {
    const bytes = await readBody(request, bytesMax);
    if (bytes === undefined) return refuse("body_too_large");
    const body = parseJson(bytes, { bytesMax });
    return isJsonObject(body) ? body : refuse("body_invalid");
  } catch (error) {
    return refuse("body_invalid", isConsentError(error) ? { message: error.message } : {});
  }
}

async function call(parts: InboxParts, request: Request, url: URL): Promise<Response> {
  const found = find(request.method, url.pathname);
  if (found instanceof Response) return found;
  const refusal = refuseOrigin(parts.settings, request);
  if (refusal !== undefined) return refusal;
  const { route, id } = found;
  const session = route.access === "session" ? parts.sessions.find(request) : undefined;
  if (route.access === "session") {
    if (session === undefined || !(await sessionHolds(parts, session))) return refuse("signed_out");
    if (!hasKey(request, session)) return refuse("signed_out");
  } else if (request.headers.get("x-acp-inbox") !== "1") return refuse("origin_refused");
  // Only now: who is nobody makes us read little.
  const body =
    request.method === "POST"
      ? await readJson(request, session === undefined ? OPEN_BODY_BYTES_MAX : BODY_BYTES_MAX)
      : {};
  if (body instanceof Response) return body;
  const called = { url, body, id, gone: request.signal };
  if (route.access === "open") return await route.handle(parts, called);
  return session === undefined
    ? refuse("signed_out")
    : await route.handle(parts, { ...called, session });
}

/** Makes the handler of an inbox. */
export function createHandler({
  parts,
  files,
  isClosed,
}: HandlerParts): (request: Request) => Promise<Response> {
  return async (request) => {
    try {
      if (isClosed()) return refuse("closed");
      const url = new URL(request.url);
      if (asksForWorker(parts.settings, request, url)) return await files.serve(request, WORKER);
      const refusal = refuseHost(parts.settings, request, url);
      if (refusal !== undefined) return refusal;
      return await (url.pathname.startsWith("/api/")
        ? call(parts, request, url)
        : files.serve(request, url.pathname));
    } catch (error) {
      if (isConsentError(error, "message_invalid"))
        return refuse("body_invalid", { message: error.message });
      parts.settings.warn(`Cannot answer a request: ${asError(error).message}`);
      return refuse(
        isConsentError(error, "channel_failed") ? "passkeys_unavailable" : "internal_error",
      );
    }
  };
}
