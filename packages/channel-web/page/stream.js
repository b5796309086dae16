/**
 * Stream: the inbox's events, read by hand: so that a connection that died without a word is
 * noticed, and one that is refused says why.
 */
import { openEvents } from "./api.js";

/** @typedef {import("./types.js").Link} Link */
/**
 * @typedef {object} Listener
 * @property {(name: string, data: any) => void} event
 * @property {(link: Link) => void} link
 * @property {() => void} signedOut
 */
/**
 * @typedef {{ readonly listener: Listener, isStopped: boolean, abort: AbortController, wakeUp: ()
 * => void }} Following
 */

/** The inbox says something every 15 seconds. */
const SILENCE_MS = 40_000;
const RETRY_MS = 1_000;
const RETRY_MS_MAX = 15_000;

/** @type {(block: string) => { readonly name: string, readonly data: string } | undefined} */
function readEvent(block) {
  const lines = block.split("\n");
  const field = (/** @type {string} */ name) =>
    lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2);
  const [name, data] = [field("event"), field("data")];
  return name === undefined || data === undefined ? undefined : { name, data };
}

/**
 * Hands on every event until the stream ends.
 *
 * @param {ReadableStream<Uint8Array>} body
 * @param {(name: string, data: any) => void} event
 * @param {() => void} alive - Something came.
 */
async function readAll(body, event, alive) {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  /** @type {string[]} */
  const parts = [];
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    alive();
    const text = decoder.decode(value, { stream: true });
    parts.push(text);
    if (!text.includes("\n")) continue;
    const blocks = parts.splice(0).join("").split("\n\n");
    parts.push(blocks.pop() ?? "");
    for (const block of blocks) {
      const read = readEvent(block);
      if (read !== undefined) event(read.name, JSON.parse(read.data));
    }
  }
}

/** @param {Following} following */
function signOut(following) {
  if (following.isStopped) return;
  following.isStopped = true;
  following.listener.signedOut();
}

/** One stream, until it ends; whether it stood. @param {Following} following */
async function followOnce(following) {
  const { listener } = following;
  const abort = new AbortController();
  following.abort = abort;
  let stood = false;
  let silence = 0;
  const alive = () => {
    clearTimeout(silence);
    silence = setTimeout(() => abort.abort(), SILENCE_MS);
  };
  try {
    alive();
    const response = await openEvents(abort.signal);
    if (response.status === 401) signOut(following);
    if (!response.ok || response.body === null) return false;
    await readAll(
      response.body,
      (name, data) => {
        if (following.isStopped || abort.signal.aborted) return;
        if (name === "signed_out") return signOut(following);
        // First what is so, then that it can be answered.
        listener.event(name, data);
        if (name !== "hello") return;
        stood = true;
        listener.link("live");
      },
      alive,
    );
  } catch {
    // Ended: the loop tries again, and says so meanwhile.
  } finally {
    clearTimeout(silence);
  }
  return stood;
}

/** @type {(following: Following, ms: number) => Promise<void>} */
const pause = (following, ms) =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    following.wakeUp = () => {
      clearTimeout(timer);
      resolve();
    };
  });

/** @param {Following} following */
async function follow(following) {
  const { listener } = following;
  let waitMs = RETRY_MS;
  listener.link("connecting");
  while (!following.isStopped) {
    const stood = await followOnce(following);
    if (following.isStopped) return;
    listener.link(navigator.onLine ? "lost" : "offline");
    waitMs = stood ? RETRY_MS : Math.min(waitMs * 2, RETRY_MS_MAX);
    await pause(following, waitMs);
  }
}

/**
 * Keeps a stream to the inbox until it is stopped or signed out.
 *
 * @param {Listener} listener
 */
export function followEvents(listener) {
  const stopped = new AbortController();
  const { signal } = stopped;
  /** @type {Following} */
  const following = { listener, isStopped: false, abort: new AbortController(), wakeUp: () => {} };
  const offline = () => {
    following.abort.abort();
    listener.link("offline");
  };
  addEventListener("offline", offline, { signal });
  addEventListener("online", () => following.wakeUp(), { signal });
  void follow(following);
  return {
    /** Tries again now, where it waits. */
    wake: () => following.wakeUp(),
    stop() {
      following.isStopped = true;
      stopped.abort();
      following.abort.abort();
      following.wakeUp();
    },
  };
}
