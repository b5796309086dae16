/**
 * Model: a scripted model on the loopback, for a coding agent that is to be tried. It hands out one
 * command, once, as soon as the agent offers a tool that runs commands, and then says that it is
 * done. It knows nothing and sends nothing on.
 */
import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import { isJsonObject } from "@acp/core";
import type { JsonObject } from "@acp/core";
import { anthropic } from "./anthropic.js";
import type { Dialect, Turn } from "./dialect.js";
import { gemini } from "./gemini.js";
import { responses } from "./responses.js";

/** A model that runs, and what it saw. */
export interface ScriptedModel extends AsyncDisposable {
  /** `http://127.0.0.1:<port>` */
  readonly url: string;
  /** Whether the command was handed to the agent. */
  isHandedOut(): boolean;
  /** What the agent told the model that its tool said; `undefined` until then. */
  result(): string | undefined;
}

const DIALECTS: readonly Dialect[] = [anthropic, responses, gemini];
/** Names under which agents offer a shell. */
const SHELL_TOOL = /^(?:Bash|bash|run_shell_command|exec_command|shell_command|shell|local_shell)$/;
const BODY_BYTES_MAX: number = 64 * 1024 * 1024;

/** Starts a model that wants one command run. */
export async function startModel(command: string): Promise<ScriptedModel> {
  let handedOut = false;
  let last: string | undefined;
  let count = 0;
  const turnFor = (dialect: Dialect, body: JsonObject): Turn => {
    const { tools, results } = dialect.read(body);
    last = results.at(-1) ?? last;
    const tool = tools.find((name) => SHELL_TOOL.test(name));
    if (tool === undefined || results.length > 0) return { text: "done" };
    handedOut = true;
    return { tool, command };
  };
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const path = request.url ?? "/";
    const dialect =
      request.method === "POST" ? DIALECTS.find((each) => each.matches(path)) : undefined;
    const body = await readBody(request);
    if (dialect === undefined || body === undefined)
      return void response.writeHead(404, { "content-type": "application/json" }).end("{}");
    const spoken = dialect.write(turnFor(dialect, body), { path, body, id: (count += 1) });
    response
      .writeHead(200, { "content-type": spoken.type, "cache-control": "no-cache" })
      .end(spoken.body);
  };
  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", resolve);
  });
  const address = server.address();
  return {
    url: `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`,
    isHandedOut: () => handedOut,
    result: () => last,
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function readBody(request: IncomingMessage): Promise<JsonObject | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    const bytes: Buffer = Buffer.isBuffer(chunk) ? chunk : Buffer.from(String(chunk));
    chunks.push(bytes);
    size += bytes.length;
    if (size > BODY_BYTES_MAX) return undefined;
  }
  try {
    const body: unknown = JSON.parse(Buffer.concat(chunks).toString("utf8"));
    return isJsonObject(body) ? body : undefined;
  } catch {
    return undefined;
  }
}
