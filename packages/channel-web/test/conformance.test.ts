import { once } from "node:events";
import { type Server, createServer } from "node:http";
import { type AnswerKind, type ChannelUnderTest, channelConformance } from "@acp/testing";
import { describe, expect, it } from "vitest";
import { createInbox, memoryPasskeys, toNodeHandler } from "../src/index.js";
import { type Page, type PageQuestion, openPage } from "./page.js";

/** Requests go over a real socket, with the Host header that a browser would send. */
async function listen(
  handler: (request: Request) => Promise<Response>,
): Promise<{ readonly server: Server; readonly send: typeof handler }> {
  const server = createServer(toNodeHandler(handler));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const port = typeof address === "object" ? address?.port : 0;
  const { request: ask } = await import("node:http");
  return {
    server,
    send: async (request) => {
      const { pathname, search, host } = new URL(request.url);
      const body = await request.text();
      return new Promise((resolve, reject) => {
        const headers = { ...Object.fromEntries(request.headers), host };
        const outgoing = ask(
          { host: "127.0.0.1", port, method: request.method, path: pathname + search, headers },
          (incoming) => {
            const given = new Headers();
            for (const [name, value] of Object.entries(incoming.headers))
              for (const each of [value ?? []].flat()) given.append(name, each);
            const status = incoming.statusCode ?? 0;
            const stream = new ReadableStream({
              start(controller) {
                incoming.on("data", (chunk: Buffer) => controller.enqueue(new Uint8Array(chunk)));
                incoming.on("close", () => {
                  try {
                    controller.close();
                  } catch {
                    // Cancelled before.
                  }
                });
              },
              cancel: () => void incoming.destroy(),
            });
            resolve(new Response(status === 204 ? null : stream, { status, headers: given }));
          },
        );
        outgoing.on("error", reject);
        outgoing.end(body === "" ? undefined : body);
      });
    },
  };
}

/** Follows the stream of a page as the page does. */
function follow(page: Page): { readonly open: Map<string, PageQuestion>; stop(): Promise<void> } {
  const open = new Map<string, PageQuestion>();
  const streaming = page.events();
  const read = async (): Promise<void> => {
    const stream = await streaming;
    for (let next = await stream.next(); next !== undefined; next = await stream.next()) {
      if (next === "comment") continue;
      if (next.event === "hello")
        for (const question of next.data.open) open.set(question.request.id, question);
      if (next.event === "open") open.set(next.data.request.id, next.data);
      if (next.event === "ended") open.delete(next.data.id);
    }
  };
  const reading = read().catch(() => undefined);
  return {
    open,
    async stop() {
      await (await streaming.catch(() => undefined))?.cancel();
      await reading;
    },
  };
}

async function inboxChannel(): Promise<ChannelUnderTest> {
  const inbox = createInbox({
    origin: "http://localhost:8789",
    people: [{ approver: "the-person", subject: "ada" }, { approver: "mallory" }],
    passkeys: memoryPasskeys(),
    passkeyFrom: "rules-only",
  });
  const { server, send } = await listen(inbox.handler);
  const signIn = async (approver: string): Promise<Page> => {
    const page = openPage(send);
    await page.signIn("/api/session", { code: inbox.signInCode(approver) });
    return page;
  };
  const [page, stranger] = [await signIn("the-person"), await signIn("mallory")];
  const shown = follow(page);
  const close = async (): Promise<void> => {
    await shown.stop();
    server.closeAllConnections();
    if (server.listening) await new Promise((resolve) => server.close(resolve));
  };
  const answer = async (id: string, kind: AnswerKind): Promise<void> => {
    const word = shown.open.get(id)?.word;
    const decision = kind === "deny" ? "denied" : "approved";
    const confirmed = kind === "confirm" && typeof word === "string" ? { word } : {};
    const by = kind === "stranger" ? stranger : page;
    const { status, body } = await by.post("/api/answers/prepare", {
      request_id: id,
      decision,
      ...confirmed,
    });
    if (status === 200) await by.post("/api/answers", { ticket: body.ticket });
  };
  return {
    channel: inbox.channel(),
    shown: async () => [...shown.open.keys()],
    answer: (id, kind) => answer(id, kind).catch(() => undefined),
    breakTransport: close,
    async [Symbol.asyncDispose]() {
      await close();
      await inbox.close();
    },
  };
}

describe("approval inbox: conformance", () => {
  // A page cannot write a nonce: it names the question, and the inbox writes the answer.
  const cases = channelConformance(inboxChannel, {
    subject: "ada",
    patienceMs: 120_000,
    kinds: ["approve", "deny", "confirm", "stranger"],
  });
  it.each(cases.map((each) => [each.name, each] as const))("%s", async (_name, each) => {
    await expect(each.run()).resolves.toBeUndefined();
  });
});
