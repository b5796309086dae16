import { describe, expect, it } from "vitest";
import { isPureTest, pureTests } from "./pure-tests.js";
import { root } from "./workspace.mjs";

describe("isPureTest()", () => {
  const file = "packages/core/src/quote.test.ts";

  it("is true beside the code, with values alone", () => {
    expect(isPureTest(file, 'import { join } from "node:path";\nimport { quoteText } from "./quote.js";')).toBe(true);
    expect(isPureTest("packages/core/src/gate/gate.test.ts", "")).toBe(true);
  });

  it.each(["packages/core/test/quote.test.ts", "tools/quote.test.ts", "examples/a/quote.test.ts", "packages/core/src/quote.ts"])(
    "is false for %s",
    (other) => expect(isPureTest(other, "")).toBe(false),
  );

  it.each([
    'import { readFile } from "node:fs/promises";',
    'import { spawn } from "node:child_process";',
    'import path from "node:path";\nimport net from "node:net";',
    'vi.mock("./other.js")',
    "vi.useFakeTimers()",
    'vi.stubGlobal("fetch", mine)',
    'process.env["ACP_HOME"] = ""',
    'process.on("warning", note)',
    "globalThis.fetch = mine",
    "new URL(import.meta.url)",
    'await import("./again.js")',
  ])("is false where the test touches more: %s", (text) => expect(isPureTest(file, text)).toBe(false));
});

describe("pureTests()", () => {
  it("finds those of every package, and no other", () => {
    const found = pureTests(root);
    expect(found).toContain("packages/core/src/quote.test.ts");
    expect(found).not.toContain("packages/core/src/system.test.ts");
    expect(new Set(found.map((file) => file.split("/")[1])).size).toBeGreaterThan(5);
  });
});
