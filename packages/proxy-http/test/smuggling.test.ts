/**
 * Other people's tricks, sent raw to the proxy: nothing reaches the host of what Node's strict
 * parser refuses, and what is accepted reaches it as exactly one request that has one reading.
 */
import { existsSync, readFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { rawClient, type RawHost, type Recorded, until } from "./support/raw.js";
import { later, start } from "./support/started.js";

const folder =
  process.env["ACP_VECTORS"] ??
  fileURLToPath(new URL("../../../../shared/vectors", import.meta.url));
const found = existsSync(`${folder}/http`);
const none = found ? "" : ", skipped: no vectors";
const read = (name: string): unknown => JSON.parse(readFileSync(`${folder}/http/${name}`, "utf8"));

/** Many cases share a proxy and a host: each has a path of its own. */
const AT_ONCE = 24;

/**
 * What Node's own strict parser makes of these bytes: whether it took exactly this many requests
 * whole, without an error.
 */
interface Reference {
  readonly port: number;
  /** True where it saw an error. */
  refuses(bytes: Buffer): Promise<boolean>;
}

async function reference(): Promise<Reference> {
  const errors = new Set<number>();
  const server: Server = createServer(
    { insecureHTTPParser: false, requireHostHeader: true },
    (request, response) => {
      request.resume().once("end", () => response.end("ok"));
    },
  );
  server.on("clientError", (_error, socket) => {
    errors.add((socket as unknown as { remotePort: number }).remotePort);
    socket.destroy();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  later(() => {
    server.closeAllConnections();
    return new Promise((resolve) => void server.close(resolve));
  });
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("unreachable");
  const { port } = address;
  return {
    port,
    async refuses(bytes) {
      const raw = await rawClient(port);
      const local = raw.socket.localPort ?? 0;
      raw.end(bytes);
      await raw.ended();
      raw.destroy();
      return errors.delete(local);
    },
  };
}

/** Whether a host that believes the head has all of the request. */
function isWhole(text: string): boolean {
  const at = text.indexOf("\r\n\r\n");
  if (at === -1) return false;
  const body = text.slice(at + 4);
  const length = /^Content-Length: (\d+)$/im.exec(text.slice(0, at))?.[1];
  return /^Transfer-Encoding: chunked$/im.test(text.slice(0, at))
    ? /(?:^|\r\n)0\r\n(?:[^\r\n]+\r\n)*\r\n$/.test(body)
    : body.length >= Number(length ?? 0);
}

/** Answers a request once. */
function answer(connection: Recorded): void {
  if (answered.has(connection) || !isWhole(connection.text())) return;
  answered.add(connection);
  connection.socket.end("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok");
}
const answered = new WeakSet<Recorded>();

/** Throws unless the bytes are exactly one request, read the one way there is. */
function isOneRequest(text: string, host: RawHost): void {
  const at = text.indexOf("\r\n\r\n");
  const lines = text.slice(0, at).split("\r\n");
  const body = text.slice(at + 4);
  expect(lines[0]).toMatch(/^[A-Z-]+ \/[\u0021-\u007e]* HTTP\/1\.1$/);
  for (const line of lines.slice(1))
    expect(line).toMatch(/^[!#$%&'*+\-.^_`|~0-9A-Za-z]+: ?[\t\u0020-\u007e\u0080-\u00ff]*$/);
  const named = (name: string): readonly string[] =>
    lines.filter((line) => line.toLowerCase().startsWith(`${name}:`));
  expect(named("host")).toEqual([`Host: 127.0.0.1:${host.port}`]);
  const lengths = named("content-length");
  const codings = named("transfer-encoding");
  expect(lengths.length + codings.length).toBeLessThanOrEqual(1);
  if (codings.length > 0) {
    expect(codings).toEqual(["Transfer-Encoding: chunked"]);
    expect(body).toMatch(/^(?:[1-9a-f][0-9a-f]*\r\n[^]*\r\n)?0\r\n(?:[^\r\n]+\r\n)*\r\n$/);
  } else expect(body.length).toBe(Number(/\d+/.exec(lengths[0] ?? "0")?.[0]));
}

/**
 * A body that streams is on its way before its end can be seen to be wrong: then the host's
 * connection ends, and the request never gets whole.
 */
function isBrokenOff(text: string): boolean {
  return !isWhole(text) && /^[A-Z-]+ \/[\u0021-\u007e]* HTTP\/1\.1\r\nHost: /.test(text);
}

interface Case {
  readonly name: string;
  readonly bytes: Buffer;
}

interface Tally {
  accepted: number;
  refused: number;
  brokenOff: number;
}

/** Sends every case to the proxy and to Node's parser; the host's bytes are looked at for each. */
async function sendAll(cases: (host: RawHost) => readonly Case[]): Promise<Tally> {
  const { port, host } = await start({
    onData: answer,
    proxy: { limits: { headMs: 60_000, connectionsMax: 100 } },
  });
  const node = await reference();
  const all = cases(host);
  const tally: Tally = { accepted: 0, refused: 0, brokenOff: 0 };
  const seen = (path: string): readonly string[] =>
    host.connections
      .map(({ text }) => text())
      .filter((text) => text.slice(0, text.indexOf("\r\n")).includes(path));
  const one = async ({ name, bytes }: Case, index: number): Promise<void> => {
    const path = `/case-${index}-`;
    const sent = Buffer.from(bytes.toString("latin1").replaceAll("/CASE", path), "latin1");
    const raw = await rawClient(port);
    raw.end(sent);
    const text = await raw.ended();
    raw.destroy();
    const reached = seen(path);
    const isRefused = await node.refuses(sent);
    try {
      const whole = reached.filter((upstream) => !isBrokenOff(upstream));
      if (isRefused)
        expect(whole.length, "reached the host although Node refuses it").toBeLessThanOrEqual(
          countWhole(sent),
        );
      for (const upstream of whole) isOneRequest(upstream, host);
      if (reached.length === 0) expect(text).toMatch(/^(?:HTTP\/1\.1 [45]\d\d |$)/);
    } catch (error) {
      throw new Error(
        `case "${name}": ${JSON.stringify(sent.toString("latin1").slice(0, 300))} → ${JSON.stringify(reached)}`,
        {
          cause: error,
        },
      );
    }
    if (reached.some(isWhole)) tally.accepted++;
    else if (reached.length > 0) tally.brokenOff++;
    else tally.refused++;
  };
  for (let at = 0; at < all.length; at += AT_ONCE)
    await Promise.all(all.slice(at, at + AT_ONCE).map((each, index) => one(each, at + index)));
  await until(() => host.open() === 0, "for the host's sockets to close");
  return tally;
}

/** Pipelined cases: what stands whole before what is refused may pass. */
const countWhole = (sent: Buffer): number =>
  Math.max(0, sent.toString("latin1").split(" HTTP/1.").length - 2);

describe.runIf(found)(`smuggling by Transfer-Encoding${none}`, () => {
  it("reaches the host as one request, or not at all", async () => {
    const { mutations } = read("smuggler_te_mutations.json") as {
      mutations: Record<string, Record<string, string>>;
    };
    const bodies = [
      { name: "CL.TE", body: "1\r\nZ\r\nQ\r\n\r\n" },
      { name: "TE.CL", body: "0\r\n\r\nGET /CASEsmuggled HTTP/1.1\r\nHost: x\r\n\r\n" },
    ];
    const tally = await sendAll((host) =>
      Object.entries(mutations).flatMap(([list, cases]) =>
        Object.entries(cases).flatMap(([name, base64], index): Case[] => {
          const { name: kind, body } = bodies[index % 2] ?? { name: "", body: "" };
          const head = Buffer.from(base64, "base64")
            .toString("latin1")
            .replaceAll("__METHOD__", "POST")
            .replaceAll("__HOST__", `127.0.0.1:${host.port}`)
            .replaceAll("__ENDPOINT__", `http://127.0.0.1:${host.port}/CASE`)
            .replaceAll("__RANDOM__", "1")
            .replaceAll("__REPLACE_CL__", String(body.length));
          const alone = head.replace(/^Content-Length: \d+\r\n/m, "");
          return [
            { name: `${list} ${name} ${kind}`, bytes: Buffer.from(`${head}\r\n${body}`, "latin1") },
            {
              name: `${list} ${name} without a length`,
              bytes: Buffer.from(`${alone}\r\n0\r\n\r\n`, "latin1"),
            },
          ];
        }),
      ),
    );
    process.stdout.write(
      `smuggler: 1768 cases with and without a length, ${tally.refused} refused, ${tally.accepted} reached the host as one request\n`,
    );
    expect(tally.accepted + tally.refused + tally.brokenOff).toBe(2 * 1_768);
    expect(tally.refused).toBeGreaterThan(1_000);
  });
});

interface LlhttpRow {
  readonly file: string;
  readonly name: string;
  readonly kind: string;
  readonly meta: { readonly type: string };
  readonly raw_b64: string;
  readonly error: { readonly code: number; readonly reason: string } | null;
}

describe.runIf(found)(`requests that llhttp must refuse${none}`, () => {
  it("reach the host in no part that is refused", async () => {
    const { rows } = read("llhttp_tests.json") as { rows: readonly LlhttpRow[] };
    const strict = rows.filter(({ meta, error }) => meta.type === "request" && error !== null);
    const tally = await sendAll((host) =>
      strict.flatMap(({ name, raw_b64: base64 }): Case[] => {
        const raw = Buffer.from(base64, "base64").toString("latin1");
        // As it is, and made out to a host: most cases have a path alone, which a proxy refuses
        // whatever follows.
        const made = raw.replaceAll(
          /^(\S+) (\/\S*|\*)(?= )/gm,
          `$1 http://127.0.0.1:${host.port}/CASE`,
        );
        const withHost = made.replace(
          /(HTTP\/1\.1\r\n)(?!Host)/,
          `$1Host: 127.0.0.1:${host.port}\r\n`,
        );
        return [
          { name, bytes: Buffer.from(raw, "latin1") },
          { name: `${name}, to a host`, bytes: Buffer.from(withHost, "latin1") },
        ];
      }),
    );
    process.stdout.write(
      `llhttp: ${strict.length} strict cases twice, ${tally.refused} refused, ${tally.brokenOff} broken off, ${tally.accepted} with whole requests before what is refused\n`,
    );
    expect(strict.length).toBeGreaterThanOrEqual(60);
  });
});
