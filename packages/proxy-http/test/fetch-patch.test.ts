/**
 * fetch-patch: real Node programs whose fetch and requests go through a proxy, because they were
 * started with --import. The whole of it runs on every Node that we support; ACP_NODE names another
 * one than the tests' own.
 */
import { execFileSync, spawn } from "node:child_process";
import { createHash, randomUUID } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { RequestListener } from "node:http";
import { createServer as createSecureServer } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "tsup";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { listen, startPlainProxy } from "./plain-proxy.js";
import type { PlainProxy } from "./plain-proxy.js";

const NODE = process.env["ACP_NODE"] ?? process.execPath;
const MAJOR = Number(
  execFileSync(NODE, ["-p", "process.versions.node.split('.')[0]"], { encoding: "utf8" }),
);
const SOURCE = fileURLToPath(new URL("../src/", import.meta.url));
const AUTHORIZATION = `Basic ${btoa("agent:secret")}`;

const dir = mkdtempSync(join(tmpdir(), "acp-fetch-patch-"));
const [keyPath, certPath] = [join(dir, "key.pem"), join(dir, "cert.pem")];

/** Says what reached it: `METHOD path host body`. */
const echo: RequestListener = (incoming, outgoing) => {
  let body = "";
  incoming.setEncoding("utf8").on("data", (chunk) => (body += chunk));
  incoming.on("end", () => {
    const { method, url, headers } = incoming;
    if (url === "/redirect") return outgoing.writeHead(302, { location: "/after" }).end();
    return outgoing.end(`${method} ${url} ${headers.host?.replace(/:.*/, "")} ${body}`.trim());
  });
};
const plain = createServer(echo);
let secure = createSecureServer();
let [plainPort, securePort] = [0, 0];

/**
 * The patch as it is built and as it is copied into a sandbox: one file, with no package around it.
 */
const patchPath = join(dir, "patch", "fetch-patch.mjs");

function buildPatch(): Promise<void> {
  return build({
    entry: [join(SOURCE, "fetch-patch.ts")],
    outDir: join(dir, "patch"),
    outExtension: () => ({ js: ".mjs" }),
    format: "esm",
    target: "node20",
    platform: "neutral",
    external: [/^node:/],
    splitting: false,
    silent: true,
    config: false,
  });
}

beforeAll(async () => {
  await buildPatch();
  const subject = [
    "-subj",
    "/CN=origin.test",
    "-addext",
    "subjectAltName=DNS:origin.test,IP:127.0.0.1",
  ];
  const kind = [
    "-newkey",
    "ec",
    "-pkeyopt",
    "ec_paramgen_curve:prime256v1",
    "-nodes",
    "-days",
    "2",
  ];
  execFileSync(
    "openssl",
    ["req", "-x509", ...kind, ...subject, "-keyout", keyPath, "-out", certPath],
    { stdio: "ignore" },
  );
  secure = createSecureServer({ key: readFileSync(keyPath), cert: readFileSync(certPath) }, echo);
  plain.on("upgrade", (incoming, socket) => {
    const accept = createHash("sha1").update(
      `${incoming.headers["sec-websocket-key"]}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`,
    );
    const head = `HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: Upgrade\r\nsec-websocket-accept: ${accept.digest("base64")}`;
    socket.write(`${head}\r\n\r\n`);
    socket.write(Buffer.concat([Buffer.from([0x81, 5]), Buffer.from("hello")]));
    socket
      .on("error", () => undefined)
      .on("end", () => socket.end())
      .resume();
  });
  [plainPort, securePort] = [await listen(plain), await listen(secure)];
});

afterAll(async () => {
  for (const server of [plain, secure]) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
  rmSync(dir, { recursive: true });
});

interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** Runs a program with the patch; its environment has nothing else. */
async function run(
  program: string,
  env: Readonly<Record<string, string>>,
  onOutput?: (text: string) => void,
): Promise<Ended> {
  const prelude =
    "import http from 'node:http'; import https from 'node:https'; import { once } from 'node:events'; import { text } from 'node:stream/consumers';\n";
  const path = join(dir, `program-${randomUUID()}.mjs`);
  writeFileSync(path, prelude + program);
  const child = spawn(NODE, ["--import", patchPath, path], {
    cwd: dir,
    env: { PATH: process.env["PATH"] ?? "", NODE_EXTRA_CA_CERTS: certPath, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const texts = { out: "", err: "" };
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    texts.out += chunk;
    onOutput?.(texts.out);
  });
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => (texts.err += chunk));
  const code = await new Promise<number | null>((resolve) => child.on("close", resolve));
  return { code, out: texts.out.trim(), err: texts.err };
}

const through = ({ port }: PlainProxy): Readonly<Record<string, string>> => ({
  HTTP_PROXY: `http://agent:secret@127.0.0.1:${port}`,
});

const sendPlain = (options: string): string =>
  `const req = http.request(${options}); req.end("hi"); const [res] = await once(req, "response"); console.log(await text(res));`;
const sendSecure = (options: string): string =>
  `const req = https.request(${options}); req.end("hi"); const [res] = await once(req, "response"); console.log(await text(res));`;

describe("fetch-patch", () => {
  it.each([
    ["fetch", "console.log(await (await fetch(URL_, { method: 'POST', body: 'hi' })).text())"],
    ["a URL", sendPlain("new URL(URL_), { method: 'POST' }")],
    ["an agent of its own", sendPlain("URL_, { method: 'POST', agent: new http.Agent() }")],
    ["no agent", sendPlain("URL_, { method: 'POST', agent: false }")],
    [
      "headers as a list",
      sendPlain(
        "URL_, { method: 'POST', headers: ['host', new URL(URL_).host, 'content-length', '2'] }",
      ),
    ],
    [
      "Expect",
      sendPlain(
        "URL_, { method: 'POST', headers: { expect: '100-continue', 'content-length': 2 } }",
      ),
    ],
    [
      "an agent that is asked to use a proxy",
      sendPlain("URL_, { method: 'POST', agent: new http.Agent({ proxyEnv: process.env }) }"),
    ],
  ])("sends plain http in absolute form: %s", async (_, program) => {
    await using proxy = await startPlainProxy();
    const url = `http://127.0.0.1:${plainPort}/a?b=c`;
    const { out, err } = await run(program.replaceAll("URL_", JSON.stringify(url)), through(proxy));
    expect(err).toBe("");
    expect(out).toBe("POST /a?b=c 127.0.0.1 hi");
    expect(proxy.seen).toEqual([`POST ${url} ${AUTHORIZATION} 127.0.0.1:${plainPort}`]);
  });

  it("sends plain http in absolute form where Node itself was told to use the proxy", async () => {
    await using proxy = await startPlainProxy();
    const url = `http://127.0.0.1:${plainPort}/a`;
    const program = `console.log(await (await fetch(${JSON.stringify(url)}, { method: "POST", body: "hi" })).text())`;
    // Some Nodes call it an experiment on stderr.
    const { out } = await run(program, { ...through(proxy), NODE_USE_ENV_PROXY: "1" });
    expect(out).toBe("POST /a 127.0.0.1 hi");
    expect(proxy.seen).toEqual([`POST ${url} ${AUTHORIZATION} 127.0.0.1:${plainPort}`]);
  });

  it.each([
    ["fetch", "console.log(await (await fetch(URL_, { method: 'POST', body: 'hi' })).text())"],
    ["the usual agent", sendSecure("URL_, { method: 'POST' }")],
    [
      "an agent of its own",
      sendSecure("URL_, { method: 'POST', agent: new https.Agent({ keepAlive: true }) }"),
    ],
    [
      "an agent that is asked to use a proxy",
      sendSecure("URL_, { method: 'POST', agent: new https.Agent({ proxyEnv: process.env }) }"),
    ],
  ])(
    "opens one tunnel for https, and checks the host's certificate in it: %s",
    async (_, program) => {
      await using proxy = await startPlainProxy();
      const good = await run(
        program.replaceAll("URL_", JSON.stringify(`https://origin.test:${securePort}/a`)),
        through(proxy),
      );
      expect(good.err).toBe("");
      expect(good.out).toBe("POST /a origin.test hi");
      const bad = await run(
        program.replaceAll("URL_", JSON.stringify(`https://other.test:${securePort}/a`)),
        through(proxy),
      );
      expect(bad.err).toContain("ERR_TLS_CERT_ALTNAME_INVALID");
      const authorities = ["origin.test", "other.test"].map((host) => `${host}:${securePort}`);
      expect(proxy.seen).toEqual(
        authorities.map((authority) => `CONNECT ${authority} ${AUTHORIZATION} ${authority}`),
      );
    },
  );

  it("checks the certificate of an address", async () => {
    await using proxy = await startPlainProxy();
    const url = `https://127.0.0.1:${securePort}/`;
    const { out, err } = await run(
      `console.log(await (await fetch("${url}")).text()); https.get("${url}", async (res) => console.log(await text(res)))`,
      through(proxy),
    );
    expect([out, err]).toEqual(["GET / 127.0.0.1\nGET / 127.0.0.1", ""]);
    expect(proxy.seen).toHaveLength(2);
  });

  it("keeps connections, and asks for one tunnel a connection", async () => {
    await using proxy = await startPlainProxy();
    const program = `for (const _ of [1, 2, 3]) for (const url of URLS) console.log((await (await fetch(url)).text()));
      const agent = new https.Agent({ keepAlive: true });
      for (const _ of [1, 2, 3]) { const [res] = await once(https.get(URLS[1], { agent }), "response"); await text(res); }
      agent.destroy();`;
    const urls = [`http://127.0.0.1:${plainPort}/`, `https://origin.test:${securePort}/`];
    const { err } = await run(program.replace(/URLS/g, JSON.stringify(urls)), through(proxy));
    expect(err).toBe("");
    const [plainOnes, tunnels] = ["GET", "CONNECT"].map(
      (method) => proxy.seen.filter((line) => line.startsWith(method)).length,
    );
    expect([plainOnes, tunnels]).toEqual([3, 2]);
  });

  it("follows a redirect through the proxy", async () => {
    await using proxy = await startPlainProxy();
    const { out } = await run(
      `console.log((await fetch("http://127.0.0.1:${plainPort}/redirect")).url)`,
      through(proxy),
    );
    expect(out).toBe(`http://127.0.0.1:${plainPort}/after`);
    expect(proxy.seen).toHaveLength(2);
  });

  it("says why there is no tunnel, with what the proxy says", async () => {
    const refusal = {
      code: "consent_denied",
      reason: "not this host",
      remedy: "ask the operator",
      retryable: false,
    };
    await using proxy = await startPlainProxy(() => ({
      status: 403,
      body: JSON.stringify({ error: refusal }),
    }));
    const program = `const url = "https://origin.test:${securePort}/";
      const say = ({ message, code, status, refusal }) => console.log(JSON.stringify({ message, code, status, refusal }));
      await fetch(url).catch(({ cause }) => say(cause));
      https.get(url).on("error", say);`;
    const { out, err } = await run(program, through(proxy));
    expect(err).toBe("");
    const message = `Cannot open a tunnel to "origin.test:${securePort}": the proxy says 403 consent_denied; not this host; ask the operator`;
    expect(out.split("\n").map((line) => JSON.parse(line))).toEqual(
      Array.from({ length: 2 }, () => ({ message, code: "tunnel_refused", status: 403, refusal })),
    );
  });

  it("takes the question about a tunnel back that nobody waits for any more", async () => {
    await using proxy = await startPlainProxy(() => "hold");
    const program = `const req = https.get("https://origin.test:${securePort}/").on("error", () => console.log("gone"));
      setInterval(() => {}, 1000);
      process.on("SIGUSR2", () => req.destroy());
      console.log("asked", process.pid);`;
    let pid = 0;
    const ended = run(program, through(proxy), (out) => {
      pid = Number(/asked ([0-9]+)\n/.exec(out)?.[1] ?? pid);
    });
    await expect.poll(proxy.held).toBe(1);
    await expect.poll(() => pid).toBeGreaterThan(0);
    process.kill(pid, "SIGUSR2");
    await expect.poll(proxy.held).toBe(0);
    process.kill(pid, "SIGKILL");
    expect((await ended).out).toContain("gone");
  });

  it("leaves alone what goes to the proxy itself, to sockets of this machine, and to what NO_PROXY names", async () => {
    await using proxy = await startPlainProxy();
    const program = `import { createServer } from "node:http";
      const server = createServer((_, res) => res.end("by the socket")).listen(process.env.SOCKET);
      await once(server, "listening");
      const get = async (options) => { const [res] = await once(http.get(options), "response"); console.log(await text(res)); };
      await get({ socketPath: process.env.SOCKET, path: "/x" });
      server.close();
      await get("http://127.0.0.1:${plainPort}/direct");
      await get({ host: "127.0.0.1", port: ${proxy.port}, path: "http://127.0.0.1:${plainPort}/its-own", headers: { host: "a" } });
      console.log(await (await fetch("https://127.0.0.1:${securePort}/")).text());`;
    const { out, err } = await run(program, {
      ...through(proxy),
      NO_PROXY: "127.0.0.1",
      SOCKET: join(dir, "s"),
    });
    expect(err).toBe("");
    expect(out.split("\n")).toEqual([
      "by the socket",
      "GET /direct 127.0.0.1",
      "GET /its-own a",
      "GET / 127.0.0.1",
    ]);
    expect(proxy.seen).toEqual([`GET http://127.0.0.1:${plainPort}/its-own  a`]);
  });

  it.runIf(MAJOR >= 22)(
    `opens a WebSocket through the proxy${MAJOR >= 22 ? "" : ", skipped: this Node has no WebSocket"}`,
    async () => {
      await using proxy = await startPlainProxy();
      const program = `const ws = new WebSocket("ws://127.0.0.1:${plainPort}/ws"); ws.onmessage = ({ data }) => { console.log(data); process.exit(); };`;
      expect(await run(program, through(proxy))).toMatchObject({ out: "hello" });
      expect(proxy.seen).toEqual([
        `GET http://127.0.0.1:${plainPort}/ws ${AUTHORIZATION} 127.0.0.1:${plainPort}`,
      ]);
    },
  );

  it("reaches into worker threads", async () => {
    await using proxy = await startPlainProxy();
    const worker = join(dir, "worker.mjs");
    writeFileSync(
      worker,
      `console.log(await (await fetch("http://127.0.0.1:${plainPort}/w")).text())`,
    );
    const program = `import { Worker } from "node:worker_threads"; new Worker(${JSON.stringify(worker)});`;
    expect(await run(program, through(proxy))).toMatchObject({ err: "", out: `GET /w 127.0.0.1` });
    expect(proxy.seen).toHaveLength(1);
  });

  it("does not let a program run beside its gate because no variable is set", async () => {
    const { code, out, err } = await run("console.log('ran')", {});
    expect([code, out]).toEqual([1, ""]);
    expect(err).toContain("neither HTTP_PROXY nor HTTPS_PROXY is set");
  });
});
