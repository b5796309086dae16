import { describe, expect, it } from "vitest";
import { statOptional } from "./stat-optional.js";

describe("statOptional()", () => {
  it("is undefined for what is not there or cannot be looked at", () => {
    expect(statOptional("/")?.isDirectory()).toBe(true);
    expect(statOptional("/nonexistent/x")).toBeUndefined();
    expect(statOptional("/etc/passwd/x")).toBeUndefined();
    expect(statOptional("a\0b")).toBeUndefined();
  });
});
