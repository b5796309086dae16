import { describe, expect, it } from "vitest";
import { frozenCopy } from "./own.js";

/** Whether any object in it can change. */
const isLive = (value: unknown): boolean =>
  typeof value === "object" &&
  value !== null &&
  (!Object.isFrozen(value) || Object.values(value).some(isLive));

describe("frozenCopy()", () => {
  it("gives what is frozen throughout as it is", () => {
    const args = Object.freeze({
      path: "a",
      list: Object.freeze([1, Object.freeze({ deep: true })]),
      none: null,
    });
    expect(frozenCopy(args)).toBe(args);
  });

  it("copies what is live inside of something frozen", () => {
    const leaf = { hosts: ["a.example"] };
    const given = Object.freeze({ scope: Object.freeze({ args: Object.freeze([leaf]) }) });
    const copy = frozenCopy(given);
    leaf.hosts.push("evil.example");
    expect(copy).toEqual({ scope: { args: [{ hosts: ["a.example"] }] } });
    expect(isLive(copy)).toBe(false);
  });

  it("reads a getter of something frozen once", () => {
    let reads = 0;
    const given = Object.freeze({
      get effect(): string {
        return reads++ === 0 ? "deny" : "allow";
      },
    });
    const copy = frozenCopy({ given });
    expect([copy.given.effect, copy.given.effect, copy.given.effect]).toEqual([
      "deny",
      "deny",
      "deny",
    ]);
    expect(Object.getOwnPropertyDescriptor(copy.given, "effect")).toMatchObject({
      value: "deny",
      writable: false,
    });
  });

  it("gives nothing that a frozen object inherits", () => {
    const live = { ttlMs: 1 };
    const copy = frozenCopy(
      Object.freeze(Object.assign(Object.create(live) as object, { uses: 1 })),
    );
    live.ttlMs = 1_000_000;
    expect(copy).toEqual({ uses: 1 });
    expect(Object.getPrototypeOf(copy)).toBe(Object.prototype);
  });
});
