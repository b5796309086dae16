/**
 * SSE session: a client of HTTP+SSE. Everything that is said to it goes over the one stream that it
 * opened; what it sends is posted to the address that the stream's first event names. Source: MCP
 * 2024-11-05, "HTTP with SSE".
 */
import { randomBytes } from "node:crypto";
import type { ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { readServerLine } from "../message.js";
import { eventText, writeEventsHead } from "./event-streams.js";
import { openLines } from "./lines.js";
import { createPressure } from "./pressure.js";
import type { PassedMessage } from "./session.js";

/** A session. */
export interface SseSession {
  /** From a CSPRNG. */
  readonly id: string;
  /** Takes a message, and says that it was taken. */
  post(message: PassedMessage, response: ServerResponse): void;
  readonly waiting: () => number;
  comment(): void;
  end(isCut?: boolean): void;
}

/** What it is opened with. */
export interface SseSessionParts {
  serve(connection: Duplex): void;
  onAnswer(line: Buffer): void;
  onEnd(): void;
}

/** Opens one over a stream; it ends with the stream. */
export function openSseSession(response: ServerResponse, parts: SseSessionParts): SseSession {
  const id = randomBytes(32).toString("base64url");
  const pressure = createPressure();
  const lines = openLines({
    onLine(line) {
      const { kind } = readServerLine(line);
      if (kind === "unknown") return;
      if (kind === "response") parts.onAnswer(line);
      pressure.write(response, eventText(line));
    },
    pause: pressure.pause,
    onEnd() {
      response.end();
      parts.onEnd();
    },
  });
  response.once("close", () => lines.end());
  writeEventsHead(response);
  response.write(`event: endpoint\ndata: /messages?sessionId=${id}\n\n`);
  parts.serve(lines.connection);
  return {
    id,
    post(message, answer) {
      lines.send(message.line);
      answer.writeHead(202, { "content-length": 0 }).end();
    },
    waiting: lines.waiting,
    comment: () => void response.write(":\n\n"),
    end(isCut) {
      lines.end(isCut);
      response.end();
    },
  };
}
