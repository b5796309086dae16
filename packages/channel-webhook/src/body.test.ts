import { describe, expect, it } from "vitest";
import { readBody } from "./body.js";

const url = "https://gate.example/";
const post = (
  body: NonNullable<RequestInit["body"]>,
  headers: Readonly<Record<string, string>> = {},
): Request => new Request(url, { method: "POST", body, headers, duplex: "half" });

describe("readBody()", () => {
  it("reads all there is, up to its limit", async () => {
    expect(await readBody(post("grüße"), 7)).toEqual(Buffer.from("grüße"));
    expect(await readBody(post("grüße"), 6)).toBeUndefined();
    expect(await readBody(new Request(url), 0)).toEqual(Buffer.alloc(0));
  });

  it("reads nothing of a body that says that it is too long", async () => {
    let pulled = 0;
    const body = new ReadableStream({ pull: () => void pulled++ }, { highWaterMark: 0 });
    expect(await readBody(post(body, { "content-length": "11" }), 10)).toBeUndefined();
    expect(pulled).toBe(0);
  });

  it("stops a body that goes on and on", async () => {
    let cancelled = false;
    const body = new ReadableStream({
      pull: (controller) => controller.enqueue(new Uint8Array(4)),
      cancel: () => void (cancelled = true),
    });
    expect(await readBody(post(body), 10)).toBeUndefined();
    expect(cancelled).toBe(true);
  });
});
