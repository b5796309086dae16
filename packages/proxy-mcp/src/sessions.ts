/**
 * Sessions: MCP connections that the caller opened for agents, framed as on stdio, each with its
 * own servers. The number that an agent has at a time is limited, because each is a set of
 * processes. Format and rules: spec/mcp-proxy.md §10.
 */
import type { Duplex } from "node:stream";
import { type Agent, type Clock, type ConsentGate, systemClock } from "@acp/core";
import { createLineSplitter } from "./framing.js";
import type { RequestRoom } from "./in-flight.js";
import { SESSION_LINGER_MS, SESSIONS_MAX } from "./limits.js";
import { idAtEdges, readClientLine } from "./message.js";
import {
  checkUpstreams,
  createMcpProxy,
  type McpProxy,
  type McpProxyOptions,
  type UpstreamChange,
} from "./proxy.js";
import { errorLine, INTERNAL_ERROR, type RpcId } from "./rpc.js";

/** Whose connection a session serves. */
export interface SessionCaller {
  /** Who makes the calls; rules, limits and the log see its id. */
  readonly agent: Agent;
  /** The session that the calls belong to, if there is one. */
  readonly session?: string;
  /** Its own gate, if it has a policy of its own. Absent: the sessions' gate. */
  readonly gate?: ConsentGate;
  /** Its own room for requests, where it has one. Absent: the sessions' room. */
  readonly room?: RequestRoom;
}

/** Options of {@link createMcpSessions}; every session's proxy gets them. */
export interface McpSessionsOptions
  extends Omit<McpProxyOptions, "agent" | "session" | "input" | "output"> {
  /**
   * How many sessions an agent may have at a time, together with all agents that it started.
   * Default: 8.
   */
  readonly sessionsMax?: number;
}

/** The sessions of any number of agents. */
export interface McpSessions {
  /**
   * Serves a connection until one side ends it. If the agent has too many sessions, its first
   * request is answered with the reason.
   */
  serve(socket: Duplex, caller: SessionCaller): void;
  /**
   * Has other servers take the place of those of now in every session, as {@link McpProxy.change}
   * does, and in those to come. Resolves when what had to end has ended.
   *
   * @throws ConsentError `options_invalid`: nothing is changed.
   */
  change(next: UpstreamChange): Promise<void>;
  /** Has servers of every session started anew. */
  restart(names: readonly string[]): Promise<void>;
  /** Ends all sessions and takes no more. Resolves when their servers are gone. */
  close(): Promise<void>;
}

/**
 * Creates the sessions for a set of servers. Each session starts its own processes of the servers.
 *
 * @throws ConsentError `options_invalid`.
 */
export function createMcpSessions({
  sessionsMax = SESSIONS_MAX,
  signal,
  ...options
}: McpSessionsOptions): McpSessions {
  checkUpstreams(options.upstreams);
  const { clock = systemClock, log } = options;
  const running = new Map<McpProxy, string>();
  let { upstreams, pins, trustedAnnotations } = options;
  let isClosed = signal?.aborted === true;
  const close = async (): Promise<void> => {
    isClosed = true;
    await Promise.all([...running.keys()].map((proxy) => proxy.close()));
  };
  signal?.addEventListener("abort", () => void close(), { once: true });
  return {
    serve(socket, { agent, session, gate = options.gate, room = options.room }) {
      socket.on("error", ignore);
      const owner = ownerOf(agent);
      const count = [...running.values()].filter((each) => each === owner).length;
      if (isClosed || count >= sessionsMax) {
        const why = isClosed ? "the proxy is closing" : `the agent has ${count} sessions already`;
        log(`refused an MCP session of ${JSON.stringify(agent.id)}: ${why}`);
        return turnAway(socket, { why: `Cannot open a session: ${why}`, clock });
      }
      const proxy = createMcpProxy({
        ...options,
        upstreams,
        ...(pins !== undefined && { pins }),
        ...(trustedAnnotations !== undefined && { trustedAnnotations }),
        gate,
        agent,
        input: socket,
        output: socket,
        ...(session === undefined ? {} : { session }),
        ...(room === undefined ? {} : { room }),
      });
      running.set(proxy, owner);
      void proxy.done.then(() => {
        running.delete(proxy);
        letGo(socket, clock);
      });
    },
    async change(next) {
      checkUpstreams(next.upstreams);
      ({ upstreams, pins, trustedAnnotations } = next);
      await Promise.all([...running.keys()].map((proxy) => proxy.change(next)));
    },
    async restart(names) {
      await Promise.all([...running.keys()].map((proxy) => proxy.restart(names)));
    },
    close,
  };
}

const ignore = (): void => {};

/** A part of an agent shares the number of the agent that started it: names of parts are cheap. */
const ownerOf = ({ id, parents = [] }: Agent): string => parents.at(-1) ?? id;

/**
 * Its output is ended. What the client still sends is thrown away, for a reset could overtake the
 * answer; one that goes on for too long is cut.
 */
function letGo(socket: Duplex, clock: Clock): void {
  if (socket.destroyed) return;
  const over = new AbortController();
  socket.once("close", () => over.abort());
  socket.resume();
  clock
    .sleep(SESSION_LINGER_MS, { signal: over.signal, background: true })
    .then(() => socket.destroy(), ignore);
}

/** Answers the first request with the reason: only so does a client show it. */
function turnAway(
  socket: Duplex,
  { why, clock }: { readonly why: string; readonly clock: Clock },
): void {
  let isTold = false;
  const tell = (id: RpcId | undefined): void => {
    if (isTold) return;
    isTold = true;
    socket.end(
      errorLine(id, { code: INTERNAL_ERROR, message: why, data: { code: "session_refused" } }),
    );
  };
  const splitter = createLineSplitter({
    onLine(line) {
      const message = readClientLine(line);
      if (message?.kind === "request" || message?.kind === "refused") tell(message.id);
    },
    onOversize: (line) => tell(idAtEdges(line)),
  });
  socket.on("data", (chunk: Buffer) => isTold || splitter.push(chunk));
  socket.on("end", () => tell(undefined));
  letGo(socket, clock);
}
