/**
 * `acp proxy http` as a process: whom it takes for whom, what it reaches, how it ends, and that
 * killing it leaves nothing allowed.
 */
import { readFile, writeFile } from "node:fs/promises";
import { createServer, request } from "node:http";
import type { ServerResponse } from "node:http";
import { createServer as createTcpServer } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { readAuditLog } from "@acp/audit";
import { describe, expect, it } from "vitest";
import { acp, startAcp } from "./harness.js";
import type { Running } from "./harness.js";
import { FORMS, answerNext, attachSilent, httpWorld, listen, startProxy } from "./http-world.js";
import type { HttpWorld } from "./http-world.js";

const [TOKEN_A, TOKEN_B] = ["token-of-a-0123456789", "token-of-b-0123456789"];

interface Answer {
  readonly status: number;
  readonly body: string;
}

interface Sending {
  readonly method?: string;
  readonly credentials?: string;
}

/** One plain request through the proxy. */
function send(
  port: number,
  url: string,
  { method = "GET", credentials }: Sending = {},
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const headers = {
      host: new URL(url).host,
      ...(credentials !== undefined && { "proxy-authorization": `Basic ${btoa(credentials)}` }),
    };
    const sent = request(
      { host: "127.0.0.1", port, method, path: url, headers, agent: false },
      (answer) => {
        text(answer).then((body) => resolve({ status: answer.statusCode ?? 0, body }), reject);
      },
    );
    sent.on("error", reject).end();
  });
}

const codeOf = ({ body }: Answer): unknown => JSON.parse(body).error.code;

const codeOfError = (error: unknown): unknown =>
  error instanceof Error && "code" in error ? error.code : error;

async function eventsOf(
  home: string,
): Promise<readonly { readonly type: string; readonly agent: string | undefined }[]> {
  const events = [];
  for await (const event of readAuditLog(join(home, "audit.jsonl")))
    events.push({ type: event.eventType, agent: event.agent });
  return events;
}

const typesOf = async (home: string): Promise<readonly string[]> =>
  (await eventsOf(home)).map(({ type }) => type);

describe.each(FORMS)("acp proxy http, $form", ({ env }) => {
  it("reaches no host of this machine that config.yml does not name, nor itself", async () => {
    await using world = await httpWorld();
    await using other = await httpWorld();
    const { port, url } = await startProxy(world.home, [], env);
    expect(await send(port, `${world.origin}/`)).toMatchObject({ status: 200 });
    for (const target of [
      `${other.origin}/`,
      `${url}/`,
      other.origin.replace("127.0.0.1", "localhost"),
    ]) {
      const refused = await send(port, target);
      expect([target, refused.status, codeOf(refused)]).toEqual([target, 403, "address_refused"]);
    }
    expect(other.reached).toEqual([]);
  });

  it("tells agents apart by their credentials, and judges each by its own policy", async () => {
    const proxy = `  http:
    agents:
      - { id: reader, token: "${TOKEN_A}" }
      - { id: writer, token: "${TOKEN_B}", policy: writer.yml }
`;
    await using world = await httpWorld({
      policy: 'version: "1"\ndefault: deny\nrules: [{ match: { method: GET }, action: allow }]\n',
      proxy,
    });
    const own = 'version: "1"\ndefault: deny\nrules: [{ match: { method: PUT }, action: allow }]\n';
    await writeFile(join(world.home, "writer.yml"), own, { mode: 0o600 });
    const { port, stdout } = await startProxy(world.home, [], env);
    expect(stdout()).toContain(`export HTTP_PROXY='http://reader:TOKEN@127.0.0.1:${port}'`);
    expect(stdout()).not.toContain(TOKEN_A);
    const outcome = async (method: string, credentials?: string): Promise<unknown> => {
      const answer = await send(port, `${world.origin}/`, {
        method,
        ...(credentials !== undefined && { credentials }),
      });
      return answer.status === 200 ? "performed" : `${answer.status} ${String(codeOf(answer))}`;
    };
    expect(await outcome("GET", `reader:${TOKEN_A}`)).toBe("performed");
    expect(await outcome("PUT", `reader:${TOKEN_A}`)).toBe("403 policy_denied");
    expect(await outcome("PUT", `writer:${TOKEN_B}`)).toBe("performed");
    expect(await outcome("GET", `writer:${TOKEN_B}`)).toBe("403 policy_denied");
    for (const wrong of [undefined, `reader:${TOKEN_B}`, "reader:", `nobody:${TOKEN_A}`])
      expect(await outcome("GET", wrong)).toBe("407 agent_unknown");
    const agents = (await eventsOf(world.home))
      .filter(({ type }) => type === "tool_call_completed")
      .map(({ agent }) => agent);
    expect(agents).toEqual(["reader", "writer"]);
  });

  it("takes who has no credentials for --agent, where that is said", async () => {
    const proxy = `  http: { agents: [{ id: reader, token: "${TOKEN_A}" }] }\n`;
    await using world = await httpWorld({ proxy });
    const { port } = await startProxy(world.home, ["--agent", "guest"], env);
    expect(await send(port, `${world.origin}/`)).toMatchObject({ status: 200 });
    expect(await send(port, `${world.origin}/`, { credentials: "guest:x" })).toMatchObject({
      status: 407,
    });
    const agents = (await eventsOf(world.home))
      .filter(({ type }) => type === "tool_call_completed")
      .map(({ agent }) => agent);
    expect(agents).toEqual(["guest"]);
  });

  it("lets a host's approval go after its time", async () => {
    await using world = await httpWorld();
    const { port } = await startProxy(world.home, [], {
      ...env,
      ACP_HTTP_HOST_APPROVAL_TTL_SEC: "1",
    });
    await using _silent = await attachSilent(world.home);
    const post = (): Promise<Answer> => send(port, `${world.origin}/`, { method: "POST" });
    const [first] = await Promise.all([
      post(),
      answerNext(world.home, ["--approve", "--offer", "host"]),
    ]);
    expect(first.status).toBe(200);
    const held = async (): Promise<unknown> =>
      JSON.parse((await acp(["grants", "--json"], { home: world.home })).stdout).grants;
    await expect.poll(held).toEqual([]);
    const [second] = await Promise.all([post(), answerNext(world.home, ["--deny"])]);
    expect(codeOf(second)).toBe("consent_denied");
  });

  it("offers no host where its time is 0", async () => {
    await using world = await httpWorld();
    const { port } = await startProxy(world.home, [], {
      ...env,
      ACP_HTTP_HOST_APPROVAL_TTL_SEC: "0",
    });
    await using _silent = await attachSilent(world.home);
    const asked = send(port, `${world.origin}/`, { method: "POST" });
    await expect(answerNext(world.home, ["--approve", "--offer", "host"])).rejects.toThrow(
      "refused",
    );
    await answerNext(world.home, ["--deny"]);
    expect(codeOf(await asked)).toBe("consent_denied");
  });

  it("ends what is under way before it ends itself, and takes nothing new", async () => {
    await using world = await httpWorld();
    let slow: ServerResponse | undefined;
    const server = createServer((_, answer) => {
      slow = answer.writeHead(200).write("begun, ") ? answer : answer;
    });
    const authority = `127.0.0.1:${await listen(server)}`;
    await writeFile(
      join(world.home, "config.yml"),
      `version: "1"\nproxy: { private_hosts: ["${authority}"] }\n`,
    );
    const proxy = await startProxy(world.home, [], env);
    const answer = send(proxy.port, `http://${authority}/`);
    await expect.poll(() => slow).toBeDefined();
    proxy.child.kill("SIGTERM");
    await proxy.seen("stderr", "no new requests");
    // One that came as it closed is reset, or told that it closes.
    const outcome = (): Promise<unknown> =>
      send(proxy.port, `http://${authority}/`).then(({ status }) => status, codeOfError);
    await expect.poll(outcome).toBe("ECONNREFUSED");
    slow?.end("ended");
    expect(await answer).toEqual({ status: 200, body: "begun, ended" });
    expect(await proxy.ended).toMatchObject({ code: 0, signal: null });
    server.close();
    expect(await acp(["audit", "verify"], { home: world.home })).toMatchObject({ code: 0 });
  });

  it("killed while it asks, it has let nothing through; the next one serves, and its log is whole", async () => {
    await using world = await httpWorld();
    const first = await startProxy(world.home, [], env);
    await using silent = await attachSilent(world.home);
    const lost = send(first.port, `${world.origin}/`, { method: "POST" }).catch(() => "lost");
    await expect.poll(() => silent.pending().length).toBe(1);
    first.child.kill("SIGKILL");
    expect(await lost).toBe("lost");
    const second = await startProxy(world.home, [], env);
    expect(await send(second.port, `${world.origin}/`)).toMatchObject({ status: 200 });
    expect(world.reached).toEqual(["GET /"]);
    second.child.kill("SIGTERM");
    expect(await second.ended).toMatchObject({ code: 0 });
    expect(await acp(["audit", "verify"], { home: world.home })).toMatchObject({ code: 0 });
    expect((await typesOf(world.home)).filter((type) => type === "consent_requested")).toHaveLength(
      1,
    );
  });

  it("counts for Prometheus, and logs one JSON object a line", async () => {
    await using world = await httpWorld();
    const { port, stdout, stderr } = await startProxy(
      world.home,
      ["--json", "--metrics", "0"],
      env,
    );
    await send(port, `${world.origin}/`);
    await send(port, `${world.origin}/`, { method: "DELETE" });
    const { metrics } = JSON.parse(stdout());
    const counted = await (await fetch(metrics)).text();
    expect(counted).toContain('acp_http_requests_total{outcome="performed"} 1\n');
    expect(counted).toContain('acp_http_refusals_total{code="policy_denied"} 1\n');
    expect((await fetch(new URL("/other", metrics))).status).toBe(404);
    const entries = stderr()
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(entries).toContainEqual(
      expect.objectContaining({
        event: "refused",
        method: "DELETE",
        host: "127.0.0.1",
        agent: "http-client",
        code: "policy_denied",
      }),
    );
  });

  it("listens on 127.0.0.1 alone, and says who has the port where it is taken", async () => {
    await using world = await httpWorld();
    const { port } = await startProxy(world.home, [], env);
    const taken = await acp(["proxy", "http", "--port", String(port)], {
      home: world.home,
      env,
    });
    expect(taken.code).toBe(2);
    expect(taken.stderr).toMatch(/Cannot listen on 127\.0\.0\.1 port [0-9]+: .*EADDRINUSE/);
    // Somebody else can have the same port of another address: it is not taken there.
    const other = createTcpServer();
    await new Promise<void>((resolve, reject) =>
      other.once("error", reject).listen(port, "127.0.0.2", resolve),
    );
    other.close();
  });

  it.each([
    ["a port that is none", ["--port", "70000"], {}, "from 0 to 65535"],
    ["counters on a port that is none", ["--metrics", "x"], {}, "from 0 to 65535"],
    [
      "a time of approvals that is none",
      [],
      { ACP_HTTP_HOST_APPROVAL_TTL_SEC: "3 min" },
      "whole number of seconds",
    ],
  ])("does not start with %s", async (_, args, more, message) => {
    await using world = await httpWorld();
    const { code, stderr } = await acp(["proxy", "http", "--home", world.home, ...args], {
      env: { ...env, ...more },
    });
    expect(code).toBe(2);
    expect(stderr).toContain(message);
  });

  it("does not start with a token that is too short, and shows no token", async () => {
    await using world = await httpWorld({
      proxy: '  http: { agents: [{ id: reader, token: "hunter2" }] }\n',
    });
    const { code, stderr } = await acp(["proxy", "http", "--port", "0"], {
      home: world.home,
      env,
    });
    expect(code).not.toBe(0);
    expect(stderr).toContain(join(world.home, "config.yml"));
    expect(stderr).not.toContain("hunter2");
  });
});

describe("acp mcp with proxy.http_port", () => {
  const INITIALIZE = {
    protocolVersion: "2025-06-18",
    capabilities: {},
    clientInfo: { name: "raw", version: "1" },
  };
  const SERVER = new URL("fixtures/slow-server.mjs", import.meta.url).pathname;

  async function freePort(): Promise<number> {
    const server = createServer();
    const port = await listen(server);
    await new Promise((resolve) => server.close(resolve));
    return port;
  }

  /** `acp mcp`, past its handshake. */
  async function startMcp(world: HttpWorld): Promise<Running> {
    const running = startAcp(
      ["mcp", "--agent", "both", "--", process.execPath, SERVER, join(world.path, "calls")],
      { home: world.home },
    );
    running.child.stdin?.write(
      `${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params: INITIALIZE })}\n`,
    );
    await running.seen("stdout", '"serverInfo"');
    return running;
  }

  it("serves both behind one gate; a second one, which finds the port taken, serves its client all the same", async () => {
    await using world = await httpWorld();
    const httpPort = await freePort();
    const config = await readFile(join(world.home, "config.yml"), "utf8");
    await writeFile(join(world.home, "config.yml"), `${config}  http_port: ${httpPort}\n`);
    await using first = await startMcp(world);
    expect(first.stderr()).toContain(`The HTTP proxy listens on http://127.0.0.1:${httpPort}`);
    expect(await send(httpPort, `${world.origin}/`)).toMatchObject({ status: 200 });
    expect(await send(httpPort, `${world.origin}/`, { method: "DELETE" })).toMatchObject({
      status: 403,
    });
    await using second = await startMcp(world);
    expect(second.stderr()).toContain(`another program is listening on port ${httpPort}`);
    first.child.stdin?.end();
    expect(await first.ended).toMatchObject({ code: 0 });
    await expect(send(httpPort, `${world.origin}/`)).rejects.toThrow("ECONNREFUSED");
    const agents = (await eventsOf(world.home))
      .filter(({ type }) => type === "tool_call_completed")
      .map(({ agent }) => agent);
    expect(agents).toEqual(["both"]);
  });

  it("takes nobody without credentials for an agent, where agents have them", async () => {
    const httpPort = await freePort();
    const proxy = `  http_port: ${httpPort}\n  http: { agents: [{ id: reader, token: "${TOKEN_A}" }] }\n`;
    await using world = await httpWorld({ proxy });
    await using _running = await startMcp(world);
    expect(await send(httpPort, `${world.origin}/`)).toMatchObject({ status: 407 });
    expect(
      await send(httpPort, `${world.origin}/`, { credentials: `reader:${TOKEN_A}` }),
    ).toMatchObject({ status: 200 });
  });
});
