/**
 * PasskeyOrigin: where a passkey signs. An inbox whose name is another one at each start writes
 * `http://*.<rpId>`: one label below the domain, on any port. The domain itself is none of them:
 * whoever once held a port there may have left something in the browser.
 */
import type { Passkey } from "./passkey.js";

const ANY_BELOW = /^(https?):\/\/\*\.([^/*:]+)$/;
const LABEL = /^[a-z0-9-]{1,63}$/;

function isBelow(origin: string, scheme: string, domain: string): boolean {
  const url = URL.canParse(origin) ? new URL(origin) : undefined;
  if (url === undefined || url.origin !== origin || url.protocol !== `${scheme}:`) return false;
  return (
    url.hostname.endsWith(`.${domain}`) && LABEL.test(url.hostname.slice(0, -domain.length - 1))
  );
}

/** Whether an assertion that says this origin was made where the passkey signs. */
export function isPasskeyOrigin(
  { origins, rpId }: Pick<Passkey, "origins" | "rpId">,
  origin: string,
): boolean {
  return origins.some((each) => {
    const [, scheme, domain] = ANY_BELOW.exec(each) ?? [];
    if (scheme === undefined || domain === undefined) return each === origin;
    return domain === rpId && isBelow(origin, scheme, domain);
  });
}
