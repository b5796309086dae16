import { type HttpAction, httpAction, type Release } from "@acp/core";
import { createMasker, Secret } from "@acp/core/vault";
import { describe, expect, it } from "vitest";
import { createResponseMask, fillHeaders, placeholderHeaders } from "./secret-headers.js";

const VALUE = "hunter2-hunter2";
const secrets = Object.freeze([
  new Secret({ name: "TOKEN", value: VALUE, hosts: ["api.example:80"] }),
]);
const URL_TEXT = "http://api.example/";

/** A release as a vault gives it; without `headers`, as a gate without a vault does. */
function release(
  headers?: Readonly<Record<string, string>>,
  names: readonly string[] = ["TOKEN"],
): Release {
  const action = httpAction("GET", URL_TEXT);
  const filled: HttpAction = headers === undefined ? action : { ...action, args: { headers } };
  return {
    action: filled,
    secrets: names,
    signal: new AbortController().signal,
    mask: (value) => value,
    masker: () => (headers === undefined ? undefined : createMasker(secrets)),
  };
}

const invalid = expect.objectContaining({
  refusal: expect.objectContaining({ code: "request_invalid", status: 400 }) as unknown,
}) as unknown;

describe("placeholderHeaders()", () => {
  it("finds the headers that hold a placeholder", () => {
    const raw = [
      "Host",
      "api.example",
      "AUTHORIZATION",
      "Bearer {{secret:TOKEN}}",
      "X-Key",
      "{{secret:A}}{{secret:B}}",
      "Accept",
      "*/*",
    ];
    expect(placeholderHeaders(raw)).toEqual({
      authorization: "Bearer {{secret:TOKEN}}",
      "x-key": "{{secret:A}}{{secret:B}}",
    });
    expect(placeholderHeaders([])).toEqual({});
    expect(placeholderHeaders(["__proto__", "{{secret:TOKEN}}"])).toEqual(
      Object.fromEntries([["__proto__", "{{secret:TOKEN}}"]]),
    );
  });

  it("takes the start of one for one: what is cut off must not go out unseen", () => {
    expect(placeholderHeaders(["x-key", "{{secret:TOK"])).toEqual({ "x-key": "{{secret:TOK" });
  });

  it("refuses one that stands beside another of its name", () => {
    expect(() => placeholderHeaders(["X-Key", "{{secret:A}}", "x-key", "plain"])).toThrow(invalid);
    expect(() => placeholderHeaders(["x-key", "plain", "X-KEY", "{{secret:A}}"])).toThrow(invalid);
    expect(placeholderHeaders(["x-key", "a", "x-key", "b"])).toEqual({});
  });

  it.each([
    "Host",
    "Connection",
    "Content-Length",
    "Transfer-Encoding",
    "TE",
    "Upgrade",
    "Proxy-Authorization",
    "Accept-Encoding",
    "Expect",
  ])("refuses one in %s", (name) => {
    expect(() => placeholderHeaders([name, "{{secret:TOKEN}}"])).toThrow(invalid);
  });
});

describe("fillHeaders()", () => {
  it("sends what was released in the place of what was asked, and asks for the answer as it is", () => {
    const raw = [
      "Accept",
      "*/*",
      "Authorization",
      "Bearer {{secret:TOKEN}}",
      "Accept-Encoding",
      "gzip, br",
      "accept-encoding",
      "zstd",
    ];
    expect(fillHeaders(raw, release({ authorization: `Bearer ${VALUE}` }))).toEqual([
      "Accept",
      "*/*",
      "authorization",
      `Bearer ${VALUE}`,
      "accept-encoding",
      "identity",
    ]);
  });

  it("changes nothing where no secret is known", () => {
    const raw = ["Accept", "*/*", "Accept-Encoding", "gzip"];
    expect(fillHeaders(raw, release())).toEqual(raw);
  });

  it("asks for identity where secrets are known, also where none goes out", () => {
    expect(fillHeaders(["Accept-Encoding", "gzip"], release({}, []))).toEqual([
      "accept-encoding",
      "identity",
    ]);
  });

  it("asks for the whole answer where a secret goes out", () => {
    const raw = ["Range", "bytes=0-3", "If-Range", "etag", "x-key", "{{secret:TOKEN}}"];
    expect(fillHeaders(raw, release({ "x-key": VALUE }))).toEqual([
      "x-key",
      VALUE,
      "accept-encoding",
      "identity",
    ]);
    expect(fillHeaders(["Range", "bytes=0-3"], release({}, []))).toEqual([
      "Range",
      "bytes=0-3",
      "accept-encoding",
      "identity",
    ]);
  });

  it("leaves out what a person took away, and puts a header that they wrote in the place of the agent's own", () => {
    expect(fillHeaders(["x-key", "{{secret:TOKEN}}"], release({}))).not.toContain("x-key");
    const edited = fillHeaders(
      ["Authorization", "mine", "x-key", "{{secret:TOKEN}}"],
      release({ authorization: VALUE }),
    );
    expect(edited).toEqual(["authorization", VALUE, "accept-encoding", "identity"]);
  });

  it("sends no placeholder that nothing was put into", () => {
    const { action } = release();
    const unfilled: Release = {
      ...release(),
      action: { ...action, args: { headers: { "x-key": "{{secret:TOKEN}}" } } } as HttpAction,
    };
    const wanted = expect.objectContaining({
      refusal: expect.objectContaining({ code: "vault_failed", status: 403 }) as unknown,
    }) as unknown;
    expect(() => fillHeaders(["x-key", "{{secret:TOKEN}}"], unfilled)).toThrow(wanted);
    expect(fillHeaders(["x-key", "{{secret:TOKEN}}"], release())).toEqual([]);
    expect(() => fillHeaders([], release({ host: "evil.example" }))).toThrow(wanted);
  });
});

async function through(
  chunks: readonly string[],
  given: Release = release({}),
): Promise<readonly string[]> {
  const body = createResponseMask(given)?.body();
  if (body === undefined) throw new Error("there is no mask");
  const out: string[] = [];
  body.on("data", (chunk: Buffer) => out.push(Buffer.from(chunk).toString()));
  const ended = new Promise((resolve) => body.once("end", resolve));
  for (const chunk of chunks) body.write(chunk);
  body.end();
  await ended;
  return out;
}

describe("createResponseMask()", () => {
  it("is none where no secret is known", () => {
    expect(createResponseMask(release())).toBeUndefined();
  });

  it("masks headers, trailers and status texts, and takes the length away", () => {
    const mask = createResponseMask(release({}));
    expect(mask?.text(`OK ${VALUE}`)).toBe("OK [secret TOKEN]");
    expect(
      mask?.headers([
        "Content-Length",
        "20",
        "X-Echo",
        `Bearer ${VALUE}`,
        "Set-Cookie",
        "a=b",
        "Set-Cookie",
        "c=d",
        "Content-Encoding",
        "identity",
      ]),
    ).toEqual([
      "X-Echo",
      "Bearer [secret TOKEN]",
      "Set-Cookie",
      "a=b",
      "Set-Cookie",
      "c=d",
      "Content-Encoding",
      "identity",
    ]);
  });

  it("drops a header whose very name is a secret", () => {
    expect(createResponseMask(release({}))?.headers([VALUE, "1", "x-ok", "2"])).toEqual([
      "x-ok",
      "2",
    ]);
  });

  it("keeps bytes of header values that are no UTF-8 as they are", () => {
    expect(createResponseMask(release({}))?.headers(["x-latin", "caf\u00e9"])).toEqual([
      "x-latin",
      "caf\u00e9",
    ]);
  });

  it("finds a value with letters beyond ASCII in a header, which Node reads as latin1", () => {
    const list = Object.freeze([new Secret({ name: "KEY", value: "pässwörd-ü" })]);
    const mask = createResponseMask({ ...release({}), masker: () => createMasker(list) });
    expect(mask?.headers(["x-echo", Buffer.from("pässwörd-ü").toString("latin1")])).toEqual([
      "x-echo",
      "[secret KEY]",
    ]);
  });

  it("masks a body wherever its chunks end", async () => {
    for (let at = 1; at < VALUE.length; at++) {
      const out = await through(["before ", VALUE.slice(0, at), VALUE.slice(at), " after"]);
      expect(out.join("")).toBe("before [secret TOKEN] after");
    }
  });

  it("hands on what holds no beginning of a value at once", () => {
    const body = createResponseMask(release({}))?.body();
    body?.write("event: 1\n\n");
    expect(String(body?.read())).toBe("event: 1\n\n");
  });

  it("gives each body a stream of its own", async () => {
    const mask = createResponseMask(release({}));
    const [first, second] = [mask?.body(), mask?.body()];
    first?.write(VALUE.slice(0, 7));
    second?.end(VALUE.slice(7));
    expect(String(second?.read())).toBe(VALUE.slice(7));
    expect(first?.read()).toBeNull();
  });

  it.each([
    ["Content-Encoding", "gzip"],
    ["content-encoding", "identity, br"],
    ["Content-Encoding", "x-unknown"],
    ["Transfer-Encoding", "gzip, chunked"],
  ])("refuses an answer with %s: %s where a secret went out, and no other", (name, value) => {
    const wanted = expect.objectContaining({
      refusal: expect.objectContaining({ code: "upstream_invalid", status: 502 }) as unknown,
    }) as unknown;
    expect(() => createResponseMask(release({}))?.headers([name, value])).toThrow(wanted);
    const idle = createResponseMask(release({}, []));
    expect(createResponseMask(release({}))?.trailers([name, value, "x-sum", VALUE])).toEqual([
      name,
      value,
      "x-sum",
      "[secret TOKEN]",
    ]);
    expect(idle?.headers([name, value])).toEqual([name, value]);
  });
});
