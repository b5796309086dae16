import { expect, it } from "vitest";
import { readBody } from "./body.js";

const post = (body: string | ReadableStream, headers: Record<string, string> = {}): Request =>
  new Request("http://localhost/", { method: "POST", body, headers, duplex: "half" });

it("readBody() reads up to the limit", async () => {
  expect(await readBody(post("x".repeat(10)), 10)).toHaveLength(10);
  expect(await readBody(post("x".repeat(11)), 10)).toBeUndefined();
  expect(await readBody(new Request("http://localhost/", { method: "POST" }), 10)).toHaveLength(0);
});

it("readBody() believes a length that is too large, and no other", async () => {
  expect(await readBody(post("x", { "content-length": "11" }), 10)).toBeUndefined();
  expect(await readBody(post("x".repeat(11), { "content-length": "1" }), 10)).toBeUndefined();
});

it("readBody() leaves the rest of an endless body alone", async () => {
  let pulled = 0;
  const endless = new ReadableStream({
    pull(controller) {
      pulled++;
      controller.enqueue(new Uint8Array(1_000));
    },
  });
  expect(await readBody(post(endless), 5_000)).toBeUndefined();
  expect(pulled).toBeLessThan(20);
});
