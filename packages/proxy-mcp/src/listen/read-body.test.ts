import type { IncomingMessage } from "node:http";
import { PassThrough } from "node:stream";
import { expect, it } from "vitest";
import { createBodyReader } from "./read-body.js";

/** A request whose body is these bytes so far. */
function half(bytes: number): { readonly request: IncomingMessage; readonly body: PassThrough } {
  const body = new PassThrough();
  body.write(Buffer.alloc(bytes, " "));
  return { request: body as unknown as IncomingMessage, body };
}

it("bodies of one client leave place for others', and small ones are always read", async () => {
  const reader = createBodyReader({ body: 100, small: 10, client: 100, all: 150 });
  const statusOf = async (key: string, bytes: number): Promise<unknown> => {
    const { request, body } = half(bytes);
    body.end();
    const read = await reader.read(request, key);
    return read !== undefined && "refusal" in read ? read.refusal.status : undefined;
  };
  const held = half(90);
  const first = reader.read(held.request, "ada");
  await new Promise((resolve) => setImmediate(resolve));
  // 400: it was read whole, and is empty.
  expect(await statusOf("ada", 20)).toBe(503);
  expect(await statusOf("bob", 20)).toBe(400);
  const other = half(60);
  const second = reader.read(other.request, "bob");
  await new Promise((resolve) => setImmediate(resolve));
  expect(await statusOf("cy", 20)).toBe(503);
  for (const key of ["ada", "bob", "cy"]) expect(await statusOf(key, 10)).toBe(400);
  for (const { body } of [held, other]) body.end();
  await Promise.all([first, second]);
  expect(await statusOf("ada", 90)).toBe(400);
});
