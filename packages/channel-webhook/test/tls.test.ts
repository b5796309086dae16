/** The receiver's certificate, by real TLS: one that nobody vouches for gets no question. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createPost } from "../src/post.js";
import { readTarget } from "../src/target.js";
import { listen, stopServer } from "./receiver.js";

const dir = mkdtempSync(join(tmpdir(), "acp-webhook-tls-"));
const [keyPath, certPath] = [join(dir, "key.pem"), join(dir, "cert.pem")];
const parts = {
  headers: {},
  body: new TextEncoder().encode("{}"),
  addresses: ["127.0.0.1"],
  signal: new AbortController().signal,
};

let port = 0;
let hits = 0;
let stop: () => Promise<void> = async () => undefined;
let cert = "";

beforeAll(async () => {
  const subject = ["-subj", "/CN=receiver.test", "-addext", "subjectAltName=DNS:receiver.test"];
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
  cert = readFileSync(certPath, "utf8");
  const server = createServer({ key: readFileSync(keyPath), cert }, (_request, response) => {
    hits++;
    response.writeHead(204).end();
  });
  port = await listen(server);
  stop = () => stopServer(server);
});

afterAll(async () => {
  await stop();
  rmSync(dir, { recursive: true });
});

describe("createPost() over https", () => {
  const target = (host: string) => readTarget(`https://${host}:${port}/`, [host]);

  it("trusts the authorities it is given, for the name that they vouch for", async () => {
    expect(await createPost(target("receiver.test"), cert)(parts)).toMatchObject({ status: 204 });
    await expect(createPost(target("another.test"), cert)(parts)).rejects.toMatchObject({
      code: "ERR_TLS_CERT_ALTNAME_INVALID",
    });
    expect(hits).toBe(1);
  });

  it("trusts nobody whom the system does not", async () => {
    const before = hits;
    await expect(createPost(target("receiver.test"), undefined)(parts)).rejects.toMatchObject({
      code: "DEPTH_ZERO_SELF_SIGNED_CERT",
    });
    expect(hits).toBe(before);
  });
});
