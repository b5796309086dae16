import { describe, expect, it } from "vitest";
import { isAborted, onAbort } from "./signals.js";

const throwing = (key: string): AbortSignal => {
  const { signal } = new AbortController();
  return Object.defineProperty(signal, key, {
    get(): never {
      throw new Error("gotcha");
    },
  });
};

describe("signals", () => {
  it("isAborted() takes a signal that cannot be read for aborted", () => {
    expect(isAborted(undefined)).toBe(false);
    expect(isAborted(new AbortController().signal)).toBe(false);
    expect(isAborted(AbortSignal.abort())).toBe(true);
    expect(isAborted(throwing("aborted"))).toBe(true);
  });

  it("onAbort() calls at once where the signal aborted, cannot be read or cannot be listened to", () => {
    let calls = 0;
    const count = (): void => void calls++;
    for (const signal of [AbortSignal.abort(), throwing("aborted"), throwing("addEventListener")])
      onAbort(signal, count);
    expect(calls).toBe(3);
    onAbort(throwing("removeEventListener"), count)();
    const controller = new AbortController();
    onAbort(controller.signal, count);
    onAbort(controller.signal, () => expect.unreachable())();
    controller.abort();
    expect(calls).toBe(4);
  });
});
