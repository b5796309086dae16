/**
 * Limits: every size, count and time bound of the proxy, with its unit and reason.
 */

/** Bytes of one line; the MCP SDK's own read buffer ends at the same size. */
export const LINE_BYTES_MAX: number = 10 * 1024 * 1024;
/** Bytes kept of each end of a line that is too long, to find its id. */
export const OVERSIZE_EDGE_BYTES = 1_024;
/**
 * Values in one line of the client: members of objects and items of arrays. To read more takes longer
 * than others of the same process should wait.
 */
export const VALUES_MAX: number = 64 * 1024;
/**
 * The same in the arguments of a call: they are read, copied, judged, hashed and logged before anybody
 * else has a turn.
 */
export const ARGUMENT_VALUES_MAX: number = 16 * 1024;
/**
 * Bytes of the arguments of a call as written: an action has 1 MiB, and no text is more than three
 * times as long with all of its letters escaped.
 */
export const ARGUMENT_BYTES_MAX: number = 3 * 1024 * 1024;
/**
 * Lines of one stream that are taken in one turn of the event loop: judging a call takes parts of a
 * millisecond, and others should not wait for many.
 */
export const LINES_AT_ONCE = 16;
/** The same where several clients share the process: with what stands around a gate, a call takes 2 ms. */
export const SHARED_LINES_AT_ONCE = 2;
/** The same of its bytes. */
export const BYTES_AT_ONCE: number = 64 * 1024;
/** What was found in a longer line is kept: to go through it again takes a while. */
export const LONG_LINE_BYTES: number = 64 * 1024;
/** Arguments of a call that are longer are handled a piece in each turn of the event loop. */
export const LONG_ARGUMENT_CHARS: number = 64 * 1024;
/** Requests of the client that may wait for an answer at once. */
export const IN_FLIGHT_MAX = 10_000;
/** Bytes of tool calls that may be held at once while they are judged or asked about. */
export const HELD_BYTES_MAX: number = 256 * 1024 * 1024;

/**
 * Bytes that may wait for a client that reads too slowly before it is read no more; answers and
 * refusals alone could fill the memory.
 */
export const UNREAD_BYTES_MAX: number = 64 * 1024 * 1024;

/**
 * How often a waiting call reports progress; clients that honour progress reset their time-out by
 * it.
 */
export const PROGRESS_EVERY_MS = 10_000;
/**
 * When a waiting call is answered "pending, call again"; the MCP SDK's client gives up after 60 s.
 */
export const PENDING_AFTER_MS = 45_000;
/**
 * How long a server may take to answer `initialize`; shorter than the 60 s of the MCP SDK's client,
 * so that ours is the error it sees.
 */
export const START_TIMEOUT_MS = 50_000;
/** How long the proxy's own `tools/list` may hold up a call. */
export const LIST_TIMEOUT_MS = 5_000;
/** After so long a call of a tool that the proxy's own list did not name asks for another list. */
export const LIST_AGAIN_MS = 10_000;
/** Pages of one own `tools/list`. */
export const LIST_PAGES_MAX = 50;

/**
 * After its input ended a server has this long to exit by itself; the MCP SDK's client gives its
 * server (us) 2 s.
 */
export const EXIT_GRACE_MS = 1_000;
/** After SIGTERM a server has this long before SIGKILL. */
export const KILL_GRACE_MS = 500;
/** After the proxy was told to stop, a client has this long to read what is left. */
export const FLUSH_GRACE_MS = 1_000;
/** How long output of an exited server is still read, where a child of it keeps the pipe open. */
export const DRAIN_MS = 250;
/** How often that time may pass while what was said waits for its turn. */
export const DRAIN_TIMES_MAX = 20;

/**
 * Sessions of one agent at a time; each starts every server anew, and a client with several
 * conversations has a few.
 */
export const SESSIONS_MAX = 8;
/** How long a client of an ended session may go on reading and sending before it is cut. */
export const SESSION_LINGER_MS = 5_000;

/** Tools remembered for one server. */
export const TOOLS_MAX = 10_000;

/** Bytes of a server's lists that are remembered of what the proxy asks for itself, or held back. */
export const LISTS_BYTES_MAX: number = 16 * 1024 * 1024;

/** Texts that are compared with their pins in one turn of the loop. */
export const LOOKS_MAX = 2_000;
/** JSON text of one input schema; a larger one is not compiled. */
export const SCHEMA_CHARS_MAX: number = 128 * 1024;
/** Nesting of an input schema; a deeper one is not compiled. */
export const SCHEMA_DEPTH_MAX = 64;
/**
 * Characters of a plain schema times characters of the arguments that are checked without a
 * watchdog; the worst case takes some milliseconds.
 */
export const PLAIN_WORK_MAX: number = 64 * 1024 * 1024;
/** JSON text of a plain schema that compiles within some milliseconds. */
export const QUICK_SCHEMA_CHARS_MAX: number = 8 * 1024;
/** A schema that took longer than this in the worker is never compiled in the proxy's own thread. */
export const QUICK_COMPILE_MS_MAX = 20;
/** Memory that the worker may take for schemas. */
export const WORKER_MEGABYTES_MAX = 64;
/** JSON text of all schemas that one worker keeps; then another one begins. */
export const WORKER_SCHEMA_CHARS_MAX: number = 2 * 1024 * 1024;
/** The worker ends after this long without work. */
export const WORKER_IDLE_MS = 60_000;
/** After so many schemas that took too long, no further one of their proxy is looked at. */
export const TOO_SLOW_MAX = 3;
/** How long compiling one schema may take. */
export const COMPILE_MS_MAX = 500;
/** How long one check of arguments may take: regular expressions, recursion, unions. */
export const CHECK_MS_MAX = 50;
/** Schema errors told to the model in one answer. */
export const SCHEMA_ERRORS_MAX = 8;

/**
 * After so long a silence on a server's stderr its last complete line is logged, also where it may
 * be the beginning of a wrapped secret.
 */
export const STDERR_QUIET_MS = 250;
/** Characters of one line of a server's stderr that are logged. */
export const LOG_LINE_CHARS_MAX = 2_000;
/** Routes (resource URIs, task ids) remembered with several servers. */
export const ROUTES_MAX = 100_000;
/** Subscriptions of one client to one server that are repeated to a process that follows. */
export const SUBSCRIPTIONS_MAX = 1_000;

/** A server that died is started again after this; each further time after twice as long. */
export const BACK_OFF_MS = 500;
/** The longest of these pauses. */
export const BACK_OFF_MS_MAX = 60_000;
/** A server that stood this long begins with the shortest pause again. */
export const STOOD_MS = 60_000;
/** A server that is removed or restarted may finish what it has for this long. */
export const DRAIN_CALLS_MS = 10_000;
/** How often it is looked whether it has. */
export const DRAIN_LOOK_MS = 50;
/** A client is told to wait at least this long: a process takes a while to start. */
export const RETRY_MS_MIN = 1_000;
/** After the first server's answer to `initialize`, the others have this long before the client has it. */
export const LATE_AFTER_MS = 3_000;
/** The most that `UpstreamLimits.messageBytesMax` may be; a text of JavaScript has twice as much. */
export const MESSAGE_BYTES_MAX: number = 256 * 1024 * 1024;
/** Of messages over HTTP that are longer, one at a time is read: many come at once. */
export const LARGE_BYTES: number = 1024 * 1024;
/** A call that waits for others of its server when its client leaves waits no longer than this. */
export const LEFT_CALL_MS = 10_000;
/** Calls that timed out, whose answers are still dropped when they come; the oldest are forgotten. */
export const EXPIRED_MAX = 10_000;
/** Requests that a server shared by several clients has at a time, where nobody says otherwise. */
export const SHARED_CALLS_MAX = 64;
/** A shared server without any client ends after this long. */
export const SHARED_IDLE_MS = 30_000;
