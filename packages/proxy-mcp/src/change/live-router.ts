/**
 * Live router: the router of now of one client, whose servers change while it goes on. One server
 * passes everything unchanged, several do not (spec/mcp-proxy.md §6, §7): where one becomes several,
 * another router takes its place, and the client goes on. Rules: §22.
 */
import { announce } from "../announce.js";
import type { KeptSession } from "../kept-session.js";
import type { Router, RouterParts, Told } from "../router.js";
import { createManyRouter } from "../router-many.js";
import type { ManyRouter } from "../router-many.js";
import { createSingleRouter } from "../router-single.js";
import type { SingleRouter } from "../router-single.js";
import type { LocalUpstream } from "../server-process.js";
import type { Change } from "./change-many.js";

/** Whether a change holds for this client now, or from when it connects again. */
export type ChangeOutcome = "changed" | "later";

/** A router whose servers change. */
export interface LiveRouter extends Omit<Router, "greeting"> {
  /**
   * Has other servers take the place of those of now, once the client was greeted. Resolves when
   * what had to end has ended.
   */
  change(next: Change): Promise<ChangeOutcome>;
}

type Current =
  | { readonly single: SingleRouter; readonly config: LocalUpstream }
  | { readonly many: ManyRouter };

interface State {
  readonly parts: RouterParts;
  current: Current;
  isPaused: boolean;
  /** Its servers were changed: from then on nothing ends the connection but its client. */
  isChanged: boolean;
  saidFailure: string;
  readonly over: AbortController;
}

/** How often it is looked whether a client was greeted, in milliseconds. */
const LOOK_MS = 200;

/** Starts the servers. */
export function createLiveRouter(parts: RouterParts): LiveRouter {
  const state: State = {
    parts: { ...parts, onFailed: (why) => failed(state, parts, why) },
    current: NOT_YET,
    isPaused: false,
    isChanged: false,
    saidFailure: "",
    over: new AbortController(),
  };
  state.current = start(state.parts);
  // One after another: each begins with what the one before made.
  let changing: Promise<unknown> = Promise.resolve();
  const inTurn = <T>(act: () => Promise<T>): Promise<T> => {
    const done = changing.then(act);
    changing = done.catch(() => undefined);
    return done;
  };
  const now = (): Router => routerOf(state.current);
  return {
    take: (message) => now().take(message),
    pause(on) {
      state.isPaused = on;
      now().pause(on);
    },
    leave: () => now().leave(),
    async close() {
      state.over.abort(new Error("the client is gone"));
      const router = now();
      await router.close();
      // A change that was under way has made another one.
      await changing;
      if (now() !== router) await now().close();
    },
    change: (next) => inTurn(() => change(state, next)),
    restart: (names) => inTurn(() => restart(state, names)),
  };
}

function failed(state: State, { onFailed, log }: RouterParts, why: string): void {
  if (!state.isChanged) return onFailed(why);
  if (why !== state.saidFailure) log(why);
  state.saidFailure = why;
}

const NOT_YET: Current = {
  get many(): never {
    throw new Error("there is no router yet");
  },
};

const routerOf = (current: Current): Router =>
  "single" in current ? current.single : current.many;

function start(parts: RouterParts, told?: Told): Current {
  const [config, second] = parts.upstreams;
  // Another server's tools would be taken for those of the one before.
  const isSame = told === undefined || told.server === config?.name;
  return config !== undefined && second === undefined && isSame
    ? { single: createSingleRouter(parts, config, told?.session), config }
    : { many: createManyRouter(parts, told) };
}

/** One that is starting has nothing of before, and its client waits for it. */
async function restart(state: State, names: ReadonlySet<string>): Promise<void> {
  const router = routerOf(state.current);
  if (router.greeting() === "not yet") return;
  state.isChanged = true;
  await router.restart(names);
}

async function change(state: State, next: Change): Promise<ChangeOutcome> {
  const told = await greetingOf(state);
  // Whoever is not greeted was told nothing of its servers that could be told to others.
  if (told === "never" || state.over.signal.aborted) return "later";
  const { current } = state;
  state.isChanged = true;
  if ("many" in current) await current.many.change(next);
  else if (isOther(current.config, next)) await swap(state, current, { next, told });
  return "changed";
}

/** Whether the one server is not what it was, or has company. */
function isOther({ name }: LocalUpstream, { upstreams, changed }: Change): boolean {
  return upstreams.length !== 1 || upstreams[0]?.name !== name || changed.has(name);
}

/** What the client was greeted with, once it was. */
async function greetingOf({ current, parts, over }: State): Promise<KeptSession | "never"> {
  try {
    for (;;) {
      const greeting = routerOf(current).greeting();
      if (greeting !== "not yet") return greeting;
      await parts.clock.sleep(LOOK_MS, { signal: over.signal, background: true });
    }
  } catch {
    return "never"; // the client is gone
  }
}

/** Another router takes the place of the one for one server. */
async function swap(
  state: State,
  { single, config }: Extract<Current, { single: unknown }>,
  { next, told }: { readonly next: Change; readonly told: KeptSession },
): Promise<void> {
  const { over } = state;
  const { upstreams } = next;
  const capabilities = single.capabilities();
  await single.retire();
  if (over.signal.aborted) return;
  const parts = { ...state.parts, ...next.parts, upstreams };
  state.current = start(parts, { session: told, server: config.name });
  routerOf(state.current).pause(state.isPaused);
  if (told.initialized() !== undefined) announce(capabilities, state.parts.send);
}
