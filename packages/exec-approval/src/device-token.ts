/**
 * DeviceToken: the secret by which a gateway knows a device. It travels in a header of the
 * handshake, never in the URL, and a gateway keeps its SHA-256 alone. A token is random, so that
 * neither a slow hash nor a count of wrong tries is needed.
 */
import { createHash, randomBytes } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { ConsentError } from "@acp/core";

/** The subprotocol; a browser, which can set no header, offers it beside `bearer.<token>`. */
export const SUBPROTOCOL = "acp-exec.v1";
const TOKEN_BYTES = 32;
const TOKEN = /^[A-Za-z0-9_-]{32,512}$/;
const BEARER = /^bearer ([A-Za-z0-9_-]{32,512})$/i;
const OFFERED = /^bearer\.([A-Za-z0-9_-]{32,512})$/;
const OFFERS_MAX = 8;

/** Makes a new device token: 32 random bytes in base64url. */
export function makeDeviceToken(): string {
  return randomBytes(TOKEN_BYTES).toString("base64url");
}

/** The SHA-256 of a token's bytes. */
export function digestToken(token: string): Buffer {
  return createHash("sha256").update(token).digest();
}

/** Whether a text has the form of a token. */
export function isDeviceToken(text: string): boolean {
  return TOKEN.test(text);
}

/**
 * The hash of a token, which is all that a gateway keeps: `sha256:<hex>`.
 *
 * @throws ConsentError `options_invalid` unless the token has 32 to 512 characters of base64url.
 */
export function hashDeviceToken(token: string): string {
  if (isDeviceToken(token)) return `sha256:${digestToken(token).toString("hex")}`;
  throw new ConsentError(
    "options_invalid",
    "Cannot use a device token: it does not have 32 to 512 characters of A-Z, a-z, 0-9, _ and -",
  );
}

/**
 * The token of a handshake: `Authorization: Bearer …`, else `Sec-WebSocket-Protocol: acp-exec.v1,
 * bearer.…`.
 */
export function tokenOf(headers: IncomingHttpHeaders): string | undefined {
  const { authorization, "sec-websocket-protocol": offers } = headers;
  if (authorization !== undefined) return BEARER.exec(authorization)?.[1];
  const found = (offers ?? "")
    .split(",", OFFERS_MAX)
    .map((offer) => OFFERED.exec(offer.trim())?.[1])
    .filter((token) => token !== undefined);
  return found.length === 1 ? found[0] : undefined;
}
