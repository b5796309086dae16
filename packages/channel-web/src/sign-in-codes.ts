/**
 * SignInCodes: `XXXX-XXXX-XXXX`, for one sign-in within ten minutes. Kept as hashes.
 */
import { randomBytes } from "node:crypto";
import type { Clock } from "@acp/core";
import { type Moment, isOver, momentOf } from "./moment.js";
import type { Person } from "./options.js";
import { hasHash, hashOf } from "./token.js";

/** Crockford's: no letter looks like a digit. */
const ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const CODE = /^[0-9A-HJKMNP-TV-Z]{12}$/;
const LIFETIME_MS: number = 10 * 60_000;
/** Codes that wait for one person; the oldest goes. */
const CODES_MAX = 8;

interface Waiting {
  readonly hash: Uint8Array;
  readonly person: Person;
  readonly madeAt: Moment;
}

/** Codes that nobody used yet. */
export interface SignInCodes {
  make(person: Person): string;
  /** Whose code it is; from then on nobody's. */
  take(typed: string): Person | undefined;
  clear(): void;
}

const twelve = (): string =>
  Array.from(randomBytes(12), (byte) => ALPHABET[byte % ALPHABET.length]).join("");

/** As people type it: any case, with or without dashes and blanks, O for 0 and I or L for 1. */
const normal = (typed: string): string =>
  typed.toUpperCase().replace(/[\s-]/g, "").replaceAll("O", "0").replace(/[IL]/g, "1");

/** No codes yet. */
export function createSignInCodes(clock: Clock): SignInCodes {
  let waiting: readonly Waiting[] = [];
  const forgetOld = (): void => {
    waiting = waiting.filter(({ madeAt }) => !isOver(clock, madeAt, LIFETIME_MS));
  };
  return {
    make(person) {
      forgetOld();
      const code = twelve();
      const others = waiting.filter((each) => each.person !== person);
      const own = waiting.filter((each) => each.person === person).slice(1 - CODES_MAX);
      waiting = [...others, ...own, { hash: hashOf(code), person, madeAt: momentOf(clock) }];
      return code.replace(/(.{4})(.{4})(.{4})/, "$1-$2-$3");
    },
    take(typed) {
      forgetOld();
      const code = normal(typed);
      if (!CODE.test(code)) return undefined;
      // Every one is compared, whichever it is.
      const fitting = waiting.filter(({ hash }) => hasHash(code, hash));
      waiting = waiting.filter((each) => !fitting.includes(each));
      return fitting[0]?.person;
    },
    clear() {
      waiting = [];
    },
  };
}
