import { describe, expect, it } from "vitest";
import type { JsonObject, JsonValue } from "../json/value.js";
import { parseArguments, parseCommand } from "./arguments.js";
import type { Stance } from "./arguments.js";
import { createReader } from "./readings.js";
import { spotOf } from "./spot.js";

const allow: Stance = { grants: true, read: createReader(), origins: {} };
const deny: Stance = { grants: false, read: createReader(), origins: {} };
const test = (pattern: JsonValue, map: JsonObject | undefined): readonly [boolean, boolean] => [
  parseArguments(spotOf(pattern, ["args"]), allow)(map),
  parseArguments(spotOf(pattern, ["args"]), deny)(map),
];

describe("parseArguments()", () => {
  it("allows only what is proven, and denies what is hinted at", () => {
    expect(test({ a: "x" }, { a: "x" })).toEqual([true, true]);
    expect(test({ a: "x" }, { a: "X" })).toEqual([false, true]);
    expect(test({ a: "x" }, { a: ["x", "y"] })).toEqual([false, true]);
    expect(test({ a: "x" }, { a: { b: { c: ["x"] } } })).toEqual([false, true]);
    expect(test({ a: "x" }, { a: { x: 1 } })).toEqual([false, true]);
    expect(test({ a: "x" }, { b: "x" })).toEqual([false, false]);
    expect(test({ a: "*" }, undefined)).toEqual([false, true]);
  });

  it("reads numbers and booleans as JSON text", () => {
    expect(test({ a: "-0.5" }, { a: -0.5 })).toEqual([true, true]);
    expect(test({ a: 1.5 }, { a: "1.5" })).toEqual([true, true]);
    expect(test({ a: "0" }, { a: -0 })).toEqual([true, true]);
    expect(test({ a: "1e+21" }, { a: 1e21 })).toEqual([true, true]);
    expect(test({ a: "true" }, { a: true })).toEqual([true, true]);
  });

  it("reaches a nested argument called path by a dotted key", () => {
    expect(test({ "file.path": "/tmp/*" }, { file: { path: "/tmp/x" } })).toEqual([true, true]);
    expect(test({ file: { path: { path: "/tmp/**" } } }, { file: { path: "/tmp/x" } })).toEqual([
      true,
      true,
    ]);
    expect(test({ file: { path: "/tmp/**" } }, { file: "/tmp/x" })).toEqual([true, true]);
    expect(test({ file: { path: "/tmp/**" } }, { file: { path: "/tmp/x" } })).toEqual([
      false,
      true,
    ]);
    expect(
      test({ file: { path: "/tmp/*", mode: "r" } }, { file: { path: "/tmp/x", mode: "r" } }),
    ).toEqual([true, true]);
  });

  it("does not read what an object inherits", () => {
    expect(test({ "a.length": "1" }, { a: "x" })).toEqual([false, false]);
    expect(test({ toString: "*native*" }, {})).toEqual([false, false]);
  });

  it("reads maps as deep as JSON may be", () => {
    const deep = Array.from({ length: 60 }).reduce<JsonValue>((inner) => ({ a: inner }), "x");
    expect(parseArguments(spotOf(deep, ["args"]), allow)({})).toBe(false);
  });
});

describe("parseCommand()", () => {
  const command = (pattern: string, stance: Stance): ReturnType<typeof parseCommand> =>
    parseCommand(spotOf(pattern, ["args"]), stance);

  it("allows by wildcard what is plain words only", () => {
    expect(command("git *", allow)("git log", true)).toBe(true);
    expect(command("git *", allow)("git log; reboot", false)).toBe(false);
    expect(command("git log; reboot", allow)("git log; reboot", false)).toBe(true);
    expect(command("git *", deny)("git log; reboot", false)).toBe(true);
  });
});
