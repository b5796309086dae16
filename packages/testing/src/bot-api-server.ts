/** BotApiServer: HTTP around the calls of a Bot API double, and what goes wrong on demand. */
import { type IncomingMessage, type Server, type ServerResponse, createServer } from "node:http";
import type { JsonObject, JsonValue } from "@acp/core";
import { type BotApiCall, readCall } from "./bot-api-http.js";
import { type Refusal, RefusedCall, checkCall } from "./bot-api-rules.js";

/** A failure for {@link BotApiDouble.fail} to cause. */
export interface BotApiFault {
  /** The method that fails; every method unless given. */
  readonly method?: string;
  /** How many calls fail; one unless given. */
  readonly times?: number;
  /**
   * Closes the connection `before` the call is carried out, or `after`, so that only the reply is
   * lost.
   */
  readonly cut?: "before" | "after";
  /** HTTP status of an error that is returned instead of the result. */
  readonly status?: number;
  /** Error text of the response. */
  readonly description?: string;
  /** Seconds after which the client may try again, as `retry_after`. */
  readonly retryAfterS?: number;
}

/** The server. */
export interface BotApiServer extends AsyncDisposable {
  readonly apiRoot: string;
  readonly calls: readonly BotApiCall[];
  readonly fail: (fault: BotApiFault) => void;
  readonly setDown: (isDown: boolean) => void;
}

/** Parts of {@link startServer}. */
export interface BotApiServerOptions {
  /** The token that is good; `undefined` where none is. */
  readonly token: () => string | undefined;
  /** Carries a call out; the signal aborts when the caller is gone. */
  readonly carryOut: (call: BotApiCall, signal: AbortSignal) => JsonValue | Promise<JsonValue>;
}

interface State extends BotApiServerOptions {
  readonly calls: BotApiCall[];
  readonly faults: { readonly fault: BotApiFault; left: number }[];
  isDown: boolean;
}

function takeFault({ faults }: State, method: string): BotApiFault | undefined {
  const found = faults.find(({ fault, left }) => left > 0 && (fault.method ?? method) === method);
  if (found !== undefined) found.left--;
  return found?.fault;
}

function refusalOf({
  status = 500,
  description = "Internal Server Error: made by a test",
  retryAfterS,
}: BotApiFault): Refusal {
  if (retryAfterS === undefined) return { status, description };
  return {
    status: 429,
    description: `Too Many Requests: retry after ${retryAfterS}`,
    parameters: { retry_after: retryAfterS },
  };
}

function reply(response: ServerResponse, status: number, body: JsonObject): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}

function replyWithError(response: ServerResponse, error: unknown): void {
  const refusal =
    error instanceof RefusedCall
      ? error.refusal
      : { status: 500, description: `Internal Server Error: ${String(error)}` };
  const { status, description, parameters } = refusal;
  reply(response, status, {
    ok: false,
    error_code: status,
    description,
    ...(parameters === undefined ? {} : { parameters }),
  });
}

/** The result of a call; `undefined` where its connection is to be cut. */
async function serve(
  state: State,
  request: IncomingMessage,
  gone: AbortSignal,
): Promise<JsonValue | undefined> {
  if (state.isDown) return undefined;
  const call = await readCall(request, state.token());
  const fault = takeFault(state, call.method);
  state.calls.push(call);
  if (fault?.cut === "before") return undefined;
  if (fault !== undefined && fault.cut === undefined) throw new RefusedCall(refusalOf(fault));
  checkCall(call.method, call.params);
  const result = await state.carryOut(call, gone);
  return fault?.cut === "after" || state.isDown ? undefined : result;
}

/** The address of a server that listens. */
function rootOf(server: Server): string {
  const address = server.address();
  return typeof address === "object" && address !== null ? `http://127.0.0.1:${address.port}` : "";
}

/** Starts a server on a free port of the loopback interface. */
export async function startServer(options: BotApiServerOptions): Promise<BotApiServer> {
  const state: State = { ...options, calls: [], faults: [], isDown: false };
  const server = createServer((request, response) => {
    const gone = new AbortController();
    response.on("close", () => gone.abort());
    serve(state, request, gone.signal).then(
      (result) =>
        result === undefined
          ? request.socket.destroy()
          : reply(response, 200, { ok: true, result }),
      (error: unknown) => replyWithError(response, error),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    apiRoot: rootOf(server),
    calls: state.calls,
    fail: (fault) => void state.faults.push({ fault, left: fault.times ?? 1 }),
    setDown(isDown) {
      state.isDown = isDown;
      if (isDown) server.closeAllConnections();
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
