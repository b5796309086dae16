/**
 * A client that can show its user a page, the real `acp mcp`, and the real inbox: from the question to
 * the answer on the page, and what somebody sees there who has the address and no sign-in.
 */
import { writeFile } from "node:fs/promises";
import { createServer, request as httpRequest } from "node:http";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import {
  StdioClientTransport,
  getDefaultEnvironment,
} from "@modelcontextprotocol/sdk/client/stdio.js";
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { expect, it, onTestFinished } from "vitest";
import { BIN, RESIDENT, acp, scratch, startAcp } from "./harness.js";
import type { Scratch } from "./harness.js";
import { listen } from "./http-world.js";
import { fileServer } from "./mcp-client.js";

const ORIGIN = "https://inbox.example.com";
const POLICY = `version: "1"
default_action: deny
rules:
  - match: { tool: "create_directory" }
    action: ask
`;

type Json = ReturnType<typeof JSON.parse>;

interface Sent {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: object;
}

interface Got {
  readonly status: number | undefined;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly text: string;
}

/** As a reverse proxy of the inbox's name hands it on. */
function ask(
  socketPath: string,
  path: string,
  { method = "GET", headers = {}, body }: Sent = {},
  until: (text: string) => boolean = () => false,
): Promise<Got> {
  const host = new URL(ORIGIN).host;
  return new Promise((resolve, reject) => {
    const sent = httpRequest({ socketPath, path, method, headers: { host, ...headers } }, (got) => {
      let text = "";
      const done = (): void => {
        resolve({ status: got.statusCode, headers: got.headers, text });
        sent.destroy();
      };
      got.setEncoding("utf8").on("data", (chunk: string) => {
        text += chunk;
        if (until(text)) done();
      });
      got.on("end", done);
    });
    sent.on("error", reject).end(body === undefined ? undefined : JSON.stringify(body));
  });
}

interface World extends Scratch {
  readonly home: string;
  readonly socket: string;
  readonly code: string;
}

async function world(): Promise<World> {
  const at = await scratch();
  const home = join(at.path, "h");
  const socket = join(at.path, "i.sock");
  expect(await acp(["init"], { home })).toMatchObject({ code: 0 });
  await writeFile(join(home, "policy.yml"), POLICY, { mode: 0o600 });
  const args = ["inbox", "--socket", socket, "--origin", ORIGIN, "--json"];
  const inbox = startAcp(args, { home });
  onTestFinished(() => inbox[Symbol.asyncDispose]());
  await inbox.seen("stdout", /"code"/);
  const { code } = JSON.parse(inbox.stdout().split("\n")[0] ?? "") as { readonly code: string };
  return { ...at, home, socket, code };
}

/** Signs in with the code, looks the question up by its address, and approves it. */
async function approveOnPage({ socket, code }: World, url: string): Promise<void> {
  const id = decodeURIComponent(/^https:\/\/inbox\.example\.com\/#\/q\/(.+)$/.exec(url)?.[1] ?? "");
  const plain = { origin: ORIGIN, "content-type": "application/json" };
  const post = (path: string, body: object, headers: Readonly<Record<string, string>>) =>
    ask(socket, path, { method: "POST", body, headers: { ...plain, ...headers } });
  const signed = await post("/api/session", { code }, { "x-acp-inbox": "1" });
  expect(signed.status).toBe(200);
  const { key }: Json = JSON.parse(signed.text);
  const [cookie = ""] = String(signed.headers["set-cookie"]).split(";");
  const own = { cookie, "x-acp-inbox": String(key) };
  const events = await ask(socket, "/api/events", { headers: own }, (text) => text.includes(id));
  expect(events.text).toContain("create_directory");
  const prepared = await post(
    "/api/answers/prepare",
    { request_id: id, decision: "approved" },
    own,
  );
  const { ticket }: Json = JSON.parse(prepared.text);
  const answered = await post("/api/answers", { ticket }, own);
  expect(JSON.parse(answered.text)).toMatchObject({ status: "final", outcome: "approved" });
}

/** What anybody gets who knows the address, an agent among them. */
async function lookAround({ socket }: World, url: string): Promise<void> {
  const [, id = ""] = url.split("/#/q/");
  const { origin } = new URL(url);
  const heads: readonly Readonly<Record<string, string>>[] = [
    {},
    { origin },
    { "sec-fetch-site": "same-origin", "sec-fetch-mode": "cors", origin, "x-acp-inbox": "1" },
    { "sec-fetch-site": "cross-site" },
  ];
  const bare = await ask(socket, "/");
  for (const headers of heads) {
    const page = await ask(socket, "/", { headers });
    // A browser keeps what is behind "#" for itself: every question's page is this one.
    expect([page.status, page.text]).toEqual([200, bare.text]);
    expect(page.headers["set-cookie"]).toBeUndefined();
    for (const each of [id, "cr_00000000-0000-4000-8000-000000000000"]) {
      const found = await ask(socket, `/q/${each}`, { headers });
      expect([found.status, found.headers["location"]]).toEqual([404, undefined]);
    }
    for (const path of ["/api/events", "/api/session", "/api/history"]) {
      const refused = await ask(socket, path, { headers });
      expect([401, 403]).toContain(refused.status);
      expect(refused.text).not.toMatch(/create_directory|cr_/);
    }
    for (const path of ["/api/answers/prepare", "/api/outcomes", "/api/answers/batch"]) {
      const body = { request_id: id, decision: "approved", ids: [id] };
      const json = { ...headers, "content-type": "application/json" };
      const refused = await ask(socket, path, { method: "POST", headers: json, body });
      expect([401, 403]).toContain(refused.status);
    }
  }
  expect(bare.text).not.toMatch(/create_directory|cr_/);
}

it.each([
  ["alone", { ACP_ALONE: "1" }],
  ["by the resident", RESIDENT],
])(
  "a client with sessions shows the page, and the call runs after a yes there (%s)",
  async (_, form) => {
    await using at = await world();
    const folder = join(at.path, "new");
    const transport = new StdioClientTransport({
      command: process.execPath,
      cwd: at.path,
      args: [BIN, "mcp", "--home", at.home, "--", ...fileServer(at.path)],
      env: { ...getDefaultEnvironment(), ...form },
      stderr: "ignore",
    });
    const client = new Client(
      { name: "t", version: "1" },
      { capabilities: { elicitation: { url: {} } } },
    );
    onTestFinished(() => client.close());
    let show: (url: string) => void = () => undefined;
    const shown = new Promise<string>((resolve) => (show = resolve));
    client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
      if ("url" in params) show(params.url);
      // The agent's own client says yes to whatever it is asked: it consents to nothing.
      return { action: "accept", content: { approved: true } };
    });
    await client.connect(transport);
    const called = client.callTool({ name: "create_directory", arguments: { path: folder } });
    const early = called.then((result) => Promise.reject(new Error(JSON.stringify(result))));
    const url = await Promise.race([shown, early]);
    await lookAround(at, url);
    await approveOnPage(at, url);
    expect((await called).isError).not.toBe(true);
    if (form === RESIDENT) await acp(["resident", "stop", "--home", at.home]);
  },
);

async function freePort(): Promise<number> {
  const server = createServer();
  const port = await listen(server);
  await new Promise((resolve) => server.close(resolve));
  return port;
}

it("a client without sessions comes back over HTTP with its state, and another agent's token does not", async () => {
  await using at = await world();
  const port = await freePort();
  const args = ["mcp", "serve", "--home", at.home, "--port", `${port}`, "--agent", "ada"];
  const running = startAcp([...args, "--server", "fs", "--", ...fileServer(at.path)], {
    env: { ACP_HOME: at.home },
  });
  onTestFinished(() => running[Symbol.asyncDispose]());
  await running.seen("stdout", `http://127.0.0.1:${port}/mcp`);
  const tokenOf = async (agent: string): Promise<string> =>
    (await acp(["mcp", "token", agent], { home: at.home })).stdout.trim();
  const path = join(at.path, "new");
  const call = async (id: number, agent: string, more: object = {}): Promise<Json> => {
    const answer = await fetch(`http://127.0.0.1:${port}/mcp`, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        "mcp-method": "tools/call",
        accept: "application/json, text/event-stream",
        "mcp-name": "create_directory",
        "mcp-protocol-version": "2026-07-28",
        authorization: `Bearer ${await tokenOf(agent)}`,
      },
      body: JSON.stringify({
        jsonrpc: "2.0",
        id,
        method: "tools/call",
        params: {
          name: "create_directory",
          arguments: { path },
          ...more,
          _meta: {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": { elicitation: { url: {} } },
          },
        },
      }),
    });
    const text = await answer.text();
    return JSON.parse(/^data: (\{.*\})$/m.exec(text)?.[1] ?? text);
  };
  const { result } = await call(1, "ada");
  expect(result.resultType).toBe("input_required");
  const { requestState, inputRequests } = result;
  const url = String(inputRequests.acp_approval.params.url);
  await lookAround(at, url);
  const back = { requestState, inputResponses: { acp_approval: { action: "accept" } } };
  expect((await call(2, "bob", back)).error.code).toBe(-32_602);
  const waiting = call(3, "ada", back);
  await approveOnPage(at, url);
  expect((await waiting).result.isError).not.toBe(true);
  expect((await call(4, "ada", back)).error.code).toBe(-32_602);
});
