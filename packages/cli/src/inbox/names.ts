/**
 * Names: what the inbox is called in a browser. The origin that a person opens is another one at
 * each start, so that nothing that somebody left in the browser while they held the port (a service
 * worker, a cookie) is there; passkeys are made for the name above it, which stays. Why:
 * docs/adr/0110.
 */
import { randomBytes } from "node:crypto";
import type { PasskeyRecord } from "@acp/home";

const ALPHABET = "abcdefghijklmnopqrstuvwxyz234567";
/** 130 random bits: who does not know the name cannot hand in a code. */
const FRESH_CHARS = 26;
const HOME_CHARS = 16;
const HOME_NAME = /^[a-z2-7]{16}\.localhost$/;

const randomName = (length: number): string =>
  Array.from(randomBytes(length), (byte) => ALPHABET[byte % ALPHABET.length]).join("");

/** A name that nobody had before, right below the one that passkeys are made for. */
export const makeFreshHost = (passkeyName: string): string =>
  `${randomName(FRESH_CHARS)}.${passkeyName}`;

/**
 * The name that this home's passkeys are made for: that of the newest one in use, or a new one
 * where there is none.
 */
export function choosePasskeyName(passkeys: readonly PasskeyRecord[]): string {
  const [newest] = passkeys
    .filter(({ rpId, revokedAtMs }) => HOME_NAME.test(rpId) && revokedAtMs === undefined)
    .toSorted((one, other) => other.createdAtMs - one.createdAtMs);
  return newest?.rpId ?? `${randomName(HOME_CHARS)}.localhost`;
}

/** Passkeys in use that were made for another name: no browser offers them here. */
export const madeElsewhere = (
  passkeys: readonly PasskeyRecord[],
  rpId: string,
): readonly PasskeyRecord[] =>
  passkeys.filter((each) => each.revokedAtMs === undefined && each.rpId !== rpId);
