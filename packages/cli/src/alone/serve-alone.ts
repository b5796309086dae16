/**
 * Serve alone: a gate of this process's own. Where much of the index of its logs is missing, the
 * client is served at once, as a resident serves it: what the policy denies is denied, and everything
 * else is answered with `index_rebuilding` until the index is whole. Then the gate opens, and the
 * client goes on with it.
 */
import { isConsentError } from "@acp/core";
import { homePaths } from "@acp/home";
import type { Invocation } from "../command.js";
import { ALONE, serveMcp } from "../commands/mcp.js";
import type { GatesOfHome } from "../commands/mcp.js";
import { serveMcpHttp, serveMcpHttpLocked } from "../commands/mcp-serve.js";
import { serveProxy } from "../commands/proxy-http.js";
import type { Exit } from "../exit-codes.js";
import { ownHomePath } from "../home/home-source.js";
import { createIndexRebuild } from "../logs/index-rebuild.js";
import type { IndexRebuild } from "../logs/index-rebuild.js";
import { createLockedDenials } from "../resident/locked-denials.js";
import type { LockedDenials } from "../resident/locked-denials.js";
import { serveProxyLocked } from "../resident/locked-proxy.js";
import { rebuildingWait, serveLocked } from "../resident/locked.js";
import type { ServeLocked, Wait } from "../resident/locked.js";
import type { Doors } from "../resident/doors.js";
import type { LinkHandlers } from "../resident/link.js";
import { createRelay } from "../resident/relay.js";
import { createOwnDoors } from "./own-doors.js";
import { openOwnSession } from "./own-session.js";
import type { OwnSession } from "./own-session.js";

/**
 * Serves an MCP client with a gate of this process's own.
 *
 * @param rebuild - In place of the home's; for tests.
 */
export function serveMcpAlone(invocation: Invocation, rebuild?: IndexRebuild): Promise<Exit> {
  return whileRebuilding(invocation, rebuild, {
    whole: () => serveMcp(invocation, ALONE),
    rebuilding: (rebuilding) => relayed(invocation, rebuilding),
  });
}

/** Serves programs with a gate of this process's own. */
export function serveProxyAlone(invocation: Invocation, rebuild?: IndexRebuild): Promise<Exit> {
  return whileRebuilding(invocation, rebuild, {
    whole: () => serveProxy(invocation, ALONE),
    rebuilding: (rebuilding) =>
      listening(invocation, rebuilding, { locked: serveProxyLocked, whole: serveProxy }),
  });
}

/** Serves agents over HTTP with a gate of this process's own. */
export function serveMcpHttpAlone(invocation: Invocation, rebuild?: IndexRebuild): Promise<Exit> {
  return whileRebuilding(invocation, rebuild, {
    whole: () => serveMcpHttp(invocation, ALONE),
    rebuilding: (rebuilding) =>
      listening(invocation, rebuilding, { locked: serveMcpHttpLocked, whole: serveMcpHttp }),
  });
}

/** An index that is being made. */
interface Rebuilding {
  readonly rebuild: IndexRebuild;
  readonly wait: Wait;
  /** A gate that says in its log what was denied before it. */
  readonly gates: GatesOfHome;
}

interface Ways {
  readonly whole: () => Promise<Exit>;
  readonly rebuilding: (rebuilding: Rebuilding) => Promise<Exit>;
}

async function whileRebuilding(
  invocation: Invocation,
  given: IndexRebuild | undefined,
  { whole, rebuilding }: Ways,
): Promise<Exit> {
  await using rebuild =
    given ??
    createIndexRebuild({
      home: homePaths(ownHomePath(invocation)),
      say: (text) => invocation.print.notice(text),
    });
  if (await isOpen(rebuild)) return await whole();
  const denials = createLockedDenials("While the index of the audit logs was being rebuilt");
  const wait = rebuildingWait(rebuild, denials.count);
  return await rebuilding({ rebuild, wait, gates: gatesAfter(denials) });
}

/** Whether a gate may open. A home that cannot be looked at is for whoever opens it. */
async function isOpen(rebuild: IndexRebuild): Promise<boolean> {
  try {
    await rebuild.check();
    return true;
  } catch (error) {
    return !isConsentError(error, "index_rebuilding");
  }
}

function gatesAfter(denials: LockedDenials): GatesOfHome {
  return {
    ...ALONE,
    withGate: (parts, use) =>
      ALONE.withGate(parts, (inUse) => {
        const text = denials.take();
        if (text !== undefined) inUse.notices.tell("denied_while_rebuilding", text);
        return use(inUse);
      }),
  };
}

/** The client's streams go to one session after the other; nothing that it sends is lost. */
async function relayed(invocation: Invocation, rebuilding: Rebuilding): Promise<Exit> {
  const { io } = invocation;
  try {
    return await new Promise<Exit>((resolve, reject) => {
      const serve = serveInTurn(invocation, rebuilding);
      createRelay({
        input: io.stdin,
        output: io.stdout,
        open(handlers) {
          const own = openOwnSession(io, handlers);
          // Not before the relay has it.
          setImmediate(() => void serve(own, handlers).catch(reject));
          return Promise.resolve(own.link);
        },
        notice: (bytes) => void io.stderr.write(bytes),
        again: "The index of the audit logs is whole: calls are judged from now on",
        exit: (code) => resolve(serve.ended() ?? (code === 0 ? "ok" : "failed")),
      });
    });
  } finally {
    io.stdin.destroy();
  }
}

interface ServeInTurn {
  (own: OwnSession, handlers: LinkHandlers): Promise<void>;
  /** How the gate's session ended. */
  ended(): Exit | undefined;
}

/** The first session is refused until the index is whole, the next one has the gate. */
function serveInTurn(invocation: Invocation, rebuilding: Rebuilding): ServeInTurn {
  const stop = invocation.io.onStop();
  let isFirst = true;
  let ended: Exit | undefined;
  const serve = async (own: OwnSession, handlers: LinkHandlers): Promise<void> => {
    const inside = { ...invocation, io: own.io };
    if (isFirst) {
      isFirst = false;
      void rebuilding.rebuild.whole.then(own.hold);
      await serveLocked(inside, rebuilding.wait, stop);
    } else ended = await serveMcp(inside, rebuilding.gates);
    if (!stop.aborted) await own.flush();
    handlers.onEnd(stop.aborted || ended !== undefined ? { code: 0 } : "again");
  };
  return Object.assign(serve, { ended: () => ended });
}

/** What listens, before the index is whole and after. */
interface Listeners {
  readonly locked: (doors: Doors) => ServeLocked;
  readonly whole: (invocation: Invocation, gates: GatesOfHome, doors: Doors) => Promise<Exit>;
}

/** Programs keep the port. */
async function listening(
  invocation: Invocation,
  { rebuild, wait, gates }: Rebuilding,
  { locked, whole }: Listeners,
): Promise<Exit> {
  const stop = invocation.io.onStop();
  await using doors = createOwnDoors();
  const over = new AbortController();
  void rebuild.whole.then(() => over.abort());
  await locked(doors)(invocation, wait, AbortSignal.any([stop, over.signal]));
  doors.shut();
  return stop.aborted ? "ok" : await whole(invocation, gates, doors);
}
