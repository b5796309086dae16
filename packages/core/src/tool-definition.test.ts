import { describe, expect, it } from "vitest";
import { parseToolDefinition } from "./index.js";

const given = {
  server: "files",
  name: "write_file",
  inputSchema: { type: "object" },
  annotations: { readOnlyHint: true },
};

describe("parseToolDefinition()", () => {
  it("copies what it knows, freezes it throughout, and leaves out the rest", () => {
    const source = {
      ...given,
      pinned: "changed",
      description: "ignored",
      inputSchema: { type: "object", properties: { a: {} } },
    };
    const made = parseToolDefinition(source);
    source.inputSchema.properties.a = { type: "string" };
    expect(made).toEqual({
      ...given,
      pinned: "changed",
      inputSchema: { type: "object", properties: { a: {} } },
    });
    expect(Object.isFrozen(made) && Object.isFrozen(made.inputSchema?.["properties"])).toBe(true);
  });

  it("returns its own result as it is, and copies a copy of it", () => {
    const made = parseToolDefinition(given);
    expect(parseToolDefinition(made)).toBe(made);
    expect(parseToolDefinition({ ...made })).not.toBe(made);
  });

  it.each([
    ["null", null],
    ["no server", { name: "a" }],
    ["a schema that is a list", { ...given, inputSchema: [] }],
    ["a pin that is none", { ...given, pinned: "old" }],
    ["a name of 300 characters", { ...given, name: "n".repeat(300) }],
    [
      "more than 256 Ki units in all",
      { ...given, inputSchema: { a: "x".repeat(200_000) }, annotations: { b: "x".repeat(80_000) } },
    ],
  ])("refuses %s", (_, value) => {
    expect(() => parseToolDefinition(value)).toThrow(
      expect.objectContaining({ name: "ConsentError" }),
    );
  });
});
