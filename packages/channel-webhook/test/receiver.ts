/**
 * A receiver as an operator would run it, in a test's hands: it notes what it gets, and says what
 * the test wants.
 */
import { randomUUID } from "node:crypto";
import { type Server, type ServerResponse, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import {
  type ConsentRequest,
  type JsonObject,
  type JsonValue,
  decodeRequest,
  parseJson,
} from "@acp/core";
import { signWebhook, verifyWebhook } from "../src/index.js";

export const SECRET = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
export const OTHER_SECRET = `whsec_${Buffer.alloc(32, 9).toString("base64")}`;

/** One message as it came, verified. */
export interface Taken {
  readonly id: string;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: string;
  readonly json: JsonObject;
}

export type Responder = (taken: Taken, response: ServerResponse) => void;

export const later: Responder = (_taken, response) => void response.writeHead(202).end();

export interface Receiver extends AsyncDisposable {
  readonly url: string;
  /** Every message that was signed as it should be. */
  readonly taken: readonly Taken[];
  /** Those that were not. */
  readonly refused: readonly string[];
  /** Questions by id, also those that ended. */
  readonly questions: ReadonlyMap<string, ConsentRequest>;
  /** Ids of the questions that a person sees. */
  shown(): readonly string[];
  /** What it says to a question. */
  respond: Responder;
  /** What it says to an end. */
  respondToEnd: Responder;
  close(): Promise<void>;
}

const isObject = (value: JsonValue): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function objectOf(body: string): JsonObject {
  const value = parseJson(body);
  if (!isObject(value)) throw new Error("the body is no object");
  return value;
}

export async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", resolve);
  });
  const address: AddressInfo | string | null = server.address();
  if (address === null || typeof address === "string") throw new Error("the server has no port");
  return address.port;
}

export async function stopServer(server: Server): Promise<void> {
  server.closeAllConnections();
  await new Promise<void>((resolve) => void server.close(() => resolve()));
}

interface SignedParts {
  readonly id?: string;
  readonly nowMs?: number;
  readonly secret?: string | readonly string[];
}

/** Signs a body as the receiver would. */
export function signed(
  body: string,
  parts: SignedParts = {},
): { readonly headers: Record<string, string>; readonly body: string } {
  const { id = `msg_${randomUUID()}`, nowMs = Date.now(), secret = SECRET } = parts;
  return {
    headers: {
      ...signWebhook({ id, timestampMs: nowMs, body }, secret),
      "content-type": "application/json",
    },
    body,
  };
}

/** The links that came with a question, by subject. */
export function linksOf(receiver: Receiver, id: string): Readonly<Record<string, string>> {
  const links = receiver.taken.find(({ json }) => json["id"] === id)?.json["links"];
  return Object.fromEntries(
    Object.entries(links ?? {}).map(([subject, url]) => [subject, String(url)]),
  );
}

export async function startReceiver(now: () => number = Date.now): Promise<Receiver> {
  const taken: Taken[] = [];
  const refused: string[] = [];
  const questions = new Map<string, ConsentRequest>();
  const ended = new Set<string>();
  const take = (headers: Taken["headers"], body: string, response: ServerResponse): void => {
    const check = verifyWebhook({ headers, body }, { secret: SECRET, nowMs: now() });
    if (!check.ok) {
      refused.push(check.code);
      response.writeHead(401).end();
      return;
    }
    const message: Taken = { id: check.id, headers, body, json: objectOf(body) };
    taken.push(message);
    const { links: _links, ...question } = message.json;
    if (message.json["type"] !== "consent_request") {
      ended.add(String(message.json["request_id"]));
      receiver.respondToEnd(message, response);
      return;
    }
    const request = decodeRequest(question);
    questions.set(request.id, request);
    receiver.respond(message, response);
  };
  const server = createServer((incoming, response) => {
    const chunks: Buffer[] = [];
    incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
    incoming.on("end", () => take(incoming.headers, Buffer.concat(chunks).toString(), response));
    incoming.on("error", () => undefined);
  });
  const port = await listen(server);
  const receiver: Receiver = {
    url: `http://127.0.0.1:${port}/acp?tenant=1`,
    taken,
    refused,
    questions,
    shown: () => [...questions.keys()].filter((id) => !ended.has(id)),
    respond: later,
    respondToEnd: later,
    close: () => stopServer(server),
    [Symbol.asyncDispose]: () => stopServer(server),
  };
  return receiver;
}
