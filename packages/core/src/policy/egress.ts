/**
 * Egress: whether an action says that it leaves this machine. A category is a guess from a name or
 * a method, and reading from another host can carry anything away in a URL; so an allow by category
 * alone does not cover it. Pure. Format: spec/policy.md §3.
 */
import { isHttpAction, isToolAction } from "../action/action.js";
import type { Action } from "../action/action.js";
import { isJsonObject } from "../json/value.js";
import type { JsonValue } from "../json/value.js";

/** URLs as a lenient reader takes them: `https:host` and `http:\\host` are URLs to it as well. */
const WEB_URL = /(?:^|[^a-z0-9])(?:https?|wss?|ftps?):\S/i;
const NETWORK_URL =
  /(?:^|[^a-z0-9])(?:[a-z0-9.-]+\+)?(?:sftp|ssh|git|svn|gopher|dict|telnet|ldaps?|smb|nfs|tcp|udp|rtsps?|mqtts?|amqps?|rediss?|mongodb|postgres(?:ql)?|mysql|s3|gs|grpcs?|https?|wss?|ftps?):[/\\]{2}/i;
/** What an argument is called that names a host, in whatever spelling. */
const HOST_KEY =
  /(?:^|[_\-.]|(?<=[a-z])(?=[A-Z]))(?:url|uri|href|host|hostname|domain|website|endpoint|webhook)s?$/i;
/** A text under such a key that stays here: a file, or a name in a scheme of the server's own. */
const STAYS = /^\s*(?:file:|[/~.]|[a-z][a-z0-9+-]*:\/\/)/i;

function namesHost(text: string, isHostKey: boolean): boolean {
  const plain = text.normalize("NFKC").replace(/[\t\r\n]/g, "");
  if (WEB_URL.test(plain) || NETWORK_URL.test(plain) || /^\s*\/\/[^/]/.test(plain)) return true;
  return isHostKey && plain.trim() !== "" && !STAYS.test(plain);
}

function holdsHost(value: JsonValue, isHostKey: boolean): boolean {
  if (typeof value === "string") return namesHost(value, isHostKey);
  if (Array.isArray(value)) return value.some((each: JsonValue) => holdsHost(each, isHostKey));
  return (
    isJsonObject(value) &&
    Object.entries(value).some(
      ([key, each]) => namesHost(key, false) || holdsHost(each, HOST_KEY.test(key)),
    )
  );
}

/**
 * Whether an action is a request to a host, or a call with an argument that names one. What a tool
 * does by itself cannot be seen.
 */
export function leavesMachine(action: Action): boolean {
  return isHttpAction(action) || (isToolAction(action) && holdsHost(action.args, false));
}
