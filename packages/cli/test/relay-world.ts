/** A relay in a test's hands: sessions as a resident sees them, which end as the test says. */
import { PassThrough } from "node:stream";
import type { AskedNumber, Link, LinkHandlers } from "../src/resident/link.js";
import { createRelay } from "../src/resident/relay.js";

export const INITIALIZE = '{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}\n';
export const INITIALIZED = '{"jsonrpc":"2.0","method":"notifications/initialized"}\n';
export const call = (id: number | string): string =>
  `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"method":"tools/call"}\n`;
export const result = (id: number | string): string =>
  `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{}}\n`;

/** One session as a resident sees it. */
interface Session {
  readonly handlers: LinkHandlers;
  readonly got: () => string;
  /** Ids and numbers of calls, in the order in which they were said. */
  readonly calls: (readonly [string, number])[];
  readonly asked: AskedNumber[];
  readonly give: (bytes: number) => void;
}

/** A relay whose sessions open as the test says. */
export function relayWorld(
  opens: (count: number) => string | undefined = () => undefined,
  roomBytes = 1e6,
) {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const sessions: Session[] = [];
  const exits: number[] = [];
  let nowMs = 0;
  let count = 0;
  let said = "";
  output.on("data", (chunk) => (said += String(chunk)));
  createRelay({
    input,
    output,
    nowMs: () => nowMs,
    notice: () => undefined,
    exit: (code) => void exits.push(code),
    open(handlers) {
      const problem = opens(count++);
      if (problem !== undefined) return Promise.resolve(problem);
      let got = "";
      let room = roomBytes;
      const calls: (readonly [string, number])[] = [];
      const asked: AskedNumber[] = [];
      const link: Link = {
        room: () => room,
        send(bytes) {
          got += bytes.toString();
          room -= bytes.length;
        },
        call: (id, n) => void calls.push([id, n]),
        ask: (numbers) => void asked.push(...numbers),
        end: () => (got += "END"),
        held: () => (got += "HELD"),
        signal: (name) => (got += name),
        pause: () => undefined,
        resume: () => undefined,
      };
      const give = (bytes: number): void => void (room += bytes);
      sessions.push({ handlers, got: () => got, calls, asked, give });
      return Promise.resolve(link);
    },
  });
  const turn = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 0));
  return {
    sessions,
    exits,
    said: () => said,
    pass: (ms: number) => (nowMs += ms),
    turn,
    async write(text: string) {
      input.write(text);
      await turn();
    },
    async end() {
      input.end();
      await turn();
    },
    async answer(session: number, text: string) {
      sessions[session]?.handlers.onOutput(Buffer.from(text));
      await turn();
    },
    async known(session: number, ...again: readonly number[]) {
      sessions[session]?.handlers.onKnown(new Set(again));
      await turn();
    },
    async room(session: number, bytes: number) {
      sessions[session]?.give(bytes);
      sessions[session]?.handlers.onRoom();
      await turn();
    },
    async lose(session: number, how: Parameters<LinkHandlers["onEnd"]>[0] = "lost") {
      sessions[session]?.handlers.onEnd(how);
      await turn();
    },
  };
}
