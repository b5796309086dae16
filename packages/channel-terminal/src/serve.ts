/**
 * Serve: the gate's side of the approve socket. Clients see what is open and hand answers in; a
 * client can delay or break nothing but itself. Format: spec/approve-socket.md.
 */
import { rm } from "node:fs/promises";
import { type Socket, createServer } from "node:net";
import { type PausedEnd, isConsentError } from "@acp/core";
import type { OpenQuestion } from "./approver-client.js";
import type { Board } from "./board.js";
import { createLineSplitter } from "./line-splitter.js";
import { listenPrivately } from "./socket-path.js";
import {
  CLIENT_LINE_BYTES_MAX,
  type ClientMessage,
  type ClientRole,
  type GateMessage,
  type SocketErrorCode,
  readClientMessage,
  readGateMessage,
  writeGateMessage,
} from "./wire.js";

/** Clients at once. */
const CLIENTS_MAX = 64;
/**
 * Answers of one client that the gate works on at once; further ones wait in the socket, and
 * nothing is lost.
 */
const ANSWERS_OPEN_MAX = 16;
/**
 * Bytes that may wait for one client; beyond that it is too slow and is cut off, it may attach
 * again.
 */
const BACKLOG_BYTES_MAX: number = 64 * 1024 * 1024;
/** Who every client is: whoever can open a 0600 socket in a 0700 directory. */
const SUBJECT = "local";

/** The socket front. */
export interface ApproveServer {
  /** Settles when it listens; rejects with why it does not. */
  readonly ready: Promise<void>;
  /** How many clients are there that can answer. */
  attached(): number;
  /** Settles once one is there that can answer; for ever open where none comes. */
  somebody(): Promise<void>;
  /** @throws ConsentError where the question has no form that a client can read back. */
  check(question: OpenQuestion): void;
  close(): Promise<void>;
}

interface Client {
  readonly socket: Socket;
  role: ClientRole | undefined;
  answersOpen: number;
  /** Lines that came and are not looked at yet. */
  readonly unread: Uint8Array[];
}

/** What a server knows of those who attached. */
interface Attendance {
  readonly clients: Set<Client>;
  /** Those who wait for the first that can answer. */
  readonly waiting: Set<() => void>;
}

const attachedOf = ({ clients }: Attendance): number =>
  [...clients].filter(({ role, socket }) => role === "approver" && socket.writable).length;

function waitForSomebody(attendance: Attendance): Promise<void> {
  return new Promise((resolve) => {
    if (attachedOf(attendance) > 0) resolve();
    else attendance.waiting.add(resolve);
  });
}

/** Parts of {@link serveApprovers}. */
export interface ServeOptions {
  readonly board: Board;
  readonly channel: string;
  readonly socketPath: string;
  readonly endPaused: () => Promise<PausedEnd>;
  /** Whether who connected may be heard; everybody where it is undefined. */
  readonly admits?: ((socket: Socket) => Promise<boolean>) | undefined;
}

interface Serving extends ServeOptions {
  readonly attendance: Attendance;
}

function send(client: Client, message: GateMessage): void {
  if (client.socket.destroyed || client.socket.writableEnded) return;
  client.socket.write(writeGateMessage(message));
  if (client.socket.writableLength > BACKLOG_BYTES_MAX) client.socket.destroy();
}

function refuse(client: Client, code: SocketErrorCode, message: string): void {
  send(client, { type: "error", code, message });
  client.socket.destroySoon();
}

function greet(client: Client, role: ClientRole, { board, channel, attendance }: Serving): void {
  client.role = role;
  if (role === "approver") {
    for (const tell of attendance.waiting) tell();
    attendance.waiting.clear();
  }
  const questions = board.pending();
  send(client, { type: "hello", channel, pid: process.pid, open: questions.length });
  for (const question of questions) send(client, { type: "open", question });
}

async function replyTo(
  message: Exclude<ClientMessage, { readonly type: "hello" }>,
  { board, endPaused }: ServeOptions,
): Promise<GateMessage> {
  if (message.type === "end_paused")
    return { type: "paused_ended", look: message.look, end: await endPaused() };
  return {
    type: "receipt",
    answer: message.answer,
    receipt: await board.answer(message.claim, SUBJECT),
  };
}

async function work(
  client: Client,
  message: Exclude<ClientMessage, { readonly type: "hello" }>,
  options: Serving,
): Promise<void> {
  client.answersOpen += 1;
  try {
    send(client, await replyTo(message, options));
  } catch {
    // Neither a session nor a gate throws; one that does leaves its question as it is, and its
    // client without a word that could mislead.
    client.socket.destroy();
  } finally {
    client.answersOpen -= 1;
    readOn(client, options);
  }
}

function receive(client: Client, line: Uint8Array, options: Serving): void {
  const message = readClientMessage(line);
  if (message.type === "hello") {
    if (client.role === undefined) greet(client, message.role, options);
    else
      refuse(
        client,
        "message_invalid",
        "Cannot accept a second hello: the client is already attached",
      );
    return;
  }
  if (client.role === undefined)
    return refuse(client, "message_invalid", "Cannot accept an answer: the client sent no hello");
  if (client.role === "viewer")
    return refuse(
      client,
      "viewer_cannot_answer",
      "Cannot accept an answer: the client attached as a viewer",
    );
  void work(client, message, options);
}

/**
 * Looks at the lines that came, in their order, as long as the gate has a place for an answer;
 * until then the socket is not read.
 */
function readOn(client: Client, options: Serving): void {
  const { socket, unread } = client;
  try {
    while (!socket.destroyed && !socket.writableEnded && client.answersOpen < ANSWERS_OPEN_MAX) {
      const line = unread.shift();
      if (line === undefined) return void socket.resume();
      receive(client, line, options);
    }
  } catch (error) {
    const other = isConsentError(error, "message_invalid") && error.path === "version";
    refuse(
      client,
      other ? "version_unsupported" : "message_invalid",
      error instanceof Error ? error.message : "Cannot read a line",
    );
  }
}

function attend(client: Client, options: Serving): void {
  const splitter = createLineSplitter(CLIENT_LINE_BYTES_MAX);
  client.socket.on("data", (chunk: Buffer) => {
    const lines = splitter.push(chunk);
    if (lines === undefined)
      return refuse(
        client,
        "message_invalid",
        `Cannot read a line: it is longer than ${CLIENT_LINE_BYTES_MAX} bytes`,
      );
    client.unread.push(...lines);
    client.socket.pause();
    readOn(client, options);
  });
}

/** Nothing is read of a client before it is known who it is. */
async function attendAdmitted(client: Client, options: Serving): Promise<void> {
  const { socket } = client;
  const { admits } = options;
  const isAdmitted = admits === undefined || (await admits(socket).catch(() => false));
  if (isAdmitted && !socket.destroyed) attend(client, options);
  else socket.destroy();
}

/** Opens the socket front of a board. */
export function serveApprovers(options: ServeOptions): ApproveServer {
  const clients = new Set<Client>();
  const attendance: Attendance = { clients, waiting: new Set() };
  const serving: Serving = { ...options, attendance };
  const server = createServer((socket) => {
    const client: Client = { socket, role: undefined, answersOpen: 0, unread: [] };
    clients.add(client);
    socket.on("close", () => clients.delete(client));
    socket.on("error", () => socket.destroy());
    void attendAdmitted(client, serving);
  });
  server.maxConnections = CLIENTS_MAX;
  const ready = listenPrivately(server, options.socketPath);
  // What fails before it listens rejects `ready`; what fails later concerns one connection.
  server.on("error", () => undefined);
  const stop = options.board.subscribe((change) => {
    for (const client of clients) if (client.role !== undefined) send(client, change);
  });

  return {
    ready,
    attached: () => attachedOf(attendance),
    somebody: () => waitForSomebody(attendance),
    check: (question) =>
      void readGateMessage(Buffer.from(writeGateMessage({ type: "open", question }).trimEnd())),
    async close() {
      stop();
      const listening = await ready.then(
        () => true,
        () => false,
      );
      if (!listening) return;
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const client of clients) {
        send(client, { type: "error", code: "closing", message: "the gate is closing" });
        client.socket.destroy();
      }
      await closed;
      await rm(options.socketPath, { force: true });
    },
  };
}
