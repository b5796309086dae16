/**
 * Answer address: where a person answers a question of this home's gates, as the inbox that runs now
 * tells it. Format: spec/web-inbox.md §9.
 */
import { createConnection } from "node:net";
import { join } from "node:path";

/** How long an inbox may take; one that hangs is none. */
const PATIENCE_MS = 1_000;
const ORIGIN_CHARS_MAX = 2_048;

/** Where an inbox of the home tells it. Not `.sock`: no gate listens here. */
export const pageSocket = (home: string): string => join(home, "run", "inbox.page");

/** Whether an origin may be told: a name that only its owner can serve. */
export const isTold = (origin: string): boolean =>
  URL.canParse(origin) && new URL(origin).origin === origin && origin.startsWith("https://");

/** The origin of the inbox that runs now; `undefined` where there is none, or none that is told. */
function readOrigin(home: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    const socket = createConnection(pageSocket(home));
    let text = "";
    const settle = (origin: string | undefined): void => {
      socket.destroy();
      resolve(origin);
    };
    socket.setEncoding("utf8").setTimeout(PATIENCE_MS, () => settle(undefined));
    socket.on("error", () => settle(undefined));
    socket.on("data", (chunk: string) => {
      text += chunk;
      if (text.length > ORIGIN_CHARS_MAX) settle(undefined);
    });
    socket.on("close", () => {
      const origin = text.endsWith("\n") ? text.slice(0, -1) : "";
      settle(isTold(origin) ? origin : undefined);
    });
  });
}

/** Where a question of the home's gates is answered; see `McpProxyOptions.answerAddress`. */
export function answerAddressOf(home: string): (requestId: string) => Promise<string | undefined> {
  return async (requestId) => {
    const origin = await readOrigin(home);
    // Behind "#": no server on the way is told which question it is.
    return origin === undefined ? undefined : `${origin}/#/q/${encodeURIComponent(requestId)}`;
  };
}
