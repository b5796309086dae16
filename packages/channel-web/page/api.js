/**
 * Api: requests to the inbox. What changes something names the session's key, which this origin
 * alone keeps. Format: spec/web-inbox.md §1.
 */

const KEY = "acp-inbox-key";
/** How long an answer may take before it is not known what became of a request. */
const PATIENCE_MS = 30_000;

/** Where the browser keeps nothing for us, a key lives as long as the page. */
let ownKey = "";

export function readKey() {
  try {
    return localStorage.getItem(KEY) ?? ownKey;
  } catch {
    return ownKey;
  }
}

/** @param {string} key - Empty: none any more. */
export function keepKey(key) {
  ownKey = key;
  try {
    if (key === "") localStorage.removeItem(KEY);
    else localStorage.setItem(KEY, key);
  } catch {
    // ownKey has it.
  }
}

/**
 * Calls back when another tab signed in or out.
 *
 * @param {() => void} listener
 */
export function onKeyChange(listener) {
  addEventListener("storage", ({ key }) => {
    if (key === KEY || key === null) listener();
  });
}

/** What the inbox refused, or that it could not be reached (`unreachable`). */
export class Refused extends Error {
  /**
   * @param {string} code
   * @param {string} message
   */
  constructor(code, message) {
    super(message);
    this.code = code;
  }
}

/**
 * @param {string} path
 * @param {RequestInit} init
 * @returns {Promise<Response>}
 */
async function reach(path, init) {
  try {
    return await fetch(path, { cache: "no-store", redirect: "error", ...init });
  } catch (error) {
    throw new Refused(
      "unreachable",
      error instanceof Error ? error.message : "the inbox cannot be reached",
    );
  }
}

/**
 * Signing in is for who has no session: there the key of one is refused. @type {(method: string,
 * path: string) => boolean}
 */
const isSignIn = (method, path) => method === "POST" && path.startsWith("/api/session");

/**
 * One request; rejects with {@link Refused}.
 *
 * @param {"GET" | "POST" | "DELETE"} method
 * @param {string} path
 * @param {object} [body]
 * @returns {Promise<any>}
 */
export async function request(method, path, body) {
  const key = isSignIn(method, path) ? "" : readKey();
  const named = { "x-acp-inbox": key === "" ? "1" : key };
  const response = await reach(path, {
    method,
    signal: AbortSignal.timeout(PATIENCE_MS),
    headers: method === "GET" ? named : { ...named, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  if (response.status === 204) return {};
  const said = await response.json().catch(() => undefined);
  if (response.ok && said !== undefined) return said;
  throw new Refused(
    String(said?.code ?? "unreachable"),
    String(said?.message ?? `the inbox said ${response.status}`),
  );
}

/**
 * Signs in, and keeps the key that this gives.
 *
 * @param {string} path
 * @param {object} body
 */
export async function signInWith(path, body) {
  const { key } = await request("POST", path, body);
  keepKey(String(key));
}

/**
 * The stream of events, from now on.
 *
 * @param {AbortSignal} signal
 */
export const openEvents = (signal) =>
  reach("/api/events", {
    signal,
    headers: { accept: "text/event-stream", "x-acp-inbox": readKey() },
  });
