/** A shared server whose process says what the test says, and clients of it. */
import type { Masker } from "@acp/core";
import { manualClock } from "@acp/testing";
import { shareServer } from "../../src/shared/shared-server.js";
import type { SharedServer } from "../../src/index.js";
import type { ServerProcess } from "../../src/server-process.js";
import type { Upstream, UpstreamHandlers } from "../../src/upstream.js";

export interface Message {
  readonly id?: string | number;
  readonly method?: string;
  readonly params?: Record<string, unknown>;
  readonly result?: Record<string, unknown>;
  readonly error?: { readonly code: number; readonly message: string };
}

/** A line of the wire. */
export const line = (message: object): string =>
  `${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`;
/** What was written has come, and what it started has run. */
export const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** A server that says what the test says. */
export interface Double {
  readonly shared: SharedServer;
  readonly clock: ReturnType<typeof manualClock>;
  readonly logs: readonly string[];
  /** What the process of now got. */
  got(): readonly Message[];
  says(message: object): void;
  /** Its line as the process of now is heard: masked. */
  masked(text: string): string | undefined;
  dies(): void;
  starts(): number;
  /** Has it take a while to end; what is returned ends it. */
  lingers(): () => void;
  connect(): Client;
}

export interface Client {
  readonly process: ServerProcess;
  readonly heard: readonly Message[];
  says(message: object): void;
  end(): void;
  reason(): string | undefined;
  /** Has it greeted. */
  ready(protocolVersion?: string): Promise<void>;
}

const ABLE = {
  tools: {},
  resources: { subscribe: true },
  logging: {},
  tasks: {},
  experimental: { x: {} },
};

export function double(
  limits: object = {},
  answersInitialize = true,
  masker: () => Masker | undefined = () => undefined,
): Double {
  const logs: string[] = [];
  const clock = manualClock();
  let handlers: UpstreamHandlers | undefined;
  let got: Message[] = [];
  let starts = 0;
  let isGone = Promise.resolve();
  const start = (own: UpstreamHandlers): Upstream => {
    handlers = own;
    got = [];
    starts++;
    return {
      name: "db",
      pause: () => {},
      close: () => isGone,
      send(bytes) {
        const message = JSON.parse(bytes.toString("utf8")) as Message;
        got.push(message);
        if (message.method === "initialize" && answersInitialize)
          setImmediate(() =>
            says({
              id: message.id,
              result: {
                protocolVersion: message.params?.["protocolVersion"],
                capabilities: ABLE,
                serverInfo: {},
              },
            }),
          );
      },
    };
  };
  const says = (message: object): void => handlers?.onLine(Buffer.from(line(message)));
  const shared = shareServer(
    { name: "db", command: ["x"], limits },
    { clientInfo: { name: "acp", version: "0" }, log: (each) => logs.push(each), clock, masker },
    start,
  );
  return {
    shared,
    clock,
    logs,
    got: () => got,
    says,
    masked: (text) =>
      handlers?.masks
        .line(Buffer.from(`${text}\n`), () => false)
        ?.toString()
        .trimEnd(),
    dies: () => handlers?.onEnd({ server: "db", reason: 'Server "db" exited with code 3' }),
    starts: () => starts,
    lingers() {
      let release: () => void = () => {};
      isGone = new Promise((resolve) => (release = resolve));
      return () => release();
    },
    connect: () => client(shared.connect()),
  };
}

function client(process: ServerProcess): Client {
  const heard: Message[] = [];
  let rest = "";
  process.stdout.on("data", (chunk: Buffer) => {
    const parts = (rest + chunk.toString("utf8")).split("\n");
    rest = parts.pop() ?? "";
    for (const part of parts) heard.push(JSON.parse(part) as Message);
  });
  let reason: string | undefined;
  void process.exited.then((exit) => (reason = exit.reason ?? "ended"));
  const says = (message: object): void => void process.stdin.write(line(message));
  return {
    process,
    heard,
    says,
    end: () => void process.stdin.end(),
    reason: () => reason,
    async ready(protocolVersion = "2025-11-25") {
      const params = {
        protocolVersion,
        capabilities: { sampling: {} },
        clientInfo: { name: "secret-agent" },
      };
      says({ id: "init", method: "initialize", params });
      for (let waited = 0; waited < 50 && !heard.some(({ id }) => id === "init"); waited++)
        await turn();
      says({ method: "notifications/initialized" });
      await turn();
    },
  };
}

export async function two(limits?: object): Promise<Double & { a: Client; b: Client }> {
  const d = double(limits);
  const [a, b] = [d.connect(), d.connect()];
  await Promise.all([a.ready(), b.ready()]);
  return { ...d, a, b };
}

export const call = (id: string | number, more: object = {}): object => ({
  id,
  method: "tools/call",
  params: { name: "echo", arguments: { id }, ...more },
});
/** The arguments of a call as the server has it. */
export const argumentsOf = (message: Message | undefined): Record<string, unknown> =>
  (message?.params?.["arguments"] ?? {}) as Record<string, unknown>;

/** Calls that the process has and did not answer. */
export const calls = (d: Double): readonly Message[] =>
  d.got().filter(({ method }) => method === "tools/call");
