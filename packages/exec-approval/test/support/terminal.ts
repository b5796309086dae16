/** A terminal client at work, for tests of what a person sees and types. */
import { PassThrough } from "node:stream";
import { expect } from "vitest";
import type { GatewayClient } from "../../src/gateway-client.js";
import type {
  ExecApprovalEnd,
  ExecApprovalRequestPayload,
  RpcOutcome,
} from "../../src/protocol.js";
import { runTerminalClient, type TerminalClientOptions } from "../../src/terminal-client.js";
import type { TerminalEnd } from "../../src/terminal-input.js";
import { createWorld, payloadOf, until, type World } from "./world.js";

/** A terminal client with a hub that the test plays. */
export interface Terminal extends AsyncDisposable {
  readonly world: World;
  readonly hub: GatewayClient;
  /** Parameters of the calls that the hub got. */
  readonly answers: readonly unknown[];
  /** What the hub says to the next calls. */
  reply: RpcOutcome;
  screen(): string;
  type(text: string): void;
  endInput(): void;
  stop(): void;
  readonly end: Promise<TerminalEnd>;
  show(more?: Partial<ExecApprovalRequestPayload>): Promise<ExecApprovalRequestPayload>;
  over(approvalId: string, outcome: ExecApprovalEnd): Promise<void>;
  /** What the screen says from now on. */
  sees(text: string | RegExp): Promise<void>;
}

export const OK: RpcOutcome = { ok: true, payload: { ok: true } };

export async function openTerminal({
  isTTY = false,
  ...more
}: Partial<TerminalClientOptions> & { readonly isTTY?: boolean } = {}): Promise<Terminal> {
  const world = await createWorld();
  const hub = world.device("hub");
  const client = world.device("phone");
  const input = Object.assign(
    new PassThrough(),
    isTTY ? { isTTY, setRawMode: () => undefined } : {},
  );
  const output = Object.assign(new PassThrough(), isTTY ? { isTTY, columns: 100 } : {});
  const stop = new AbortController();
  const answers: unknown[] = [];
  let written = "";
  output.on("data", (chunk) => (written += String(chunk)));
  const end = runTerminalClient({
    client,
    hubDeviceId: "hub",
    input,
    output,
    signal: stop.signal,
    format: "text",
    guardMs: 5,
    ...more,
  });
  const terminal: Terminal = {
    world,
    hub,
    answers,
    reply: OK,
    screen: () => written,
    type: (text) => void input.write(text),
    endInput: () => void input.end(),
    stop: () => stop.abort(),
    end,
    async show(shown = {}) {
      const payload = payloadOf(shown);
      await hub.send("phone", (head) => ({ ...head, action: "exec-approval-request", payload }));
      return payload;
    },
    over: (approvalId, outcome) =>
      hub.send("phone", (head) => ({
        ...head,
        action: "exec-approval-ended",
        payload: { approvalId, outcome },
      })),
    sees: (text) =>
      until(() =>
        expect(written).toMatch(
          text instanceof RegExp ? text : new RegExp(text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")),
        ),
      ),
    async [Symbol.asyncDispose]() {
      stop.abort();
      await end;
      await world[Symbol.asyncDispose]();
    },
  };
  hub.onMessage((message) => {
    if (message.action !== "request") return;
    answers.push(message.payload.params);
    hub.respond(message, terminal.reply).catch(() => undefined);
  });
  await Promise.all([hub.connect(), client.connect()]);
  return terminal;
}

export const DANGEROUS = {
  command: "rm -rf /",
  riskLevel: "dangerous",
  riskReasons: ["deletes the root"],
} as const;
