/** A client of raw lines: sends exactly what a test says, and keeps exactly what comes. */
import { type ChildProcessByStdio, spawn } from "node:child_process";
import { PassThrough, type Readable, type Writable } from "node:stream";

export interface Message {
  readonly id?: string | number | null;
  readonly method?: string;
  readonly params?: Record<string, unknown>;
  readonly result?: Record<string, unknown>;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}

export interface LineClient {
  /** Lines as they came, in order. */
  readonly lines: readonly string[];
  raw(text: string | Buffer): void;
  send(message: object): void;
  /** Called after every line. */
  onLine(look: () => void): void;
  /** Resolves with the first line, also one that came before, that `matches`. */
  find(
    matches: (message: Message, line: string) => boolean,
  ): Promise<{ readonly message: Message; readonly line: string }>;
  /** Sends a request and resolves with its answer. */
  request(id: string | number, method: string, params?: object): Promise<Message>;
  call(id: string | number, tool: string, args?: object, more?: object): Promise<Message>;
  handshake(): Promise<Message>;
  /** Closes the client's side. */
  end(): void;
  readonly ended: Promise<void>;
}

/**
 * Below the runner's own limit, so that a test that waits in vain says for what; far above what a
 * loaded machine takes.
 */
const PATIENCE_MS = 120_000;

export function lineClient(toServer: Writable, fromServer: Readable): LineClient {
  const lines: string[] = [];
  const messages: Message[] = [];
  const watchers = new Set<() => void>();
  let rest = "";
  fromServer.setEncoding("utf8");
  fromServer.on("data", (chunk: string) => {
    const parts = (rest + chunk).split("\n");
    rest = parts.pop() ?? "";
    for (const line of parts) {
      lines.push(line);
      messages.push(parse(line));
    }
    for (const watch of watchers) watch();
  });
  const ended = new Promise<void>((resolve) => fromServer.on("end", resolve));
  const client: LineClient = {
    lines,
    raw: (text) => void toServer.write(text),
    send: (message) => void toServer.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`),
    onLine: (look) => void watchers.add(look),
    find: (matches) =>
      new Promise((resolve, reject) => {
        let seen = 0;
        const look = (): void => {
          for (; seen < lines.length; seen++) {
            const [line = "", message = {}] = [lines[seen], messages[seen]];
            if (!matches(message, line)) continue;
            watchers.delete(look);
            clearTimeout(timer);
            resolve({ message, line });
            return;
          }
        };
        const last = (): string =>
          lines
            .slice(-8)
            .map((line) => line.slice(0, 400))
            .join("\n");
        const timer = setTimeout(
          () => reject(new Error(`no such line among:\n${last()}`)),
          PATIENCE_MS,
        );
        watchers.add(look);
        look();
      }),
    async request(id, method, params) {
      client.send({ id, method, ...(params === undefined ? {} : { params }) });
      return (await client.find((message) => message.id === id && message.method === undefined))
        .message;
    },
    call: (id, tool, args, more = {}) =>
      client.request(id, "tools/call", {
        name: tool,
        ...(args === undefined ? {} : { arguments: args }),
        ...more,
      }),
    async handshake() {
      const answer = await client.request("init", "initialize", {
        protocolVersion: "2025-11-25",
        capabilities: { sampling: {}, roots: {} },
        clientInfo: { name: "test", version: "1" },
      });
      client.send({ method: "notifications/initialized" });
      return answer;
    },
    end: () => void toServer.end(),
    ended,
  };
  return client;
}

/** Talks to a server without any proxy. */
export function directClient(
  command: readonly string[],
): LineClient & { readonly child: ChildProcessByStdio<Writable, Readable, null> } {
  const [program = "", ...args] = command;
  const child = spawn(program, args, { stdio: ["pipe", "pipe", "ignore"] });
  return { ...lineClient(child.stdin, child.stdout), child };
}

/** Two ends for a proxy in this process, and a client on the other side of them. */
export function pipes(): {
  readonly input: PassThrough;
  readonly output: PassThrough;
  readonly client: LineClient;
} {
  const input = new PassThrough();
  const output = new PassThrough();
  return { input, output, client: lineClient(input, output) };
}

function parse(line: string): Message {
  try {
    return JSON.parse(line) as Message;
  } catch {
    return {};
  }
}
