/**
 * Control: what people's commands ask the resident, on a socket of its own. Agents have another.
 */
import { readdirSync } from "node:fs";
import { type Socket, connect } from "node:net";
import type { Usage } from "./budgets.js";
import { createFrameReader, frameOf, greetingFrame, recordIn } from "./wire.js";

/** What a resident says of itself. Plain JSON data. */
export interface Status {
  readonly pid: number;
  readonly build: string;
  readonly home: string;
  readonly started_at: string;
  readonly memory_bytes: number;
  readonly approvers: number;
  readonly clients: readonly {
    readonly pid: number;
    readonly ppid: number;
    readonly cwd: string;
    readonly argv: readonly string[];
    /** What this session's client has in all of its sessions. */
    readonly used: Usage;
  }[];
}

/** What the control socket reaches. */
export interface ControlParts {
  readonly build: string;
  status(): Status;
  stop(): void;
}

/** How long a resident may take to answer. */
const ANSWER_MS_MAX = 2_000;

/** Answers one command of a person. */
export function attendControl(socket: Socket, { build, status, stop }: ControlParts): void {
  const silence = setTimeout(() => socket.destroy(), ANSWER_MS_MAX);
  const reader = createFrameReader(
    ({ kind, body }) => {
      const ask = kind === "ask" ? recordIn(body)?.["ask"] : undefined;
      if (ask !== "status" && ask !== "stop") return void socket.destroy();
      socket.end(frameOf("told", JSON.stringify(status())));
      if (ask === "stop") stop();
    },
    () => socket.destroy(),
  );
  socket.on("error", () => socket.destroy());
  socket.on("close", () => clearTimeout(silence));
  socket.on("data", (chunk: Buffer) => reader.push(chunk));
  socket.write(greetingFrame(build));
}

/** What came of asking: its answer, that nobody listens, or that it says nothing. */
export type Told = Readonly<Record<string, unknown>> | "none" | "hung";

/** Asks the resident. */
export function askResident(path: string, ask: "status" | "stop"): Promise<Told> {
  return new Promise((resolve) => {
    const socket = connect(path);
    const settle = (told: Told): void => {
      clearTimeout(limit);
      socket.destroy();
      resolve(told);
    };
    const limit = setTimeout(() => settle("hung"), ANSWER_MS_MAX);
    const reader = createFrameReader(
      ({ kind, body }) => {
        if (kind === "told") settle(recordIn(body) ?? "hung");
      },
      () => settle("hung"),
    );
    socket.on("data", (chunk: Buffer) => reader.push(chunk));
    socket.on("error", () => settle("none"));
    socket.on("close", () => settle("none"));
    socket.write(frameOf("ask", JSON.stringify({ ask })));
  });
}

/** The process that has the lock of a home's resident, or wants it, from the lock's name. */
export function lockHolder(run: string, prefix: string): number | undefined {
  try {
    const [pid] = readdirSync(run).flatMap((name) =>
      name.startsWith(prefix) ? [Number.parseInt(name.slice(prefix.length), 10)] : [],
    );
    return pid !== undefined && pid > 1 ? pid : undefined;
  } catch {
    return undefined;
  }
}
