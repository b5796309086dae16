/** A server in this process: what it gets, and what it says, line by line. */
import { PassThrough } from "node:stream";
import type { StartedUpstream } from "../../src/index.js";
import { createLineSplitter } from "../../src/framing.js";

export interface Heard {
  readonly id?: string | number;
  readonly method?: string;
  readonly params?: Readonly<Record<string, unknown>> & { readonly name?: string };
}

export interface InProcess {
  readonly upstream: StartedUpstream;
  /** Lines that came, of all its processes. */
  readonly lines: readonly string[];
  /** Says a line, by the process that was started last. */
  say(line: string): void;
  /** How many were started, and how many ended. */
  readonly counts: { started: number; ended: number };
}

export type Answer = (heard: Heard, say: (line: string) => void, line: string) => unknown;

const result = ({ id }: Heard, value: unknown): string =>
  JSON.stringify({ jsonrpc: "2.0", id, result: value });

/** Handles `initialize`, lists one tool, and answers what `answer` leaves open (gives `undefined`). */
export function inProcess(answer: Answer = () => undefined, name = "fs"): InProcess {
  const lines: string[] = [];
  const counts = { started: 0, ended: 0 };
  let current: (line: string) => void = () => {};
  const start = (): ReturnType<StartedUpstream["start"]> => {
    const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
    counts.started++;
    const say = (line: string): void => void stdout.write(`${line}\n`);
    current = say;
    let end: () => void = () => {};
    const exited = new Promise<{ code: number; signal: undefined }>((resolve) => {
      end = () => {
        counts.ended++;
        stdout.end();
        stderr.end();
        resolve({ code: 0, signal: undefined });
      };
    });
    const splitter = createLineSplitter({
      onLine(bytes) {
        const line = bytes.toString("utf8").trimEnd();
        lines.push(line);
        const heard = JSON.parse(line) as Heard;
        if (answer(heard, say, line) !== undefined) return;
        if (heard.method === "initialize")
          say(
            result(heard, {
              protocolVersion: heard.params?.["protocolVersion"],
              capabilities: { tools: {}, resources: {} },
              serverInfo: { name, version: "1" },
            }),
          );
        else if (heard.method === "tools/list")
          say(result(heard, { tools: [{ name: "echo", inputSchema: { type: "object" } }] }));
        else if (heard.method === "tools/call")
          say(result(heard, { content: [{ type: "text", text: line }] }));
        else if (heard.id !== undefined && heard.method !== undefined) say(result(heard, {}));
      },
      onOversize: () => end(),
    });
    stdin.on("data", (chunk: Buffer) => splitter.push(chunk));
    stdin.on("end", () => end());
    return Promise.resolve({ stdin, stdout, stderr, exited, stop: () => end(), kill: () => end() });
  };
  return { upstream: { name, start }, lines, say: (line) => current(line), counts };
}
