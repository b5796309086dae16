/** A sign-in at the double, with a person who says yes. */
import { isConsentError } from "@acp/core";
import { signIn } from "../../src/oauth.js";
import type { Grant, SignInParts } from "../../src/oauth.js";
import type { OAuthDouble } from "./oauth-double.js";

/** Never aborts. */
export const signal = new AbortController().signal;

/** Signs in, and does with the address what a person's browser does. */
export async function signedIn(
  double: OAuthDouble,
  more: Partial<SignInParts> = {},
): Promise<Grant> {
  let browsed: Promise<unknown> = Promise.resolve();
  try {
    return await signIn({
      server: new URL(double.url),
      waitMs: 60_000,
      signal,
      show: ({ address }) => void (browsed = double.browse(address).catch(() => {})),
      ...more,
    });
  } finally {
    await browsed;
  }
}

/** The code and text of the error that it ends in. */
export async function codeOf(work: Promise<unknown>): Promise<string> {
  try {
    await work;
  } catch (error) {
    if (isConsentError(error)) return `${error.code}: ${error.message}`;
    throw error;
  }
  return "it worked";
}
