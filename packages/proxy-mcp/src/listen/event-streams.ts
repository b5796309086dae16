/**
 * Event streams: what a session says over streams of server-sent events. Each event has an id, so that
 * a client whose connection breaks gets what it missed, on the stream that it was reading and no other.
 * What is kept for that is bounded; a stream with a gap is not resumed. Source: MCP 2025-11-25,
 * "Resumability and Redelivery", and WHATWG HTML §9.2.
 */
import type { ServerResponse } from "node:http";
import { KEPT_BYTES_MAX, KEPT_EVENTS_MAX, RETRY_MS } from "./limits.js";
import { createPressure } from "./pressure.js";
import type { Pressure } from "./pressure.js";

/** The type of a stream of events. */
export const EVENTS = "text/event-stream";

/** One stream. */
export interface EventStream {
  /** Whether somebody reads it now. */
  isConnected(): boolean;
  /** Says a line as an event; without a connection it is kept. */
  say(line: Buffer): void;
  /** Nothing more comes. */
  end(): void;
  /** Has a connection read it, from what nobody was sent yet. A former connection ends. */
  connect(response: ServerResponse, how: Connect): void;
  /** Closes the connection only; the client may come back. */
  disconnect(): void;
}

/** How a connection begins. */
export interface Connect {
  /** Whether an event without data comes first, so that there is an id to come back with. */
  readonly isPrimed: boolean;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The streams of one session. */
export interface EventStreams {
  open(): EventStream;
  /** Resumes a stream after an event; says why where it cannot. */
  resume(lastEventId: string, response: ServerResponse): string | undefined;
  /** Ends a response that is no stream, and waits for its client as for the others. */
  answer(response: ServerResponse, body: Buffer): void;
  /** Resolves when every connection takes more; nothing where all do. */
  pause(): Promise<void> | undefined;
  connections(): number;
  /** Shows that connections are not dead. */
  comment(): void;
  /** Ends all connections. */
  close(): void;
}

interface Kept {
  readonly stream: State;
  readonly seq: number;
  readonly line: Buffer;
}

interface State {
  readonly key: string;
  seq: number;
  /** The highest number that somebody was sent. */
  sent: number;
  /** The highest number that is not kept any more. */
  lost: number;
  isOver: boolean;
  response: ServerResponse | undefined;
}

interface All {
  readonly streams: Map<string, State>;
  readonly kept: Kept[];
  readonly limits: { readonly bytes: number; readonly events: number };
  readonly pressure: Pressure;
  bytes: number;
  next: number;
}

/** No stream is open. */
export function createEventStreams(
  limits: { readonly bytes: number; readonly events: number } = {
    bytes: KEPT_BYTES_MAX,
    events: KEPT_EVENTS_MAX,
  },
): EventStreams {
  const all: All = {
    streams: new Map(),
    kept: [],
    limits,
    pressure: createPressure(),
    bytes: 0,
    next: 1,
  };
  const connected = (): readonly ServerResponse[] =>
    [...all.streams.values()].flatMap(({ response }) => response ?? []);
  return {
    open: () => openStream(all),
    resume: (id, response) => resume(all, id, response),
    answer: all.pressure.end,
    pause: all.pressure.pause,
    connections: () => connected().length,
    comment() {
      for (const response of connected()) response.write(":\n\n");
    },
    close() {
      for (const stream of all.streams.values()) stream.isOver = true;
      for (const response of connected()) response.end();
    },
  };
}

function openStream(all: All): EventStream {
  if (all.streams.size >= all.limits.events) forgetEnded(all);
  const key = (all.next++).toString(36);
  const state: State = { key, seq: 0, sent: 0, lost: 0, isOver: false, response: undefined };
  all.streams.set(key, state);
  return {
    isConnected: () => state.response !== undefined,
    say(line) {
      const seq = ++state.seq;
      // Not the chunk that it came in.
      keep(all, { stream: state, seq, line: Buffer.from(line) });
      if (state.response === undefined) return;
      state.sent = seq;
      all.pressure.write(state.response, eventOf(state, seq, line));
    },
    end() {
      state.isOver = true;
      state.response?.end();
    },
    connect(response, { isPrimed, headers }) {
      begin(state, response, headers);
      if (isPrimed)
        all.pressure.write(response, `id: ${key}-${state.sent}\nretry: ${RETRY_MS}\ndata:\n\n`);
      replay(all, state, state.sent);
    },
    disconnect: () => void state.response?.end(),
  };
}

function begin(
  state: State,
  response: ServerResponse,
  headers: Readonly<Record<string, string>> = {},
): void {
  state.response?.destroy();
  state.response = response;
  response.once("close", () => {
    if (state.response === response) state.response = undefined;
  });
  writeEventsHead(response, headers);
}

/** The head of a stream of events. */
export function writeEventsHead(
  response: ServerResponse,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(200, {
    ...headers,
    "content-type": EVENTS,
    "cache-control": "no-cache, no-transform",
    // Otherwise some proxies hold events back.
    "x-accel-buffering": "no",
  });
  response.flushHeaders();
}

/** One event whose data is a line without breaks in it. */
export function eventText(line: Buffer, id?: string): Buffer {
  const head = `${id === undefined ? "" : `id: ${id}\n`}event: message\ndata: `;
  let end = line.length;
  while (end > 0 && (line[end - 1] === 0x0a || line[end - 1] === 0x0d)) end--;
  const event = Buffer.concat([Buffer.from(head), line.subarray(0, end), Buffer.from("\n\n")]);
  // A carriage return between values, which would end the event's line.
  for (let at = head.length; at < event.length - 2; at++) if (event[at] === 0x0d) event[at] = 0x20;
  return event;
}

const eventOf = ({ key }: State, seq: number, line: Buffer): Buffer =>
  eventText(line, `${key}-${seq}`);

const ID = /^([0-9a-z]{1,12})-(0|[1-9]\d{0,14})$/u;

function resume(all: All, lastEventId: string, response: ServerResponse): string | undefined {
  const [, key = "", seq = ""] = ID.exec(lastEventId) ?? [];
  const state = all.streams.get(key);
  const last = Number(seq);
  if (state === undefined || last > state.seq) return "this session has no such event";
  if (last < state.lost) return "what came after this event is no longer kept";
  begin(state, response);
  replay(all, state, last);
  return undefined;
}

function replay(all: All, state: State, after: number): void {
  const { response } = state;
  if (response === undefined) return;
  for (const { stream, seq, line } of all.kept)
    if (stream === state && seq > after) all.pressure.write(response, eventOf(state, seq, line));
  state.sent = state.seq;
  if (state.isOver) response.end();
}

function keep(all: All, event: Kept): void {
  all.kept.push(event);
  all.bytes += event.line.length;
  while (
    all.kept.length > 1 &&
    (all.bytes > all.limits.bytes || all.kept.length > all.limits.events)
  ) {
    const oldest = all.kept.shift();
    if (oldest === undefined) return;
    all.bytes -= oldest.line.length;
    oldest.stream.lost = oldest.seq;
  }
}

/** Of a stream that is over nothing but what is kept can be asked for. */
function forgetEnded(all: All): void {
  const needed = new Set(all.kept.map(({ stream }) => stream));
  for (const [key, stream] of all.streams)
    if (stream.isOver && stream.response === undefined && !needed.has(stream))
      all.streams.delete(key);
}
