/**
 * Ask a server: what one MCP server presents, as a client of `acp mcp` would hear it, with nothing
 * pinned and nothing called.
 */
import { PassThrough } from "node:stream";
import { asError, isJsonObject, parseJson } from "@acp/core";
import type { ConsentGate, JsonObject, JsonValue } from "@acp/core";
import { createMcpProxy } from "@acp/proxy-mcp";
import type { PresentedText, UpstreamConfig } from "@acp/proxy-mcp";

/** What a server presents. */
export interface Presented {
  readonly texts: readonly PresentedText[];
  /** Why tools are left out of its list, whatever is pinned. */
  readonly leftOut: readonly string[];
}

/** How it is asked. */
export interface AskingServer {
  /** It is asked nothing: no tool is called. */
  readonly gate: ConsentGate;
  readonly signal: AbortSignal;
  readonly log: (line: string) => void;
}

const PAGES_MAX = 50;
const ANSWER_MS_MAX = 60_000;
const LINE_BYTES_MAX: number = 16 * 1024 * 1024;
const PROTOCOL = "2025-11-25";
/** What a server lists, and the capability that says so. */
const LISTS: readonly (readonly [method: string, capability: string])[] = [
  ["tools/list", "tools"],
  ["prompts/list", "prompts"],
  ["resources/list", "resources"],
  ["resources/templates/list", "resources"],
];
const LEFT_OUT = " is left out of the list";

/**
 * Starts or reaches it, and ends it again.
 *
 * @throws Error with the reason where it does not start or does not answer.
 */
export async function askServer(
  upstream: UpstreamConfig,
  { gate, signal, log }: AskingServer,
): Promise<Presented> {
  const texts: PresentedText[] = [];
  const leftOut: string[] = [];
  const [input, output] = [new PassThrough(), new PassThrough()];
  const proxy = createMcpProxy({
    gate,
    agent: { id: "acp-mcp-scan" },
    upstreams: [upstream],
    input,
    output,
    signal,
    log: (line) => (line.includes(LEFT_OUT) ? leftOut.push(line) : log(line)),
    pins: {
      look(_, presented) {
        texts.push(...presented);
        return Promise.resolve(presented.map(() => "same"));
      },
    },
  });
  const request = requester(input, output);
  try {
    const greeting = await request("initialize", {
      protocolVersion: PROTOCOL,
      capabilities: {},
      clientInfo: { name: "acp-mcp-scan", version: "1" },
    });
    input.write(`${JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" })}\n`);
    const has = objectOr(greeting["capabilities"]);
    for (const [method, capability] of LISTS)
      if (has?.[capability] !== undefined)
        await listAll(request, method).catch((error: unknown) => {
          // Many that have resources answer no list of templates; none has tools and lists none.
          if (method === "tools/list") throw error;
          log(`[${upstream.name}] ${method}: ${asError(error).message}`);
        });
    return { texts, leftOut };
  } finally {
    input.end();
    await proxy.close();
  }
}

type Request = (method: string, params: JsonObject) => Promise<JsonObject>;

async function listAll(request: Request, method: string): Promise<void> {
  let params: JsonObject = {};
  for (let page = 0; page < PAGES_MAX; page++) {
    const { nextCursor } = await request(method, params);
    if (typeof nextCursor !== "string") return;
    params = { cursor: nextCursor };
  }
}

/** One request after the other; what else the server says is passed over. */
function requester(input: PassThrough, output: PassThrough): Request {
  let waiting: ((line: Buffer) => void) | undefined;
  let over: ((error: Error) => void) | undefined;
  let rest = Buffer.alloc(0);
  output.on("data", (chunk: Buffer) => {
    rest = Buffer.concat([rest, chunk]);
    for (let end = rest.indexOf(0x0a); end !== -1; end = rest.indexOf(0x0a)) {
      waiting?.(rest.subarray(0, end));
      rest = rest.subarray(end + 1);
    }
  });
  output.on("end", () => over?.(new Error("it ended")));
  let id = 0;
  return async (method, params) => {
    const own = ++id;
    const late = AbortSignal.timeout(ANSWER_MS_MAX);
    return new Promise<JsonObject>((resolve, reject) => {
      over = reject;
      late.addEventListener("abort", () =>
        reject(new Error(`it did not answer "${method}" within ${ANSWER_MS_MAX} ms`)),
      );
      waiting = (line) => {
        const message = messageIn(line);
        if (message?.id !== own) return;
        const { result, error } = message;
        const answered = objectOr(result);
        if (answered !== undefined) resolve(answered);
        else reject(new Error(reasonOf(error, method)));
      };
      input.write(`${JSON.stringify({ jsonrpc: "2.0", id: own, method, params })}\n`);
    });
  };
}

function objectOr(value: JsonValue | undefined): JsonObject | undefined {
  return value !== undefined && isJsonObject(value) ? value : undefined;
}

/** A line that is no message answers nothing. */
function messageIn(line: Buffer): JsonObject | undefined {
  try {
    return objectOr(parseJson(line.toString("utf8"), { bytesMax: LINE_BYTES_MAX }));
  } catch {
    return undefined;
  }
}

function reasonOf(error: JsonObject[string] | undefined, method: string): string {
  const text = error !== undefined && isJsonObject(error) ? error["message"] : undefined;
  return typeof text === "string" ? text : `it refused "${method}"`;
}
