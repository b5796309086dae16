/**
 * Stream: the inbox's events, read by hand: so that a connection that died without a word is noticed, and one that is refused says why.
 */
import { openEvents } from "./api.js";

/** @typedef {import("./types.js").Link} Link */
/**
 * @typedef {object} Listener
 * @property {(name: string, data: any) => void} event
 * @property {(link: Link) => void} link
 * @property {() => void} signedOut
 */

/** The inbox says something every 15 seconds. */
const SILENCE_MS = 40_000;
const RETRY_MS = 1_000;
const RETRY_MS_MAX = 15_000;

/** @type {(block: string) => { name: string, data: string } | undefined} */
function readEvent(block) {
  const lines = block.split("\n");
  const field = (/** @type {string} */ name) =>
    lines
      .filter((line) => line.startsWith(`${name}: `))
      .map((line) => line.slice(name.length + 2))
      .join("\n");
  return lines.some((line) => line.startsWith("event: ")) ? { name: field("event"), data: field("data") } : undefined;
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

/**
 * Keeps a stream to the inbox until it is stopped or signed out.
 *
 * @param {Listener} listener
 * @returns {{ wake(): void, stop(): void }}
 */
export function followEvents(listener) {
  let isStopped = false;
  let current = new AbortController();
  let wakeUp = () => {};

  /** @param {number} ms */
  const pause = (ms) =>
    new Promise((resolve) => {
      const timer = setTimeout(resolve, ms, undefined);
      wakeUp = () => {
        clearTimeout(timer);
        resolve(undefined);
      };
    });

  /** Whether a stream stood. */
  async function once() {
    current = new AbortController();
    let silence = 0;
    const alive = () => {
      clearTimeout(silence);
      silence = setTimeout(() => current.abort(), SILENCE_MS);
    };
    try {
      alive();
      const response = await openEvents(current.signal);
      if (response.status === 401) {
        isStopped = true;
        listener.signedOut();
        return false;
      }
      if (!response.ok || response.body === null) return false;
      await readAll(
        response.body,
        (name, data) => {
          if (isStopped) return;
          if (name === "hello") listener.link("live");
          if (name === "signed_out") {
            isStopped = true;
            listener.signedOut();
          } else listener.event(name, data);
        },
        alive,
      );
      return true;
    } catch {
      return false;
    } finally {
      clearTimeout(silence);
    }
  }

  async function run() {
    let waitMs = RETRY_MS;
    listener.link("connecting");
    while (!isStopped) {
      const stood = await once();
      if (isStopped) return;
      listener.link(navigator.onLine ? "lost" : "offline");
      waitMs = stood ? RETRY_MS : Math.min(waitMs * 2, RETRY_MS_MAX);
      await pause(waitMs);
    }
  }

  const offline = () => {
    current.abort();
    listener.link("offline");
  };
  const wake = () => wakeUp();
  addEventListener("offline", offline);
  addEventListener("online", wake);
  void run();
  return {
    wake,
    stop() {
      isStopped = true;
      removeEventListener("offline", offline);
      removeEventListener("online", wake);
      current.abort();
      wakeUp();
    },
  };
}
