/**
 * The person behind a webhook, for `npm run demo -- --channel webhook`: a receiver on this machine
 * checks who signed each question and answers as steps.ts says, in its signed reply.
 */
import { randomBytes } from "node:crypto";
import { type IncomingMessage, createServer } from "node:http";
import { signWebhook, verifyWebhook } from "@acp/channel-webhook";
import { makeResponse } from "@acp/core";
import type { Person } from "./person.js";
import type { Step } from "./steps.js";

/** A question as far as a receiver needs it. */
interface Question {
  readonly id: string;
  readonly nonce: string;
}

const isQuestion = (event: unknown): event is Question =>
  typeof event === "object" &&
  event !== null &&
  "type" in event &&
  event.type === "consent_request" &&
  "id" in event &&
  "nonce" in event;

/** Starts the receiver, and says what `config.yml` needs to find it. */
export async function createWebhookPerson(): Promise<Person & { readonly config: string }> {
  const secret = `whsec_${randomBytes(32).toString("base64")}`;
  let step: Step | undefined;
  const server = createServer((incoming, outgoing) => {
    void readBody(incoming).then((body) => {
      if (!verifyWebhook({ headers: incoming.headers, body }, { secret, nowMs: Date.now() }).ok)
        return outgoing.writeHead(401).end();
      const question: unknown = JSON.parse(body);
      const wanted = step?.answer;
      // An end that is told needs no answer; nor does a question that nobody has to answer: it
      // would expire, and the demo would say so.
      if (!isQuestion(question) || wanted === undefined) return outgoing.writeHead(204).end();
      const answer = JSON.stringify(
        makeResponse(question, { ...wanted, nowMs: Date.now(), channel: "webhook" }),
      );
      const headers = signWebhook(
        { id: `msg_${question.id}`, timestampMs: Date.now(), body: answer },
        secret,
      );
      return outgoing.writeHead(200, { ...headers }).end(answer);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("the receiver has no port");
  return {
    isScripted: true,
    introduction:
      "A webhook's receiver on this machine answers for the person (webhook-person.ts).",
    hint: () => undefined,
    config: `channel: webhook\nwebhook: { url: "http://127.0.0.1:${address.port}/", secret: "${secret}" }\n`,
    attend: async (next, call) => {
      step = next;
      await call;
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function readBody(incoming: IncomingMessage): Promise<string> {
  let body = "";
  for await (const chunk of incoming.setEncoding("utf8")) body += String(chunk);
  return body;
}
