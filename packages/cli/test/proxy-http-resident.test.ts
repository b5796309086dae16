/**
 * `acp proxy http` as a client of the resident gate: several of them in one home, each with its own
 * settings and all with one log and one count of what an agent does; and what programs see when that
 * process is killed, gives way, is locked, or may not be started.
 */
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { createServer, request } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import { type Socket, connect } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { readAuditLog } from "@acp/audit";
import { expect, it, onTestFinished, vi } from "vitest";
import { EXIT_CODES } from "../src/exit-codes.js";
import { RESIDENT, acp, startAcp } from "./harness.js";
import { answerNext, attachSilent, httpWorld, listen, startProxy } from "./http-world.js";
import { install } from "./resident-world.js";

const PATIENCE = { timeout: 60_000, interval: 50 };
const LOG = /^audit(?:\.\d+)?\.jsonl$/;

interface Answer {
  readonly status: number;
  readonly body: string;
}

const send = (port: number, url: string, method = "GET"): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const headers = { host: new URL(url).host };
    request(
      { host: "127.0.0.1", port, method, path: url, headers, agent: false },
      (answer) =>
        void text(answer).then((body) => resolve({ status: answer.statusCode ?? 0, body }), reject),
    )
      .on("error", reject)
      .end();
  });

const codeOf = ({ body }: Answer): unknown => JSON.parse(body).error.code;

const residents = (home: string): readonly number[] =>
  [...readFileSync(join(home, "run", "resident.log"), "utf8").matchAll(/as process (\d+)/g)].map(
    ([, pid]) => Number(pid),
  );

async function statusOf(home: string): Promise<{
  readonly version: string;
  readonly clients: readonly {
    readonly agent: string;
    readonly used: { readonly requests: number };
  }[];
}> {
  return JSON.parse((await acp(["resident", "status", "--json"], { home })).stdout);
}

/** A server whose answers a test gives. */
async function heldServer(): Promise<{
  readonly authority: string;
  /** Requests that reached it. */
  readonly asked: { readonly request: IncomingMessage; readonly answer: ServerResponse }[];
}> {
  const asked: { request: IncomingMessage; answer: ServerResponse }[] = [];
  const server = createServer((incoming, answer) => void asked.push({ request: incoming, answer }));
  const authority = `127.0.0.1:${await listen(server)}`;
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { authority, asked };
}

/** Lets the proxy reach these hosts. */
const mayReach = (home: string, ...hosts: readonly string[]): Promise<void> =>
  writeFile(
    join(home, "config.yml"),
    `version: "1"\nproxy: { private_hosts: ${JSON.stringify(hosts)} }\n`,
    { mode: 0o600 },
  );

/** A tunnel through the proxy, once it is open. */
async function tunnel(port: number, authority: string): Promise<Socket> {
  const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
  onTestFinished(() => void socket.destroy());
  socket.write(`CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n\r\n`);
  const [first] = await once(socket, "data");
  expect(String(first)).toContain("200 Connection Established");
  return socket;
}

const once = (socket: Socket, event: string): Promise<readonly unknown[]> =>
  new Promise((resolve) => void socket.once(event, (...all: unknown[]) => resolve(all)));

it("serves each with its own directory, environment, configuration and agent, over one log", async () => {
  await using world = await httpWorld();
  const folder = join(world.path, "other");
  await mkdir(folder);
  const policy =
    'version: "1"\ndefault: deny\nrules: [{ match: { method: PUT }, action: allow }]\n';
  await writeFile(join(folder, "own.yml"), policy, { mode: 0o600 });
  const config = `version: "1"\ndefaults: { policy: ./own.yml }\nproxy: { private_hosts: ["${world.authority}"] }\n`;
  await writeFile(join(folder, "config.yml"), config, { mode: 0o600 });
  const one = await startProxy(world.home, ["--agent", "one"], RESIDENT);
  const two = await startProxy(
    world.home,
    ["--agent", "two", "--config", join(folder, "config.yml")],
    { ...RESIDENT, ACP_HTTP_HOST_APPROVAL_TTL_SEC: "0" },
  );
  const status = async (port: number, method: string): Promise<number> =>
    (await send(port, `${world.origin}/`, method)).status;
  expect([await status(one.port, "GET"), await status(one.port, "PUT")]).toEqual([200, 403]);
  expect([await status(two.port, "GET"), await status(two.port, "PUT")]).toEqual([403, 200]);
  expect((await statusOf(world.home)).clients.map(({ agent }) => agent).sort()).toEqual([
    "one",
    "two",
  ]);
  expect(residents(world.home)).toHaveLength(1);
  two.child.kill("SIGKILL");
  await vi.waitFor(
    async () => expect((await statusOf(world.home)).clients).toHaveLength(1),
    PATIENCE,
  );
});

it("counts rates of all clients of the home together", async () => {
  const policy = `version: "1"
default_action: deny
rules:
  - { id: few, match: { kind: http, method: GET }, action: allow, rate_limit: "2/hour" }
`;
  await using world = await httpWorld({ policy });
  const [one, two] = [
    await startProxy(world.home, ["--agent", "same"], RESIDENT),
    await startProxy(world.home, ["--agent", "same"], RESIDENT),
  ];
  const get = ({ port }: { readonly port: number }): Promise<Answer> =>
    send(port, `${world.origin}/`);
  expect([(await get(one)).status, (await get(two)).status]).toEqual([200, 200]);
  for (const each of [one, two]) expect(codeOf(await get(each))).toBe("rate_limited");
  expect(readdirSync(world.home).filter((name) => LOG.test(name))).toEqual(["audit.jsonl"]);
});

it("killed, it breaks what runs with an error that says so, and new connections are served", async () => {
  await using world = await httpWorld();
  const held = await heldServer();
  await mayReach(world.home, held.authority, world.authority);
  const proxy = await startProxy(world.home, [], RESIDENT);
  const asked = send(proxy.port, `http://${held.authority}/`);
  await vi.waitFor(() => expect(held.asked).toHaveLength(1), PATIENCE);
  for (const pid of residents(world.home)) process.kill(pid, "SIGKILL");
  const lost = await asked;
  expect([lost.status, codeOf(lost)]).toEqual([502, "outcome_unknown"]);
  expect(JSON.parse(lost.body).error.retryable).toBe(false);
  expect(await send(proxy.port, `${world.origin}/`)).toMatchObject({ status: 200 });
  await proxy.seen("stderr", "Connected to the resident gate again");
  expect(held.asked).toHaveLength(1);
  expect(residents(world.home)).toHaveLength(2);
  // Printed once: whoever reads it has it already.
  expect(proxy.stdout().match(/listening on/g)).toHaveLength(1);
  proxy.child.kill("SIGTERM");
  expect(await proxy.ended).toMatchObject({ code: 0 });
  expect(await acp(["audit", "verify"], { home: world.home })).toMatchObject({ code: 0 });
});

it("killed while it asks, it shows the question again, and the yes is its client's to collect", async () => {
  await using world = await httpWorld();
  const proxy = await startProxy(world.home, [], RESIDENT);
  const other = await startProxy(world.home, ["--agent", "other"], RESIDENT);
  await using silent = await attachSilent(world.home);
  const post = (): Promise<Answer> => send(proxy.port, `${world.origin}/`, "POST");
  const lost = post();
  await vi.waitFor(() => expect(silent.pending()).toHaveLength(1), PATIENCE);
  const asked = silent.pending()[0]?.request.id;
  for (const pid of residents(world.home)) process.kill(pid, "SIGKILL");
  expect(codeOf(await lost)).toBe("outcome_unknown");
  await vi.waitFor(() => expect(silent.pending()[0]?.request.id).toBe(asked), PATIENCE);
  const [again] = await Promise.all([post(), answerNext(world.home, ["--approve"])]);
  expect(again.status).toBe(200);
  expect(world.reached).toEqual(["POST /"]);
  const types: string[] = [];
  for await (const { eventType } of readAuditLog(join(world.home, "audit.jsonl")))
    types.push(eventType);
  expect(types.filter((type) => type === "consent_requested")).toHaveLength(1);
  expect(other.child.exitCode).toBe(null);
});

it("ends a client's tunnels with the client, and carries each way to its own end", async () => {
  const policy =
    'version: "1"\ndefault: deny\nrules: [{ match: { method: CONNECT }, action: allow }]\n';
  await using world = await httpWorld({ policy });
  const bytes = Buffer.alloc(3_000_000, "0123456789abcdef");
  const held = await heldServer();
  await mayReach(world.home, held.authority);
  const proxy = await startProxy(world.home, [], RESIDENT);
  const open = await tunnel(proxy.port, held.authority);
  open.write(`POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${bytes.length}\r\n\r\n`);
  // Its own way is over, and the other one goes on.
  open.end(bytes);
  await vi.waitFor(() => expect(held.asked).toHaveLength(1), PATIENCE);
  const [one] = held.asked;
  if (one === undefined) throw new Error("nothing came");
  expect((await text(one.request)).length).toBe(bytes.length);
  one.answer.writeHead(200, { connection: "close", "content-length": bytes.length }).end(bytes);
  const back = await text(open);
  expect(back.endsWith(bytes.toString("latin1"))).toBe(true);

  const second = await tunnel(proxy.port, held.authority);
  second.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  await vi.waitFor(() => expect(held.asked).toHaveLength(2), PATIENCE);
  const gone = new Promise((resolve) => held.asked[1]?.request.socket.once("close", resolve));
  expect((await statusOf(world.home)).clients[0]?.used.requests).toBe(1);
  proxy.child.kill("SIGKILL");
  await gone;
  await vi.waitFor(async () => expect((await statusOf(world.home)).clients).toEqual([]), PATIENCE);
});

it("gives way to a newer release: what runs ends first, and the client goes on at its port", async () => {
  await using world = await httpWorld();
  const held = await heldServer();
  await mayReach(world.home, held.authority, world.authority);
  const old = await install(join(world.path, "old"), "1.0.0");
  const next = await install(join(world.path, "next"), "1.1.0");
  const proxy = await startProxy(world.home, [], { ...RESIDENT, BIN: old.bin });
  const asked = send(proxy.port, `http://${held.authority}/`);
  await vi.waitFor(() => expect(held.asked).toHaveLength(1), PATIENCE);
  const starting = startProxy(world.home, ["--agent", "second"], { ...RESIDENT, BIN: next.bin });
  const during = vi.waitFor(async () => {
    expect(proxy.stderr()).toBe(proxy.stderr());
    return send(proxy.port, `${world.origin}/`);
  }, PATIENCE);
  held.asked[0]?.answer.end("done");
  expect(await asked).toEqual({ status: 200, body: "done" });
  const second = await starting;
  expect((await during).status).toBe(200);
  for (const { port } of [proxy, second])
    expect(await send(port, `${world.origin}/`)).toMatchObject({ status: 200 });
  expect((await statusOf(world.home)).version).toBe("1.1.0");
  expect(residents(world.home)).toHaveLength(2);
});

it("says that the key is locked, denies what a rule denies, and goes on at its port once it is open", async () => {
  await using world = await httpWorld();
  const words = "correct horse battery staple 9917";
  const file = join(world.path, "words");
  await writeFile(file, words, { mode: 0o600 });
  const policy = readFileSync(join(world.home, "policy.yml"), "utf8");
  const init = await acp(["init"], { home: world.home, env: { ACP_PASSPHRASE_FILE: file } });
  expect(init).toMatchObject({ code: 0 });
  await writeFile(join(world.home, "policy.yml"), policy, { mode: 0o600 });
  const proxy = startAcp(["proxy", "http", "--home", world.home, "--port", "0"], { env: RESIDENT });
  onTestFinished(() => proxy[Symbol.asyncDispose]());
  await proxy.seen("stderr", "key_locked");
  const port = Number(/http:\/\/127\.0\.0\.1:(\d+)/.exec(proxy.stderr())?.[1]);
  const locked = await send(port, `${world.origin}/`);
  expect([locked.status, codeOf(locked)]).toEqual([503, "key_locked"]);
  expect(locked.body).toContain("acp unlock");
  expect(codeOf(await send(port, `${world.origin}/`, "DELETE"))).toBe("policy_denied");
  const unlocked = await acp(["unlock", "--home", world.home], {
    input: `${words}\n`,
    env: { ACP_RESIDENT_SECONDS: "600" },
  });
  expect(unlocked).toMatchObject({ code: 0 });
  await proxy.seen("stdout", `listening on http://127.0.0.1:${port}`);
  expect(await send(port, `${world.origin}/`)).toMatchObject({ status: 200 });
  expect(await acp(["lock"], { home: world.home })).toMatchObject({ code: 0 });
  await vi.waitFor(
    async () => expect(codeOf(await send(port, `${world.origin}/`))).toBe("key_locked"),
    PATIENCE,
  );
});

it("does not start where it may not start a resident, and names --alone", async () => {
  await using world = await httpWorld();
  const env = { ...RESIDENT, ACP_SANDBOX: "namespace" };
  const args = ["proxy", "http", "--home", world.home, "--port", "0"];
  const { code, stderr } = await acp(args, { env });
  expect(code).toBe(EXIT_CODES.failed.code);
  expect(stderr).toMatch(/run this outside: acp resident serve .*acp proxy http --alone/);
  expect(existsSync(join(world.home, "run", "agents"))).toBe(false);
  await using alone = startAcp([...args, "--alone"], { env });
  await alone.seen("stdout", "listening on");
  expect(existsSync(join(world.home, "run", "agents"))).toBe(false);
  // The thin client is not reached, and nobody chose a gate of its own.
  const late = await acp(["--json", ...args], { env: RESIDENT });
  expect(late).toMatchObject({
    code: EXIT_CODES.usage.code,
    stderr: expect.stringContaining("with proxy http as its first words"),
  });
});
