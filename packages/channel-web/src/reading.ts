/**
 * Reading: the routes that only tell: the stream of questions, and what ended. Format:
 * spec/web-inbox.md §3, §5.
 */
import { refuse, reply } from "./reply.js";
import type { InboxParts, Route, SessionCall } from "./routes.js";

const LIMIT = 50;
const LIMIT_MAX = 500;

async function list({ history, settings }: InboxParts, { url }: SessionCall): Promise<Response> {
  const text = url.searchParams.get("limit") ?? String(LIMIT);
  const limit = /^\d{1,4}$/.test(text) ? Number(text) : 0;
  if (limit < 1 || limit > LIMIT_MAX)
    return refuse("query_invalid", { message: `"limit" is not a number from 1 to ${LIMIT_MAX}` });
  try {
    return reply(200, { entries: await history.list(limit) });
  } catch (error) {
    settings.warn(
      `Cannot read the history: ${error instanceof Error ? error.message : "it failed"}`,
    );
    return refuse("history_unavailable");
  }
}

/** Routes that change nothing. */
export const READING_ROUTES: readonly Route[] = [
  {
    method: "GET",
    path: "/api/events",
    access: "session",
    handle: ({ streams }, { session, gone }) => streams.open(session, gone),
  },
  { method: "GET", path: "/api/history", access: "session", handle: list },
];
