import { describe, expect, it } from "vitest";
import { makeEvent } from "../test/support.js";
import { createAppender } from "./appender.js";
import type { LineGroup } from "./group-commit.js";
import { LINE_BYTES_MAX } from "./event.js";

/** A store whose writes end when the test says so. */
function heldStore(): {
  readonly groups: string[];
  readonly append: (group: LineGroup) => Promise<void>;
  readonly close: () => Promise<void>;
  release(error?: Error): void;
  isClosed: boolean;
} {
  const groups: string[] = [];
  const held: { readonly resolve: () => void; readonly reject: (error: Error) => void }[] = [];
  return {
    groups,
    isClosed: false,
    append({ bytes }) {
      groups.push(bytes.toString("utf8"));
      return new Promise((resolve, reject) => held.push({ resolve, reject }));
    },
    async close() {
      this.isClosed = true;
    },
    release(error) {
      const write = held.shift();
      if (write === undefined) throw new Error("no write is under way");
      if (error === undefined) write.resolve();
      else write.reject(error);
    },
  };
}

const idle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const countLines = (text: string): number => text.split("\n").length - 1;

describe("append()", () => {
  it("resolves no sooner than its write ends", async () => {
    const store = heldStore();
    const { append } = createAppender(store, { path: "log" });
    let done = false;
    const appending = append([makeEvent(1)]).then(() => {
      done = true;
    });
    await idle();
    expect(done).toBe(false);
    store.release();
    await appending;
    expect(done).toBe(true);
  });

  it("puts the calls that came during a write into one next write", async () => {
    const store = heldStore();
    const { append } = createAppender(store, { path: "log" });
    const first = append([makeEvent(1)]);
    await idle();
    const rest = [2, 3, 4, 5].map((number) => append([makeEvent(number)]));
    store.release();
    await first;
    await idle();
    store.release();
    expect(await Promise.all(rest)).toMatchObject([{ seq: 1 }, { seq: 2 }, { seq: 3 }, { seq: 4 }]);
    expect(store.groups.map(countLines)).toEqual([1, 4]);
  });

  it("puts the calls of one tick into one write", async () => {
    const store = heldStore();
    const { append } = createAppender(store, { path: "log" });
    const all = Promise.all([1, 2, 3].map((number) => append([makeEvent(number)])));
    await idle();
    store.release();
    await all;
    expect(store.groups.map(countLines)).toEqual([3]);
  });

  it("bounds what is written at once, but never splits a call", async () => {
    const store = heldStore();
    const { append } = createAppender(store, { path: "log" });
    const large = (number: number) =>
      makeEvent(number, { metadata: { filler: "x".repeat(5 * 1024 * 1024) } });
    const all = Promise.all([
      append([large(1), large(2)]),
      append([large(3)]),
      append([makeEvent(4)]),
    ]);
    await idle();
    store.release();
    await idle();
    store.release();
    await all;
    expect(store.groups.map(countLines)).toEqual([2, 2]);
  });

  it("goes on from where the log ended", async () => {
    const store = heldStore();
    const { append } = createAppender(store, {
      path: "log",
      head: { seq: 41, hash: `sha256:${"0".repeat(64)}` },
    });
    const appending = append([makeEvent(1)]);
    await idle();
    store.release();
    expect((await appending).seq).toBe(42);
    expect(JSON.parse(store.groups[0] ?? "")).toMatchObject({
      previous_event_hash: `sha256:${"0".repeat(64)}`,
    });
  });

  it("rejects a failed write, what waits behind it, and everything later, naming the cause and the way back", async () => {
    const store = heldStore();
    const { append } = createAppender(store, { path: "log" });
    const first = append([makeEvent(1)]);
    await idle();
    const second = append([makeEvent(2)]);
    const both = Promise.allSettled([first, second]);
    store.release(
      Object.assign(new Error("ENOSPC: no space left on device, write"), {
        code: "ENOSPC",
        syscall: "write",
      }),
    );
    const want = {
      code: "audit_failed",
      message:
        'Cannot append to audit log "log": ENOSPC: no space left on device; nothing is recorded until you fix this and open the log again',
    };
    expect(await both).toMatchObject([{ reason: want }, { reason: want }]);
    await expect(append([makeEvent(3)])).rejects.toMatchObject(want);
    expect(store.groups).toHaveLength(1);
  });

  it("refuses an event without a line, and stays open for others", async () => {
    const store = heldStore();
    const { append } = createAppender(store, { path: "log" });
    await expect(append([makeEvent(1), makeEvent(2, { tool: "\udfff" })])).rejects.toMatchObject({
      code: "audit_failed",
    });
    await expect(
      append([makeEvent(1, { metadata: { filler: "€".repeat(LINE_BYTES_MAX / 3) } })]),
    ).rejects.toMatchObject({
      code: "audit_failed",
    });
    await expect(append([])).rejects.toMatchObject({ code: "audit_failed" });
    await expect(
      append([makeEvent(1, { metadata: { filler: "x".repeat(2 * LINE_BYTES_MAX) } })]),
    ).rejects.toMatchObject({
      code: "audit_failed",
    });
    const good = append([makeEvent(3)]);
    await idle();
    store.release();
    expect(await good).toMatchObject({ seq: 0 });
    expect(
      store.groups.map((group) =>
        group
          .split("\n")
          .filter(Boolean)
          .map((line) => JSON.parse(line).id),
      ),
    ).toEqual([["ae_3"]]);
  });
});

describe("close()", () => {
  it("closes the store after the last write", async () => {
    const store = heldStore();
    const { append, close } = createAppender(store, { path: "log" });
    const appending = append([makeEvent(1)]);
    const closing = close();
    await idle();
    expect(store.isClosed).toBe(false);
    store.release();
    await Promise.all([appending, closing]);
    expect(store.isClosed).toBe(true);
    await expect(append([makeEvent(2)])).rejects.toMatchObject({
      code: "audit_failed",
      message: expect.stringContaining("closed"),
    });
  });
});
