import { describe, expect, it } from "vitest";
import type { Scalar } from "./leaves.js";
import { traitOf } from "./traits.js";

const of = (name: string, values: readonly Scalar[], isReading = false): string =>
  traitOf({ path: name.split("/"), values }, isReading);

describe("traitOf()", () => {
  it.each([
    ["exact", "command", ["ls"]],
    ["exact", "sqlText", ["select"]],
    ["exact", "options/script", ["x"]],
    ["exact", "query", ["drop"]],
    ["exact", "anything", [true, false]],
    ["exact", "action", ["create"]],
    ["exact", "to", ["ada@example.com"]],
    ["exact", "command", ["/bin/ls"]],
    ["path", "path", ["a"]],
    ["path", "targetFile", ["a"]],
    ["path", "goes_to", ["/srv/x"]],
    ["path", "branch", ["feature/x", "main"]],
    ["path", "place", ["../x"]],
    ["address", "url", ["x"]],
    ["address", "page", ["https://a.example/x"]],
    ["free", "title", ["a/b"]],
    ["free", "content", ["/etc/passwd", "https://x"]],
    ["free", "limit", [10]],
    ["free", "owner", ["acme"]],
    ["free", "words", ["and / or"]],
  ])("is %s for %s with %j", (trait, name, values) => {
    expect(of(name, values)).toBe(trait);
  });

  it("lets a tool that only reads be asked anything", () => {
    expect(of("query", ["x"], true)).toBe("free");
    expect(of("sql", ["x"], true)).toBe("exact");
  });
});
