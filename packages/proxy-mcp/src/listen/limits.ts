/** Limits of the listener, each with its unit and reason. */
import { LINE_BYTES_MAX } from "../limits.js";

/** Bytes of one body: a line, without its line feed. */
export const BODY_BYTES_MAX: number = LINE_BYTES_MAX - 1;
/** Bytes of a request's head. */
export const HEAD_BYTES_MAX: number = 16 * 1024;
/** Bytes of all bodies that are being read: a few large ones, many of a usual size. */
export const READING_BYTES_MAX: number = 64 * 1024 * 1024;
/** Bytes of one client's bodies that are being read: half, so that others have theirs. */
export const READING_OF_CLIENT_BYTES_MAX: number = 32 * 1024 * 1024;
/** A body of up to so many bytes is read whatever others send: a usual call and more. */
export const SMALL_BODY_BYTES_MAX: number = 64 * 1024;
/** Connections at a time, of all clients. A resident passes on as many of one client. */
export const CONNECTIONS_MAX = 512;
/** Connections of one client that have no request. */
export const IDLE_OF_CLIENT_MAX = 128;
/** Requests of one client that are being answered, streams included; others have places left. */
export const OPEN_OF_CLIENT_MAX = 256;
/** Sessions of one client; each starts every server anew, and a client has a few conversations. */
export const CLIENT_SESSIONS_MAX = 8;
/** A connection has this long to send the head of its first request. */
export const HEAD_MS_MAX = 10_000;
/** A body has this long to come: 10 MiB, on this machine. */
export const BODY_MS_MAX = 60_000;
/** A connection without a request is closed after this. */
export const KEEP_ALIVE_MS = 60_000;
/** A client that reads nothing for so long loses the connection; it may resume its streams. */
export const STALLED_MS_MAX = 60_000;
/** A proxy that does not read has so long to hear that its session is over. */
export const END_MS_MAX = 10_000;
/** When the listener closes, a client has so long to read what was said to it. */
export const CLOSE_MS_MAX = 2_000;
/** A session without any connection ends after this: its client is gone, or starts another one. */
export const IDLE_MS: number = 30 * 60_000;
/** How often silent streams get a comment, and sessions are looked at. */
export const TICK_MS = 15_000;
/** A request that is answered later than this gets a stream, so that nobody takes it for dead. */
export const SILENT_MS = 5_000;
/**
 * Bytes of events that a session keeps for a client that comes back: the longest answer, and what
 * belongs to it.
 */
export const KEPT_BYTES_MAX: number = 16 * 1024 * 1024;
/** Events that a session keeps. */
export const KEPT_EVENTS_MAX = 1_000;
/** What a client waits before it opens a stream again, in milliseconds. */
export const RETRY_MS = 1_000;
/** States of unfinished requests remembered of one client. */
export const STATES_MAX = 1_000;
/** Lines of the log in the time of a tick. */
export const LOGGED_MAX = 100;
