/**
 * Challenges: 32 random bytes that an authenticator answers once, within two minutes, for what they
 * were made for.
 */
import { type Clock, type JsonObject, isJsonObject, parseJson } from "@acp/core";
import { type Moment, isOver, momentOf } from "./moment.js";
import { makeToken } from "./token.js";

const LIFETIME_MS = 120_000;
/** Challenges that wait; the oldest goes, since anybody may ask for one. */
const CHALLENGES_MAX = 1_000;
/** Bytes of what a browser says of an assertion. */
const CLIENT_DATA_BYTES_MAX = 8_192;

/** Challenges that wait for their answer. */
export interface Challenges {
  /** A new one for a purpose: a sign-in, or one session's registration. */
  make(purpose: object): string;
  /** Whether it was made for this; from then on used up. */
  take(challenge: string, purpose: object): boolean;
  clear(): void;
}

/** No challenges yet. */
export function createChallenges(clock: Clock): Challenges {
  const waiting = new Map<string, { readonly purpose: object; readonly madeAt: Moment }>();
  return {
    make(purpose) {
      for (const [challenge, { madeAt }] of waiting)
        if (isOver(clock, madeAt, LIFETIME_MS)) waiting.delete(challenge);
      const [oldest] = waiting.keys();
      if (oldest !== undefined && waiting.size >= CHALLENGES_MAX) waiting.delete(oldest);
      const challenge = makeToken();
      waiting.set(challenge, { purpose, madeAt: momentOf(clock) });
      return challenge;
    },
    take(challenge, purpose) {
      const found = waiting.get(challenge);
      if (found === undefined || found.purpose !== purpose) return false;
      waiting.delete(challenge);
      return !isOver(clock, found.madeAt, LIFETIME_MS);
    },
    clear: () => waiting.clear(),
  };
}

/**
 * The challenge that a browser's answer says it answers, not verified; `undefined` where it says
 * none.
 */
export function challengeOf(answer: JsonObject): string | undefined {
  const { response } = answer;
  const text = isJsonObject(response) ? response["clientDataJSON"] : undefined;
  if (typeof text !== "string") return undefined;
  try {
    const said = parseJson(Buffer.from(text, "base64url"), { bytesMax: CLIENT_DATA_BYTES_MAX });
    const challenge = isJsonObject(said) ? said["challenge"] : undefined;
    return typeof challenge === "string" ? challenge : undefined;
  } catch {
    return undefined;
  }
}
