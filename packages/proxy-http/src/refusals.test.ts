import { once } from "node:events";
import {
  createServer,
  request,
  type IncomingMessage,
  type RequestOptions,
  type ServerResponse,
} from "node:http";
import { type AddressInfo, createServer as createSocketServer } from "node:net";
import { DENY_CODES, type Denied, type DenyCode } from "@acp/core";
import { afterEach, describe, expect, it } from "vitest";
import {
  makeDenial,
  makeRefusal,
  type ProxyRefusalCode,
  refusalBody,
  refusalBytes,
  refusalOfDenied,
  refused,
  RefusedError,
  sendRefusal,
} from "./refusals.js";

const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

async function serve(
  handler: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<number> {
  const server = createServer(handler);
  closers.push(() => {
    server.close();
    server.closeAllConnections();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  // A server on a TCP port has an address of this shape.
  return (server.address() as AddressInfo).port;
}

async function ask(
  port: number,
  options: RequestOptions = {},
  body = "",
): Promise<{ readonly response: IncomingMessage; readonly text: string }> {
  const sent = request({ port, host: "127.0.0.1", ...options });
  sent.end(body);
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  return { response, text: Buffer.concat(chunks).toString() };
}

const denied = (code: DenyCode, detail: Partial<Denied> = {}): Denied => ({
  decision: "deny",
  code,
  reason: "Cannot read /home/operator/.acp/policy.yml",
  ...DENY_CODES[code],
  ...detail,
});

describe("makeRefusal()", () => {
  it.each<[ProxyRefusalCode, number, boolean]>([
    ["request_invalid", 400, false],
    ["agent_unknown", 407, false],
    ["address_refused", 403, false],
    ["upstream_unreachable", 502, true],
    ["upstream_invalid", 502, false],
    ["upstream_timeout", 504, true],
    ["overloaded", 503, true],
    ["closing", 503, true],
    ["key_locked", 503, true],
    ["index_rebuilding", 503, true],
  ])("%s has status %i", (code, status, retryable) => {
    const refusal = makeRefusal(code, "why");
    expect(refusal).toMatchObject({ code, status, retryable, reason: "why" });
    expect(refusal.remedy).toMatch(/^[A-Z].*[^.]$/);
    expect(refused(code, "why")).toBeInstanceOf(RefusedError);
  });
});

describe("refusalOfDenied()", () => {
  it.each(Object.keys(DENY_CODES) as DenyCode[])("%s is a 403 with its remedy", (code) => {
    const { remedy, retryable } = DENY_CODES[code];
    expect(refusalOfDenied(denied(code))).toMatchObject({ status: 403, code, remedy, retryable });
    expect(makeDenial(code, "why")).toEqual({
      status: 403,
      code,
      remedy,
      retryable,
      reason: "why",
    });
  });

  it.each<DenyCode>([
    "audit_failed",
    "store_failed",
    "policy_failed",
    "layer_failed",
    "vault_failed",
    "channel_failed",
    "signer_failed",
    "assessor_failed",
    "internal_error",
    "permit_refused",
  ])("%s says what it means, not what a part of the operator's machine said", (code) => {
    expect(refusalBody(refusalOfDenied(denied(code)))).not.toContain("/home");
    expect(refusalOfDenied(denied(code)).reason).toBe(DENY_CODES[code].meaning.slice(0, -1));
  });

  it("hands on what a rule or a person said, the ids, and the time to wait", () => {
    const detail = {
      reason: "not on Fridays",
      requestId: "cr_1",
      ruleId: "fridays",
      retryAfterMs: 1_500,
    };
    expect(refusalOfDenied(denied("rate_limited", detail))).toMatchObject(detail);
    expect(JSON.parse(refusalBody(refusalOfDenied(denied("rate_limited", detail))))).toEqual({
      error: {
        code: "rate_limited",
        remedy: DENY_CODES.rate_limited.remedy,
        retryable: true,
        ...detail,
      },
    });
  });
});

describe("sendRefusal()", () => {
  it("answers with the status, the JSON and what headers can say", async () => {
    const port = await serve((_, response) => {
      response.setHeader("x-left-over", "1");
      sendRefusal(response, {
        ...makeDenial("rate_limited", "the räte is used up"),
        retryAfterMs: 1_001,
      });
    });
    const { response, text } = await ask(port);
    expect(response.statusCode).toBe(403);
    expect(response.headers).toMatchObject({
      "content-type": "application/json; charset=utf-8",
      "content-length": String(Buffer.byteLength(text)),
      "cache-control": "no-store",
      "proxy-status": 'acp; error=http_request_denied; details="rate_limited"',
      "retry-after": "2",
    });
    expect(response.headers).not.toHaveProperty("x-left-over");
    expect(response.headers).not.toHaveProperty("proxy-authenticate");
    expect(JSON.parse(text)).toMatchObject({
      error: { code: "rate_limited", reason: "the räte is used up", retryAfterMs: 1_001 },
    });
  });

  it("asks for credentials with 407", async () => {
    const port = await serve((_, response) =>
      sendRefusal(response, makeRefusal("agent_unknown", "no credentials")),
    );
    const { response } = await ask(port);
    expect(response.statusCode).toBe(407);
    expect(response.headers["proxy-authenticate"]).toBe('Basic realm="acp", charset="UTF-8"');
  });

  it("sends no body to HEAD", async () => {
    const port = await serve((_, response) =>
      sendRefusal(response, makeRefusal("overloaded", "too much")),
    );
    const { response, text } = await ask(port, { method: "HEAD" });
    expect([response.statusCode, text]).toEqual([503, ""]);
  });

  it("ends the connection where more of the body could come, and keeps it where nothing can", async () => {
    const port = await serve((_, response) =>
      sendRefusal(response, makeRefusal("overloaded", "too much")),
    );
    const keeps = async (options: RequestOptions, body?: string): Promise<string | undefined> =>
      (await ask(port, { headers: { connection: "keep-alive" }, ...options }, body)).response
        .headers.connection;
    expect(await keeps({ method: "GET" })).toBe("keep-alive");
    expect(
      await keeps(
        { method: "POST", headers: { connection: "keep-alive", "content-length": "5" } },
        "hello",
      ),
    ).toBe("close");
    expect(
      await keeps(
        { method: "POST", headers: { connection: "keep-alive", "transfer-encoding": "chunked" } },
        "hello",
      ),
    ).toBe("close");
  });

  it("ends the connection of an answer that has begun", async () => {
    const port = await serve((_, response) => {
      response.writeHead(200, { "content-length": "10" });
      response.write("half", () =>
        sendRefusal(response, makeRefusal("upstream_invalid", "broke off")),
      );
    });
    await expect(ask(port)).rejects.toMatchObject({ code: "ECONNRESET" });
  });
});

describe("refusalBytes()", () => {
  it("are one whole answer that an HTTP client reads", async () => {
    const server = createSocketServer((socket) => {
      socket.on("error", () => {});
      socket.once("data", () =>
        socket.end(refusalBytes(makeRefusal("agent_unknown", 'no "credentials"'))),
      );
    });
    closers.push(() => void server.close());
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const { response, text } = await ask((server.address() as AddressInfo).port);
    expect([response.statusCode, response.statusMessage]).toEqual([
      407,
      "Proxy Authentication Required",
    ]);
    expect(response.headers).toMatchObject({
      connection: "close",
      "proxy-authenticate": 'Basic realm="acp", charset="UTF-8"',
    });
    expect(JSON.parse(text)).toMatchObject({
      error: { code: "agent_unknown", reason: 'no "credentials"' },
    });
  });

  it("let no reason write headers", () => {
    const text = refusalBytes(
      makeRefusal("request_invalid", "x\r\nset-cookie: a=b\r\n\r\n"),
    ).toString();
    const [head = "", ...rest] = text.split("\r\n\r\n");
    expect(head).not.toContain("set-cookie");
    expect(rest).toHaveLength(1);
  });
});
