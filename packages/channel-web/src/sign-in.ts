/**
 * SignIn: who comes in, by a one-time code or by a passkey, and who goes. Format: spec/web-inbox.md
 * §2.
 */
import { readFields } from "@acp/core";
import { challengeOf } from "./challenges.js";
import type { Person } from "./options.js";
import { done, refuse, reply } from "./reply.js";
import type { Call, InboxParts, Route, SessionCall } from "./routes.js";
import type { SessionMessage } from "./wire.js";

/** What a sign-in's challenge is made for. */
const SIGN_IN: object = Object.freeze({ purpose: "sign-in" });
/** Characters of a code as somebody may type it. */
const CODE_CHARS_MAX = 64;

function start({ sessions }: InboxParts, person: Person, passkeyId?: string): Response {
  const { cookie, key } = sessions.start(person, passkeyId);
  return reply(200, { key }, { "set-cookie": cookie });
}

function takeCode(parts: InboxParts, { body }: Call): Response {
  const fields = readFields(body, "body");
  const typed = fields.text("code", CODE_CHARS_MAX);
  fields.done();
  // The right code too: otherwise the limit would not be one.
  if (!parts.tries.isLeft()) return refuse("too_many_tries", { headers: { "retry-after": "60" } });
  const person = parts.codes.take(typed);
  if (person !== undefined) return start(parts, person);
  parts.tries.fail();
  return refuse("code_refused");
}

async function offerPasskey(
  { ceremony, challenges }: InboxParts,
  { body }: Call,
): Promise<Response> {
  readFields(body, "body").done();
  // Nobody is told which passkeys there are: the browser asks the person.
  return reply(
    200,
    await ceremony.makeAssertionOptions({ challenge: challenges.make(SIGN_IN), allowed: [] }),
  );
}

async function takePasskey(parts: InboxParts, { body }: Call): Promise<Response> {
  const { ceremony, challenges, keyring, settings } = parts;
  const challenge = challengeOf(body);
  if (challenge === undefined || !challenges.take(challenge, SIGN_IN))
    return refuse("passkey_refused", { status: 401 });
  const passkeys = await keyring.usable();
  const checked = await ceremony.checkAssertion({ assertion: body, challenge, passkeys });
  const person = checked.ok ? settings.people.get(checked.passkey.approver) : undefined;
  // Why is the operator's to know: it would tell a stranger which passkeys there are.
  if (!checked.ok) settings.warn(`Cannot sign in with a passkey: ${checked.reason}`);
  return !checked.ok || person === undefined
    ? refuse("passkey_refused", { status: 401 })
    : start(parts, person, checked.passkey.id);
}

async function tell(
  { keyring, settings }: InboxParts,
  { session }: SessionCall,
): Promise<Response> {
  const { approver } = session.person;
  const { length } = await keyring.usable(approver);
  const facts: SessionMessage = {
    approver,
    passkeys: length,
    passkey_from: settings.passkeyFrom,
    now: settings.clock.now(),
  };
  return reply(200, facts);
}

function leave({ sessions }: InboxParts, { session }: SessionCall): Response {
  sessions.end(session);
  return done({ "set-cookie": sessions.forgetting });
}

/** Routes of signing in and out. */
export const SIGN_IN_ROUTES: readonly Route[] = [
  { method: "POST", path: "/api/session", access: "open", handle: takeCode },
  { method: "POST", path: "/api/session/passkey/options", access: "open", handle: offerPasskey },
  { method: "POST", path: "/api/session/passkey", access: "open", handle: takePasskey },
  { method: "GET", path: "/api/session", access: "session", handle: tell },
  { method: "DELETE", path: "/api/session", access: "session", handle: leave },
];
