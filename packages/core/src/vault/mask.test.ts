import { inspect } from "node:util";
import { describe, expect, it } from "vitest";
import { maskSecrets } from "./mask.js";
import { Secret } from "./secret.js";

const value = "s3cr3t-value";
const digits = "1234567890";
const secrets = Object.freeze([
  new Secret({ name: "T", value }),
  new Secret({ name: "N", value: digits }),
]);
const mask = <T>(given: T): T => maskSecrets(given, secrets);

class Opaque {
  readonly text = value;
}

describe("maskSecrets()", () => {
  it("masks texts, keys, numbers and bytes wherever they stand, and leaves the rest", () => {
    const given = {
      text: `a ${value} b`,
      list: [value, 1, true, null, undefined, { [`x${value}`]: "y" }],
      number: 1_234_567_890,
      big: 12_345_678_900n,
      bytes: Buffer.from(`<${value}>`),
      date: new Date(0),
      other: "s3cr3t",
    };
    expect(mask(given)).toEqual({
      text: "a [secret T] b",
      list: ["[secret T]", 1, true, null, undefined, { "x[secret T]": "y" }],
      number: "[secret N]",
      big: "[secret N]0",
      bytes: Buffer.from("<[secret T]>"),
      date: new Date(0),
      other: "s3cr3t",
    });
    expect(given.text).toBe(`a ${value} b`);
  });

  it("keeps a Buffer a Buffer, and a text with an unpaired surrogate as it is", () => {
    expect(Buffer.isBuffer(mask(Buffer.from(value)))).toBe(true);
    expect(mask("\ud800 text")).toBe("\ud800 text");
    expect(mask(`\ud800 ${value}`)).toBe("\ufffd [secret T]");
  });

  it("keeps __proto__ a key, shared parts shared and a cycle a cycle", () => {
    const masked = mask(JSON.parse(`{"__proto__":{"a":"${value}"}}`) as Record<string, unknown>);
    expect(JSON.stringify(masked)).toBe('{"__proto__":{"a":"[secret T]"}}');
    expect(Object.getPrototypeOf(masked)).toBe(Object.prototype);
    const cycle: { self?: unknown; text: string } = { text: value };
    cycle.self = cycle;
    const copy = mask(cycle);
    expect(copy.self).toBe(copy);
    expect(copy.text).toBe("[secret T]");
  });

  it("takes the value out of an error in place: message, stack, cause and fields", () => {
    const cause = new TypeError(`cause ${value}`);
    const error = Object.assign(new RangeError(`bad ${value}`, { cause }), {
      url: `https://h/?k=${value}`,
      socket: new Opaque(),
    });
    expect(mask(error)).toBe(error);
    expect(error).toMatchObject({
      name: "RangeError",
      message: "bad [secret T]",
      url: "https://h/?k=[secret T]",
      socket: undefined,
    });
    expect(inspect(error, { depth: null })).not.toContain(value);
    expect(cause.message).toBe("cause [secret T]");
    expect(mask(new AggregateError([cause], value)).message).toBe("[secret T]");
  });

  it("replaces an error that cannot be changed", () => {
    class Computed extends Error {
      override get message(): string {
        return `computed ${value}`;
      }
    }
    for (const error of [Object.freeze(new Error(value)), new DOMException(value), new Computed()])
      expect(inspect(mask<Error>(error), { showHidden: true })).not.toContain(value);
  });

  it.each<[string, unknown]>([
    ["an instance of a class", new Opaque()],
    ["a map", new Map([["a", value]])],
    ["a function", () => value],
    ["a promise", Promise.resolve(value)],
    ["a response", new Response(value)],
    ["bytes of another kind", new Uint16Array(4)],
  ])("refuses %s, unless it may be kept", (_name, given) => {
    expect(() => mask({ given })).toThrow(expect.objectContaining({ code: "secret_refused" }));
    expect(maskSecrets({ given }, secrets, "keep").given).toBe(given);
  });

  it("does nothing where no secret is known", () => {
    const given = { a: new Opaque() };
    expect(maskSecrets(given, [])).toBe(given);
  });
});
