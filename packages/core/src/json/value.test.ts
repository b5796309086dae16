import { expect, it } from "vitest";
import { isJsonObject } from "./value.js";

it("isJsonObject() tells objects from arrays, null and absence", () => {
  expect(isJsonObject({})).toBe(true);
  for (const value of [[], null, undefined, "a", 1, true]) expect(isJsonObject(value)).toBe(false);
});
