/**
 * Configurations: what a resident holds open of each configuration of its home: the log, the
 * channels and their approve socket. The same text of the same file is one configuration.
 */
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import type { Invocation } from "../command.js";
import type { LeftQuestions } from "../gate/left-questions.js";
import { withSharedGate } from "../gate/shared-gate.js";
import type { SharedGate, WithGateParts } from "../gate/shared-gate.js";
import { openLeftOfHome } from "./left-of-home.js";
import type { LeftOfHome } from "./left-of-home.js";

/** What the sessions of one configuration have in common. */
export interface Base extends SharedGate {
  /** Of all configurations. */
  readonly leftQuestions: LeftQuestions;
}

/** How long a client has to come back for what it asked before its resident died. */
const GRACE_MS = 60_000;

/** What is open of each configuration. */
export interface Configurations {
  /** Opens what is not open yet, uses it, and closes what nobody uses any more, but for the last. */
  use<T>(parts: WithGateParts, use: (base: Base) => Promise<T>): Promise<T>;
  /**
   * The same for what is the resident's own and has to end before all is closed: rejects while that
   * is done.
   */
  useNow<T>(parts: WithGateParts, use: (base: Base) => Promise<T>): Promise<T>;
  /** How many approvers are attached. */
  attached(): number;
  /** Closes all once those who use it have ended; whoever comes meanwhile waits. */
  close(ended: Promise<unknown>): Promise<void>;
}

/** What is open of one configuration. */
interface Opened {
  readonly shared: Promise<Base>;
  readonly closed: Promise<void>;
  close(): void;
  users: number;
}

interface State extends ConfigurationsParts {
  readonly own: Invocation;
  readonly open: Map<string, Opened>;
  readonly attachedAt: Map<string, SharedGate>;
  /** What a resident that died left: taken over before the first configuration opens. */
  left: Promise<LeftOfHome> | undefined;
  /** Ends what nobody came back for. */
  grace: NodeJS.Timeout | undefined;
  count: number;
}

/** What configurations are opened with. */
export interface ConfigurationsParts {
  /** Called with what was opened, each time. */
  readonly onOpen: (base: Base) => void;
  /** Whether who connected to the approvers' socket may be heard. */
  readonly admits: NonNullable<WithGateParts["admits"]>;
}

/** Nothing is open yet. */
export function createConfigurations(own: Invocation, parts: ConfigurationsParts): Configurations {
  const state: State = {
    own,
    ...parts,
    open: new Map(),
    attachedAt: new Map(),
    left: undefined,
    grace: undefined,
    count: 0,
  };
  let closing: Promise<unknown> = Promise.resolve();
  let isClosing = false;
  const useNow: Configurations["useNow"] = async (of, use) => {
    if (isClosing) throw new Error("what is open is being closed");
    const [key, opened] = await take(state, of);
    try {
      const base = await opened.shared;
      state.attachedAt.set(key, base);
      return await use(base);
    } finally {
      opened.users--;
      // The last one stays open: approvers are attached to it.
      if (state.open.size > 1) await closeUnused(state, key, opened);
    }
  };
  return {
    useNow,
    async use(of, use) {
      // What is being closed keeps its log and its socket until then.
      while (isClosing) await closing;
      return await useNow(of, use);
    },
    attached: () =>
      [...state.attachedAt.values()].reduce((sum, { attached }) => sum + (attached() ?? 0), 0),
    async close(ended) {
      isClosing = true;
      closing = ended.then(() => closeAll(state)).finally(() => (isClosing = false));
      await closing;
    },
  };
}

/** What is open of a configuration, with one user more. */
async function take(state: State, parts: WithGateParts): Promise<readonly [string, Opened]> {
  const { own, open } = state;
  const key = await keyOf(parts);
  // Its text may have changed, and another one takes over its log and its channels.
  for (const [other, unused] of open) if (other !== key) await closeUnused(state, other, unused);
  // From here on nothing is awaited: one configuration is opened once, and not closed before use.
  let opened = open.get(key);
  if (opened === undefined) {
    // The first keeps the name that one gate of one process has.
    const name = state.count++ === 0 ? undefined : `${own.io.pid}-${state.count}.sock`;
    opened = openShared(state, { ...parts, ...(name !== undefined && { socketName: name }) });
    opened.shared.then(state.onOpen, () => open.delete(key));
    open.set(key, opened);
  }
  opened.users++;
  return [key, opened];
}

async function closeUnused({ open, attachedAt }: State, key: string, one: Opened): Promise<void> {
  if (one.users > 0 || open.get(key) !== one) return;
  open.delete(key);
  attachedAt.delete(key);
  one.close();
  await one.closed;
}

async function closeAll(state: State): Promise<void> {
  const all = [...state.open.values()];
  state.open.clear();
  state.attachedAt.clear();
  state.count = 0;
  for (const each of all) each.close();
  await Promise.all(all.map(({ closed }) => closed));
  clearTimeout(state.grace);
  const { left } = state;
  state.left = undefined;
  await (await left?.catch(() => undefined))?.[Symbol.asyncDispose]();
}

/** What was left; where it cannot be opened, the next configuration tries again. */
function takeLeft(state: State, parts: WithGateParts): Promise<LeftOfHome> {
  state.left ??= openLeftOfHome(parts).then(
    (left) => {
      state.grace = setTimeout(() => void endUnclaimed(state, left), GRACE_MS).unref();
      return left;
    },
    (error: unknown) => {
      state.left = undefined;
      throw error;
    },
  );
  return state.left;
}

/** Never rejects: a store or log that fails shows itself at the next call. */
async function endUnclaimed({ open }: State, left: LeftOfHome): Promise<void> {
  const [one] = open.values();
  if (one === undefined) return;
  one.users++;
  try {
    await left.endUnclaimed(await one.shared);
  } catch {
    // Said at the next call.
  } finally {
    one.users--;
  }
}

/** For users of the same home directory. */
async function keyOf({
  source: { file, config },
  invocation,
  homeKeys,
}: WithGateParts): Promise<string> {
  const text = config === undefined ? "" : await readFile(file, "utf8");
  const words = [file, invocation.io.userHome, text, homeKeys.keys !== undefined];
  return createHash("sha256").update(JSON.stringify(words)).digest("hex");
}

function openShared(state: State, parts: WithGateParts): Opened {
  const { source, home, homeKeys, socketName } = parts;
  const done = deferred<void>();
  const ready = deferred<Base>();
  const open = async (): Promise<void> => {
    const left = await takeLeft(state, parts);
    const shared = {
      source,
      home,
      homeKeys,
      left: left.files,
      ...ownParts(state.own),
      ...(socketName !== undefined && { socketName }),
      admits: state.admits,
    };
    await withSharedGate(shared, async (base) => {
      left.tellIgnored(base.notices);
      ready.resolve({ ...base, leftQuestions: left.questions });
      await done.promise;
    });
  };
  const closed = open().catch((error: unknown) => ready.reject(error));
  return { shared: ready.promise, closed, close: () => done.resolve(), users: 0 };
}

/** The resident's part in a gate that clients share; each of them says how its own agent is held. */
export const ownParts = (
  own: Invocation,
): Pick<WithGateParts, "invocation" | "signal" | "host" | "agentId" | "ways"> => ({
  invocation: own,
  signal: own.io.onStop(),
  host: { sharesUid: false },
  agentId: "resident",
  ways: [],
});

interface Deferred<T> {
  readonly promise: Promise<T>;
  resolve(value: T): void;
  reject(error: unknown): void;
}

function deferred<T>(): Deferred<T> {
  let settle: Pick<Deferred<T>, "resolve" | "reject"> = {
    resolve: () => undefined,
    reject: () => undefined,
  };
  const promise = new Promise<T>((resolve, reject) => {
    settle = { resolve, reject };
  });
  return {
    promise,
    resolve: (value) => settle.resolve(value),
    reject: (why) => settle.reject(why),
  };
}
