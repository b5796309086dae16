/**
 * Enrol: a person's own passkeys: seen, added and revoked. A stolen session adds none: it takes a
 * passkey that was just used, or where there is none a sign-in that was just made. Format:
 * spec/web-inbox.md §5.
 */
import { escapeText, readFields } from "@acp/core";
import { challengeOf } from "./challenges.js";
import { isOver } from "./moment.js";
import type { Passkey } from "./passkey.js";
import { done, refuse, reply } from "./reply.js";
import type { InboxParts, Route, SessionCall } from "./routes.js";
import type { Session } from "./session.js";
import type { PasskeyMessage } from "./wire.js";

/** How long a passkey's use, or a sign-in, lets its session change passkeys. */
const FRESH_MS: number = 10 * 60_000;
const LABEL_CHARS_MAX = 64;
/** Passkeys of one person in use. */
const PASSKEYS_MAX = 32;

function view({ id, label, createdAtMs, revokedAtMs }: Passkey): PasskeyMessage {
  return {
    id,
    label,
    created_at: createdAtMs,
    ...(revokedAtMs === undefined ? {} : { revoked_at: revokedAtMs }),
  };
}

async function list({ keyring }: InboxParts, { session }: SessionCall): Promise<Response> {
  return reply(200, { passkeys: (await keyring.all(session.person.approver)).map(view) });
}

/** Why a session may not add a passkey beside those that its person has. */
function refusalOf(
  { sessions, settings }: InboxParts,
  session: Session,
  known: readonly Passkey[],
): Response | undefined {
  if (sessions.usedPasskey(session, FRESH_MS)) return undefined;
  if (known.length > 0)
    return refuse("passkey_required", {
      message: "adding another passkey needs one that you have: sign in with it",
    });
  return isOver(settings.clock, session.startedAt, FRESH_MS) ? refuse("sign_in_again") : undefined;
}

async function offer(parts: InboxParts, { session, body }: SessionCall): Promise<Response> {
  readFields(body, "body").done();
  const { approver } = session.person;
  const known = await parts.keyring.usable(approver);
  const refusal = refusalOf(parts, session, known);
  if (refusal !== undefined) return refusal;
  if (known.length >= PASSKEYS_MAX)
    return refuse("passkey_refused", { status: 400, message: `you have ${PASSKEYS_MAX} passkeys` });
  const challenge = parts.challenges.make(session);
  return reply(200, await parts.ceremony.makeRegistrationOptions({ approver, challenge, known }));
}

async function add(parts: InboxParts, { session, body }: SessionCall): Promise<Response> {
  const { ceremony, challenges, keyring, settings } = parts;
  const fields = readFields(body, "body");
  const registration = fields.raw("registration");
  const label = escapeText(fields.text("label", LABEL_CHARS_MAX)).trim();
  fields.done();
  const { approver } = session.person;
  const refusal = refusalOf(parts, session, await keyring.usable(approver));
  if (refusal !== undefined) return refusal;
  const challenge = challengeOf(registration);
  if (challenge === undefined || !challenges.take(challenge, session))
    return refuse("passkey_refused", {
      status: 400,
      message: "its challenge is unknown or too old",
    });
  const checked = await ceremony.checkRegistration({ registration, challenge });
  if (!checked.ok) return refuse("passkey_refused", { status: 400, message: checked.reason });
  const { id, publicKey } = checked;
  const passkey = { id, approver, publicKey, label: label === "" ? "passkey" : label };
  if (!(await keyring.add(passkey)))
    return refuse("passkey_refused", { status: 400, message: "this passkey is known already" });
  settings.warn(`A passkey of "${approver}" was added: ${id}`);
  return reply(201, { id });
}

async function revoke(parts: InboxParts, { session, id }: SessionCall): Promise<Response> {
  const { sessions, keyring } = parts;
  if (!sessions.usedPasskey(session, FRESH_MS))
    return refuse("passkey_required", {
      message:
        "revoking a passkey needs a passkey: sign in with one, or have it revoked where the gate runs",
    });
  if (!(await keyring.revoke(id, session.person.approver))) return refuse("not_found");
  sessions.endAll(id);
  return done();
}

/** Routes of a person's own passkeys. */
export const ENROL_ROUTES: readonly Route[] = [
  { method: "GET", path: "/api/passkeys", access: "session", handle: list },
  { method: "POST", path: "/api/passkeys/options", access: "session", handle: offer },
  { method: "POST", path: "/api/passkeys", access: "session", handle: add },
  { method: "DELETE", path: "/api/passkeys/:id", access: "session", handle: revoke },
];
