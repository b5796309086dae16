/** Agents over HTTP, with sessions: Streamable HTTP and the HTTP+SSE of before. */
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { SSEClientTransport } from "@modelcontextprotocol/sdk/client/sse.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { begin, eventsOf, initialize, listening, send, TOKENS } from "./support/http-agent.js";
import { type Heard, inProcess } from "./support/in-process.js";

const call = (id: string | number, params: object = {}): object => ({
  jsonrpc: "2.0",
  id,
  method: "tools/call",
  params: { name: "echo", arguments: {}, ...params },
});
const requestInit = { headers: { authorization: `Bearer ${TOKENS.ada}` } };

describe("the SDK's client", () => {
  it("has a session over Streamable HTTP: lists, calls, progress, what the server asks, the end", async () => {
    const server = inProcess((heard, say) => {
      if (heard.params?.name !== "ask") return undefined;
      say('{"jsonrpc":"2.0","id":"s1","method":"roots/list"}');
      return true;
    });
    const answers = inProcess((heard, say, line) => {
      if (heard.method === "tools/call") {
        const token = (heard.params?.["_meta"] as { progressToken?: number })?.progressToken;
        if (token !== undefined)
          say(
            `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":${token},"progress":1}}`,
          );
        say('{"jsonrpc":"2.0","id":"s1","method":"roots/list"}');
        pending = heard;
        return true;
      }
      if (heard.id === "s1") {
        say(
          JSON.stringify({
            jsonrpc: "2.0",
            id: pending?.id,
            result: { content: [{ type: "text", text: line }] },
          }),
        );
        return true;
      }
      return undefined;
    });
    let pending: Heard | undefined;
    expect(server.counts.started).toBe(0);
    const at = await listening({ upstreams: [answers.upstream] });
    const client = new Client({ name: "t", version: "1" }, { capabilities: { roots: {} } });
    const { ListRootsRequestSchema } = await import("@modelcontextprotocol/sdk/types.js");
    client.setRequestHandler(ListRootsRequestSchema, () => ({ roots: [{ uri: "file:///w" }] }));
    const transport = new StreamableHTTPClientTransport(new URL(`${at.url}/mcp`), { requestInit });
    await client.connect(transport);
    expect(transport.sessionId).toMatch(/^[\w-]{43}$/u);
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(["echo"]);
    const progress: number[] = [];
    const result = await client.callTool({ name: "echo", arguments: { a: 1 } }, undefined, {
      onprogress: (each) => void progress.push(each.progress),
    });
    expect(progress).toEqual([1]);
    expect(JSON.stringify(result)).toContain("file:///w");
    await transport.terminateSession();
    await client.close();
    await expect.poll(() => answers.counts.ended).toBe(1);
  });

  it("has a session over HTTP+SSE, which ends with its stream", async () => {
    const server = inProcess();
    const at = await listening({ upstreams: [server.upstream] });
    const client = new Client({ name: "t", version: "1" });
    const transport = new SSEClientTransport(new URL(`${at.url}/sse`), {
      requestInit,
      eventSourceInit: {
        fetch: (url, init) =>
          fetch(url, { ...init, headers: { ...init?.headers, ...requestInit.headers } }),
      },
    });
    await client.connect(transport);
    const { content } = await client.callTool({ name: "echo", arguments: { text: "ü" } });
    expect(JSON.stringify(content)).toContain("ü");
    await client.close();
    await expect.poll(() => server.counts.ended).toBe(1);
  });
});

describe("a session", () => {
  it("passes bodies and answers on as they are, and a body of several lines as one", async () => {
    const odd = '{"n":1.0e+2,"s":"\\u0061\\ud83d\\ude00"}';
    const server = inProcess((heard, say) => {
      if (heard.method !== "vendor/x") return undefined;
      say(`{"result":${odd}, "id":${JSON.stringify(heard.id)},"jsonrpc":"2.0"}`);
      return true;
    });
    const at = await listening({ upstreams: [server.upstream] });
    const headers = await begin(at);
    const body = `{"id" : 7,\n"jsonrpc":"2.0",\r\n"method":"vendor\\/x","params":${odd}}`;
    const events = await eventsOf(await send(at, { headers, body }));
    expect(events.at(-1)?.data).toBe(`{"result":${odd}, "id":7,"jsonrpc":"2.0"}`);
    expect(server.lines).toContain(body.replace("\n", " ").replace("\r\n", "  "));
  });

  it("begins each stream with an id, and one that breaks goes on after the last event that came", async () => {
    let answer: () => void = () => {};
    const server = inProcess((heard, say) => {
      if (heard.method !== "tools/call") return undefined;
      const progress = (n: number): void =>
        say(
          `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"p","progress":${n}}}`,
        );
      progress(1);
      answer = () => {
        progress(2);
        say(`{"jsonrpc":"2.0","id":${JSON.stringify(heard.id)},"result":{"content":[]}}`);
      };
      return true;
    });
    const at = await listening({ upstreams: [server.upstream] });
    const headers = await begin(at);
    const first = await eventsOf(
      await send(at, { headers, body: call("c", { _meta: { progressToken: "p" } }) }),
      (data) => data.includes("progress"),
    );
    expect(first.map(({ data }) => data.length > 0)).toEqual([false, true]);
    answer();
    await expect.poll(() => server.lines.length).toBeGreaterThan(2);
    const last = first.at(-1)?.id ?? "";
    const resume = async (id: string): Promise<readonly string[]> =>
      (
        await eventsOf(
          await send(at, { method: "GET", headers: { ...headers, "last-event-id": id } }),
        )
      ).map(({ data }) => data);
    const rest = await resume(last);
    expect(rest).toHaveLength(2);
    expect(rest[0]).toContain('"progress":2');
    expect(rest[1]).toContain('"id":"c"');
    expect(await resume(first[0]?.id ?? "")).toHaveLength(3);
    for (const id of ["zz-1", "1", "", `${last}9`]) {
      const answered = await send(at, {
        method: "GET",
        headers: { ...headers, "last-event-id": id },
      });
      expect([id, answered.status]).toEqual([id, 400]);
      await answered.text();
    }
  });

  it("may have its client come back for an answer, where the listener wants that", async () => {
    let answer: () => void = () => {};
    const server = inProcess((heard, say) => {
      if (heard.method !== "tools/call") return undefined;
      answer = () => say(`{"jsonrpc":"2.0","id":${JSON.stringify(heard.id)},"result":{}}`);
      return true;
    });
    const at = await listening({ upstreams: [server.upstream], pollAfterMs: 1 });
    const headers = await begin(at);
    const response = await send(at, { headers, body: call("c") });
    const text = await response.text();
    expect(text).toMatch(/^id: (\S+)\nretry: 1000\ndata:\n\n$/u);
    await expect.poll(() => server.lines.some((line) => line.includes("tools/call"))).toBe(true);
    answer();
    const id = /id: (\S+)/u.exec(text)?.[1] ?? "";
    const events = await eventsOf(
      await send(at, { method: "GET", headers: { ...headers, "last-event-id": id } }),
    );
    expect(events.map(({ data }) => data)).toEqual(['{"jsonrpc":"2.0","id":"c","result":{}}']);
  });

  it("keeps what the server says by itself for the client's own stream", async () => {
    const server = inProcess();
    const at = await listening({ upstreams: [server.upstream] });
    const headers = await begin(at);
    const changed = '{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}';
    server.say(changed);
    const own = await send(at, { method: "GET", headers });
    const events = await eventsOf(own, (data) => data.includes("list_changed"));
    expect(events.map(({ data }) => data)).toEqual(["", changed]);
  });

  it("ends by DELETE, and is not there any more", async () => {
    const server = inProcess();
    const at = await listening({ upstreams: [server.upstream] });
    const headers = await begin(at);
    expect((await send(at, { method: "DELETE", headers })).status).toBe(204);
    const after = await send(at, { headers, body: call(1) });
    expect(after.status).toBe(404);
    await after.text();
    await expect.poll(() => server.counts.ended).toBe(1);
  });

  it("works with no other client's token, nor without one", async () => {
    const server = inProcess();
    const at = await listening({ upstreams: [server.upstream] });
    const headers = await begin(at);
    const before = server.lines.length;
    const attempts = [
      ["POST", TOKENS.bob, 404],
      ["GET", TOKENS.bob, 404],
      ["DELETE", TOKENS.bob, 404],
      ["POST", "", 401],
      ["POST", "ada-token-012345678", 401],
      ["DELETE", "", 401],
    ] as const;
    for (const [method, token, status] of attempts) {
      const body = method === "POST" ? { body: call("theft") } : {};
      const answer = await send(at, { method, token, headers, ...body });
      expect([method, token, answer.status]).toEqual([method, token, status]);
      await answer.text();
    }
    expect(server.lines.slice(before)).toEqual([]);
    expect(server.counts).toEqual({ started: 1, ended: 0 });
  });

  it("ends when nobody was connected for long", async () => {
    const server = inProcess();
    const at = await listening({ upstreams: [server.upstream], idleMs: 60_000 });
    await begin(at);
    await begin(at, TOKENS.bob);
    await expect
      .poll(() => {
        void at.clock.advance(15_000);
        return server.counts.ended;
      })
      .toBe(2);
  });

  it("ends soon after its token was taken away", async () => {
    const server = inProcess();
    const at = await listening({ upstreams: [server.upstream] });
    await begin(at);
    at.tokens.delete(TOKENS.ada);
    await at.clock.advance(15_000);
    await at.clock.advance(15_000);
    await expect.poll(() => server.counts.ended).toBe(1);
  });

  it("takes the place of one that nobody reads, where a client has many, and of no other's", async () => {
    const server = inProcess();
    const at = await listening({ upstreams: [server.upstream], sessionsMax: 2 });
    const bobs = await begin(at, TOKENS.bob);
    const sessions = [await begin(at), await begin(at)];
    const own = await send(at, { method: "GET", headers: sessions[0] ?? {} });
    const third = await begin(at);
    const statusOf = async (
      headers: Readonly<Record<string, string>>,
      token: string,
    ): Promise<number> => {
      const answer = await send(at, {
        headers,
        token,
        body: { jsonrpc: "2.0", method: "notifications/vendor" },
      });
      await answer.text();
      return answer.status;
    };
    expect(await statusOf(sessions[0] ?? {}, TOKENS.ada)).toBe(202);
    expect(await statusOf(sessions[1] ?? {}, TOKENS.ada)).toBe(404);
    expect(await statusOf(bobs, TOKENS.bob)).toBe(202);
    const second = await send(at, { method: "GET", headers: third });
    const full = await send(at, { body: initialize() });
    expect(full.status).toBe(429);
    await full.text();
    await own.body?.cancel();
    await second.body?.cancel();
  });

  it("does not send on a request whose id is in use, and ends the stream of one that is taken back", async () => {
    const server = inProcess((heard) => (heard.method === "tools/call" ? true : undefined));
    const at = await listening({ upstreams: [server.upstream] });
    const headers = await begin(at);
    const first = await send(at, { headers, body: call("c") });
    const second = await send(at, { headers, body: call("c") });
    expect([first.status, second.status]).toEqual([200, 400]);
    await second.text();
    const cancelled = { method: "notifications/cancelled", params: { requestId: "c" } };
    const taken = await send(at, { headers, body: { jsonrpc: "2.0", ...cancelled } });
    expect(taken.status).toBe(202);
    expect((await eventsOf(first)).map(({ data }) => data)).toEqual([""]);
  });

  it("tells whoever waits when its server is gone", async () => {
    const server = inProcess((heard) => (heard.method === "vendor/x" ? true : undefined));
    const at = await listening({ upstreams: [server.upstream] });
    const headers = await begin(at);
    const waiting = await send(at, {
      headers,
      body: { jsonrpc: "2.0", id: 1, method: "vendor/x" },
    });
    await expect.poll(() => server.lines.some((line) => line.includes("vendor/x"))).toBe(true);
    await send(at, { method: "DELETE", headers });
    const events = await eventsOf(waiting);
    expect(events.at(-1)?.data).toContain('"error"');
  });
});

describe("the SDK's own transport for servers", () => {
  it("reads and writes messages anew, so that what is judged is not what came", async () => {
    const { StreamableHTTPServerTransport } = await import(
      "@modelcontextprotocol/sdk/server/streamableHttp.js"
    );
    const transport = new StreamableHTTPServerTransport({});
    const heard: unknown[] = [];
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- it is no event target
    transport.onmessage = (message) => {
      heard.push(message);
      void transport.send({ jsonrpc: "2.0", id: "i", result: JSON.parse(ODD) });
    };
    const server = createServer(
      (request, response) => void transport.handleRequest(request, response),
    );
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const body = `{"jsonrpc":"2.0","id":"i","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"},"odd":${ODD}}}`;
    const events = await eventsOf(await send({ url: `http://127.0.0.1:${port}` }, { body }));
    expect(JSON.stringify(heard[0])).not.toContain(ODD);
    expect(events.at(-1)?.data).toContain('{"n":100,"big":12345678901234567000}');
  });
});

const ODD = '{"n":1.0e+2,"big":12345678901234567890}';
