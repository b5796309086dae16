import { describe, expect, it } from "vitest";
import { readBody } from "./body.js";

const bodyOf = (...chunks: readonly string[]): ReadableStream<Uint8Array> =>
  new ReadableStream({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(Buffer.from(chunk));
      controller.close();
    },
  });

describe("readBody()", () => {
  it("gives what it may have", async () => {
    expect(Buffer.from((await readBody(bodyOf("ab", "c"), 3)) ?? []).toString()).toBe("abc");
    expect(await readBody(null, 3)).toEqual(new Uint8Array());
  });

  it("stops where there is more", async () => {
    let chunks = 0;
    let isCancelled = false;
    const endless = new ReadableStream<Uint8Array>({
      pull: (controller) => void (chunks++, controller.enqueue(new Uint8Array(10))),
      cancel: () => void (isCancelled = true),
    });
    expect(await readBody(endless, 25)).toBeUndefined();
    expect([chunks < 10, isCancelled]).toEqual([true, true]);
  });
});
