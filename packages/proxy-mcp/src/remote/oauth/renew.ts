/**
 * Renew: a token for one that ends, and its end before time. Both go where the sign-in found them,
 * so nothing that a server says later sends a token elsewhere. Sources: RFC 6749 §6, OAuth 2.1
 * §4.3, RFC 7009.
 */
import { ConsentError, systemClock } from "@acp/core";
import * as oauth from "oauth4webapi";
import { askingWith, authenticationOf, orDenied, readGiven } from "./grant.js";
import type { Grant } from "./grant.js";
import { guardOf, shown } from "./guarded-fetch.js";
import type { GuardOptions } from "./guarded-fetch.js";

/**
 * The same grant with another token.
 *
 * @throws ConsentError `authorization_needed` where it has no refresh token; `authorization_denied`
 *   where that does not count any more; `authorization_refused`, `authorization_unavailable`.
 */
export async function renew(grant: Grant, options: GuardOptions): Promise<Grant> {
  const { refreshToken, resource, issuer, tokenEndpoint, clientId, scopes } = grant;
  if (refreshToken === undefined)
    throw new ConsentError(
      "authorization_needed",
      "Cannot renew the token: it can only be used up",
    );
  const guard = await guardOf(new URL(grant.url), options);
  const as = { issuer, token_endpoint: tokenEndpoint };
  const known = { client_id: clientId };
  const given = await orDenied(shown(new URL(tokenEndpoint)), async () =>
    oauth.processRefreshTokenResponse(
      as,
      known,
      await oauth.refreshTokenGrantRequest(as, known, authenticationOf(grant), refreshToken, {
        ...askingWith(guard),
        additionalParameters: { resource },
      }),
    ),
  );
  const { expiresAtMs: _ended, ...kept } = grant;
  return { ...kept, ...readGiven(given, { scopes, resource, nowMs: systemClock.now() }) };
}

/**
 * Ends a grant at its authorization server.
 *
 * @returns False where that offers no such thing.
 * @throws ConsentError as {@link renew}.
 */
export async function revoke(grant: Grant, options: GuardOptions): Promise<boolean> {
  const { revocationEndpoint, issuer, clientId, accessToken, refreshToken } = grant;
  if (revocationEndpoint === undefined) return false;
  const guard = await guardOf(new URL(grant.url), options);
  const as = { issuer, revocation_endpoint: revocationEndpoint };
  const known = { client_id: clientId };
  // The one that could give others first.
  const tokens = [
    ...(refreshToken === undefined ? [] : [["refresh_token", refreshToken] as const]),
    ["access_token", accessToken] as const,
  ];
  for (const [hint, token] of tokens)
    await orDenied(shown(new URL(revocationEndpoint)), async () =>
      oauth.processRevocationResponse(
        await oauth.revocationRequest(as, known, authenticationOf(grant), token, {
          ...askingWith(guard),
          additionalParameters: { token_type_hint: hint },
        }),
      ),
    );
  return true;
}
