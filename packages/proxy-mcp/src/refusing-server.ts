/**
 * RefusingServer: takes the place of a gate that could not start, and tells the client why. It
 * starts no server and forwards nothing. The handshake succeeds, so that the client shows the
 * reason, and every other request is answered with it. Format: spec/mcp-proxy.md §11.
 */
import type { Readable, Writable } from "node:stream";
import type { Denied } from "@acp/core";
import { deniedResult } from "./call-result.js";
import { createLineSplitter } from "./framing.js";
import { LINE_BYTES_MAX } from "./limits.js";
import { idAtEdges, isRecord, readClientLine } from "./message.js";
import type { ClientMessage } from "./message.js";
import { createOutbox } from "./outbox.js";
import { INVALID_REQUEST, errorLine, resultLine } from "./rpc.js";

/** JSON-RPC's range for what a server defines itself. */
const NOT_STARTED = -32_000;
/** What a client gets that names no version. */
const VERSION_DEFAULT = "2025-06-18";
const VERSION = /^\d{4}-\d{2}-\d{2}$/;
const SERVER_INFO = { name: "acp", title: "ACP consent proxy (not started)", version: "1" };

/** Options of {@link refuseMcp}. */
export interface RefuseMcpOptions {
  /** What the client sends. */
  readonly input: Readable;
  /** What the client reads. It is ended when the client is gone. */
  readonly output: Writable;
  /** Stable code of the reason, such as `key_locked`. */
  readonly code: string;
  /**
   * Why nothing runs, and how a person can fix it. The client, its model and its user read it. A
   * function says what is so when it is asked.
   */
  readonly message: string | (() => string);
  /** Whether the same request may succeed later, as its error then says. Default: not said. */
  readonly isRetryable?: boolean;
  /**
   * What a tool call is denied with all the same, by the tool's name as the client knows it and its
   * arguments; `undefined` for the reason of all others. Must not throw.
   */
  readonly judge?: (name: string, args: unknown) => Denied | undefined;
  /** Ends the server. */
  readonly signal: AbortSignal;
}

/**
 * The result of `initialize`: no capability but tools, which keeps clients from giving up before
 * they show the instructions.
 */
function greeting(
  params: unknown,
  { message, isRetryable = false }: Pick<RefuseMcpOptions, "message" | "isRetryable">,
): object {
  const asked = isRecord(params) ? params["protocolVersion"] : undefined;
  const protocolVersion =
    typeof asked === "string" && VERSION.test(asked) ? asked : VERSION_DEFAULT;
  return {
    protocolVersion,
    // Where a server may come, its tools come with it.
    capabilities: { tools: isRetryable ? { listChanged: true } : {} },
    serverInfo: SERVER_INFO,
    instructions: textOf(message),
  };
}

const textOf = (message: RefuseMcpOptions["message"]): string =>
  typeof message === "string" ? message : message();

function answerTo(message: ClientMessage, options: RefuseMcpOptions): Buffer | undefined {
  const { code, message: text, isRetryable, judge } = options;
  if (message.kind === "refused")
    return errorLine(message.id, { code: message.code, message: message.reason });
  if (message.kind !== "request") return undefined;
  const { id, method, params } = message;
  if (method === "initialize") return resultLine(id, greeting(params, options));
  if (method === "ping") return resultLine(id, {});
  if (judge !== undefined && method === "tools/call" && isRecord(params)) {
    const { name, arguments: args = {} } = params;
    const denied = typeof name === "string" ? judge(name, args) : undefined;
    if (denied !== undefined) return resultLine(id, deniedResult(denied));
  }
  const data = { code, ...(isRetryable !== undefined && { retryable: isRetryable }) };
  return errorLine(id, { code: NOT_STARTED, message: textOf(text), data });
}

/**
 * Answers a client with the reason until the client is gone or the signal aborts. Never rejects.
 */
export function refuseMcp(options: RefuseMcpOptions): Promise<void> {
  const { input, output, signal } = options;
  return new Promise((resolve) => {
    let isOver = false;
    // Who reads nothing is not read either.
    const outbox = createOutbox(output, {
      onPressure: (on) => void (on ? input.pause() : input.resume()),
    });
    const splitter = createLineSplitter({
      onLine(line) {
        const message = readClientLine(line);
        const answer = message === undefined ? undefined : answerTo(message, options);
        if (answer !== undefined) outbox.send(answer);
      },
      onOversize: (line) =>
        outbox.send(
          errorLine(idAtEdges(line), {
            code: INVALID_REQUEST,
            message: `Cannot accept the message: it has more than ${LINE_BYTES_MAX} bytes`,
          }),
        ),
    });
    const over = (): void => {
      if (isOver) return;
      isOver = true;
      signal.removeEventListener("abort", over);
      input.pause();
      splitter.end();
      void outbox.end().then(resolve);
      if (signal.aborted) resolve();
    };
    input.on("data", (chunk: Buffer) => isOver || splitter.push(chunk));
    for (const event of ["end", "error", "close"] as const) input.on(event, over);
    output.on("error", over);
    signal.addEventListener("abort", over, { once: true });
    if (signal.aborted) over();
    input.resume();
  });
}
