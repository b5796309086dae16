/**
 * Injecting secrets: the one place where a value enters an action. Only into a Release, only into
 * its arguments, only names that the release carries, only where the secret is bound to; and one
 * answer for every name that may not be used. Format: spec/vault.md §4.
 */
import {
  type Action,
  type HttpAction,
  isHttpAction,
  isToolAction,
  type ToolAction,
} from "../action/action.js";
import { actionToJson } from "../action/action-json.js";
import { ConsentError } from "../errors.js";
import { ACTION_BYTES_MAX } from "../limits.js";
import { maskSecrets } from "./mask.js";
import { createMasker } from "./masker.js";
import { markInjection, takeRelease } from "../permit.js";
import { fillPlaceholders, fillText, placeholdersOf } from "./placeholders.js";
import { EVERYWHERE, revealSecret, type Secret } from "./secret.js";
import type { Release } from "../types/permit.js";

declare const holdsSecrets: unique symbol;

/**
 * An action that may hold secret values: send it, and do nothing else with it. Never log, digest,
 * store or show it. As JSON, and when inspected as a whole, it shows the placeholders; its `args`
 * show the values. No gate accepts it as an Action.
 */
export type InjectedAction = Action & { readonly [holdsSecrets]: true };

/** A Release whose action may hold secret values, and whose `mask` and `masker` know them. */
export interface InjectedRelease extends Release {
  /** What to send, with the values in it. */
  readonly action: InjectedAction;
  /** Names of the secrets that were put in. */
  readonly secrets: readonly string[];
}

/** A header's value must stay one line: a secret must not write headers of its own. */
const HEADER_CONTROL = /[\u0000-\u0008\u000a-\u001f\u007f]/;
const HTTPS_PORT = 443;

/**
 * Replaces placeholders with the values of their secrets. Takes a release once. Source:
 * spec/vault.md §4.
 *
 * @param secrets - All that are known, whether released or not: results are masked for each of
 *   them.
 * @throws ConsentError `secret_refused`, the same for a name that is unknown, not released or bound
 *   elsewhere, for a placeholder in a place that takes none, and for a release that no permit gave
 *   or that was used before.
 */
export function injectSecrets(release: Release, secrets: readonly Secret[]): InjectedRelease {
  if (!takeRelease(release)) throw refused();
  const { names, hasStray } = placeholdersOf(release.action);
  if (hasStray) throw refused();
  const values = new Map(names.map((name) => [name, valueFor(name, release, secrets)]));
  const injected: InjectedRelease = Object.freeze({
    action: markInjected(values.size === 0 ? release.action : fill(release.action, values)),
    secrets: Object.freeze(names),
    get signal(): AbortSignal {
      return release.signal;
    },
    mask: <T>(value: T): T => maskSecrets(value, secrets, names.length > 0 ? "refuse" : "keep"),
    masker: () => (secrets.length === 0 ? undefined : createMasker(secrets)),
  });
  markInjection(injected, release);
  return injected;
}

function valueFor(
  name: string,
  { action, secrets: released }: Release,
  secrets: readonly Secret[],
): string {
  const secret = secrets.find((each) => each.name === name);
  if (secret === undefined || !released.includes(name) || !isBoundTo(secret, action))
    throw refused();
  return revealSecret(secret);
}

/** Whether a secret may go where an action goes. */
export function isBoundTo(
  { servers, hosts }: Pick<Secret, "servers" | "hosts">,
  action: Action,
): boolean {
  if (isToolAction(action))
    return servers.includes(EVERYWHERE) || servers.includes(action.meta.server);
  if (!isHttpAction(action) || action.meta.url === undefined) return false;
  const { host, port, url } = action.meta;
  const isHttps = url.startsWith("https://");
  return (
    (isHttps && (hosts.includes(EVERYWHERE) || (port === HTTPS_PORT && hosts.includes(host)))) ||
    hosts.includes(`${host}:${port}`)
  );
}

function fill(action: Action, values: ReadonlyMap<string, string>): Action {
  let room = ACTION_BYTES_MAX;
  const valueOf = (name: string): string => {
    const value = values.get(name) ?? "";
    room -= value.length;
    // a few bytes of placeholder stand for a long value: many of them must not fill the memory
    if (room < 0) throw refused();
    return value;
  };
  if (isToolAction(action)) return filled(action, { args: fillPlaceholders(action.args, valueOf) });
  if (!isHttpAction(action)) throw refused();
  const headers = Object.entries(action.args?.headers ?? {}).map(
    ([header, text]) => [header, headerText(fillText(text, valueOf))] as const,
  );
  return filled(action, {
    args: Object.freeze({ headers: Object.freeze(Object.fromEntries(headers)) }),
  });
}

function headerText(text: string): string {
  if (HEADER_CONTROL.test(text)) throw refused();
  return text;
}

/**
 * The action with other arguments: same shape, but no constructor made it, so no gate takes it and
 * nothing digests it.
 */
function filled(action: ToolAction | HttpAction, { args }: { readonly args: unknown }): Action {
  const copy: object = { name: action.name, args, meta: action.meta };
  const show = (): unknown => actionToJson(action);
  Object.defineProperty(copy, "toJSON", { value: show });
  Object.defineProperty(copy, Symbol.for("nodejs.util.inspect.custom"), { value: show });
  // `args` has the shape of the action's own: only texts in it differ.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return Object.freeze(copy) as Action;
}

function markInjected(action: Action): InjectedAction {
  // The one cast that makes the brand: it warns the reader and has no other effect.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return action as InjectedAction;
}

function refused(): ConsentError {
  return new ConsentError(
    "secret_refused",
    "Cannot put a secret into the action: a name in it refers to nothing that may be used here",
  );
}
