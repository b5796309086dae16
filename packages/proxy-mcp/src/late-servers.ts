/**
 * Late servers: those that take longer to start than the others of their client, which is answered
 * without them. Each joins when it is up, and its client is told to look again. Rules:
 * spec/mcp-proxy.md §14.
 */
import type { Clock } from "@acp/core";
import { announce } from "./announce.js";
import { regreet } from "./greet.js";
import type { Greeted } from "./greet.js";
import { BACK_OFF_MS, BACK_OFF_MS_MAX } from "./limits.js";
import type { Greeting, ManyState } from "./many-state.js";
import { isRecord } from "./message.js";
import type { Peer } from "./peer.js";

/** A server that was asked for `initialize`. */
export interface Asked {
  readonly peer: Peer;
  /** `undefined` where it failed. Never rejects. */
  readonly answer: Promise<Greeted | undefined>;
}

/** It could not be used. */
export const FAILED: Asked["answer"] = Promise.resolve(undefined);

/** Until when the client waits for servers. */
export interface Deadline {
  /** The first server has answered. */
  begin(): void;
  /** What is there by then, and who is not. */
  settled(asked: readonly Asked[]): Promise<{
    readonly values: readonly (Greeted | undefined)[];
    readonly late: readonly Asked[];
  }>;
  end(): void;
}

/** Begins with the first answer: nobody is waited for in vain, and one is waited for. */
export function createDeadline(clock: Clock, ms: number): Deadline {
  const over = new AbortController();
  let begin: () => void = () => {};
  const begun = new Promise<void>((resolve) => {
    begin = resolve;
  });
  const passed = begun
    .then(() => clock.sleep(ms, { signal: over.signal, background: true }))
    .catch(() => {});
  return {
    begin,
    async settled(asked) {
      const done = new Map<Asked, Greeted | undefined>();
      const all = asked.map(async (each) => void done.set(each, await each.answer));
      await Promise.race([Promise.all(all), passed]);
      return {
        values: [...done.values()],
        late: asked.filter((each) => !done.has(each)),
      };
    },
    end: () => over.abort(new Error("the client has its answer")),
  };
}

/**
 * The server joins when it answers in the version that the client was told. One that cannot be used
 * is started once more after a while, which grows, until its client is gone.
 */
export async function joinLate(
  state: ManyState,
  { peer, answer }: Asked,
  greeting: Greeting & { readonly version: string },
): Promise<void> {
  let greeted = await answer;
  for (let pauseMs = BACK_OFF_MS; greeted === undefined; pauseMs *= 2) {
    if (!(await rested(state, peer, Math.min(pauseMs, BACK_OFF_MS_MAX)))) return;
    greeted = await regreet(state, peer, greeting);
  }
  const { version } = greeting;
  if (greeted.version !== version) {
    greeted = await regreet(state, peer, greeting);
    if (greeted === undefined) return joinLate(state, { peer, answer: FAILED }, greeting);
  }
  if (greeted.version !== version) {
    const speaks = `Server "${peer.name}" speaks protocol version ${JSON.stringify(greeted.version)}`;
    peer.giveUp(`${speaks}, and its client ${JSON.stringify(version)}`, true);
    return;
  }
  peer.join(greeted.result.capabilities);
  state.parts.log(`Server "${peer.name}" has started`);
  announceOf(state, peer);
}

/** False where nobody needs it any more. */
async function rested({ parts }: ManyState, peer: Peer, ms: number): Promise<boolean> {
  try {
    const resting = peer.rest(ms);
    parts.log(`${peer.failure?.reason}; it is started again in ${ms} ms`);
    await resting;
    return true;
  } catch {
    return false; // it was closed
  }
}

/** Before the client has initialized it has listed nothing. */
export function announceOf({ handshakeOver, parts }: ManyState, { capabilities }: Peer): void {
  if (handshakeOver) announce(capabilities, parts.send);
}

/** What the model is told of a server that is late. */
export function lateText(server: string): string {
  return `Server "${server}" is still starting; its tools are listed once it is up.`;
}

/**
 * What the client is told that its servers can do. Lists change when a server joins or is back; what
 * a late server can do is declared before anybody knows whether it can.
 */
export function declared<T extends object>(result: T, hasLate: boolean): T {
  const known =
    "capabilities" in result && isRecord(result.capabilities) ? result.capabilities : {};
  const listed = { listChanged: true };
  const all: Readonly<Record<string, object>> = {
    tools: listed,
    prompts: listed,
    resources: hasLate ? { subscribe: true, ...listed } : listed,
    ...(hasLate && { logging: {}, completions: {} }),
  };
  const more = new Map<string, object>();
  for (const [name, own] of Object.entries(all)) {
    const has = known[name];
    if (isRecord(has) || hasLate) more.set(name, { ...(isRecord(has) && has), ...own });
  }
  return { ...result, capabilities: { ...known, ...Object.fromEntries(more) } };
}
