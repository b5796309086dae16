import { describe, expect, it } from "vitest";
import { isSharedTest, sharedTests } from "./shared-tests.js";
import { root } from "./workspace.mjs";

describe("isSharedTest()", () => {
  const file = "packages/home/src/atomic.test.ts";

  it.each([
    'import { readFile } from "node:fs/promises";',
    'import { createServer } from "node:net";',
    'import { spawn } from "node:child_process";',
    'spawn(process.execPath, [], { env: { ...process.env, A: "1" } })',
    "fileURLToPath(new URL(import.meta.url))",
    "vi.waitFor(isSo)",
  ])("is true where a test touches the world and leaves the process as it was: %s", (text) =>
    expect(isSharedTest(file, text)).toBe(true),
  );

  it.each([
    'vi.mock("./other.js")',
    "vi.useFakeTimers()",
    'vi.stubGlobal("fetch", mine)',
    'process.env["ACP_HOME"] = ""',
    'delete process.env["ACP_HOME"]',
    'process.on("warning", note)',
    "process.chdir(folder)",
    "globalThis.fetch = mine",
    'readdirSync("/proc/self/fd")',
  ])("is false where it changes the process or looks at it: %s", (text) =>
    expect(isSharedTest(file, text)).toBe(false),
  );

  it("is true of the command line where it only runs in this process", () => {
    const at = "packages/cli/test/policy.test.ts";
    const here = 'import { acpHere } from "./acp-here.js";\n';
    expect(isSharedTest(at, here)).toBe(true);
    for (const more of ["./harness.js", "./run-world.js", "./mcp-client.js", "node:child_process"])
      expect(isSharedTest(at, `${here}import { x } from "${more}";\n`)).toBe(false);
    expect(isSharedTest(at, "")).toBe(false);
  });

  it("is false for what starts programs and sandboxes, and for what is no test", () => {
    expect(isSharedTest("packages/sandbox-linux/test/uid.test.ts", "")).toBe(false);
    expect(isSharedTest("examples/embed/embed.test.ts", "")).toBe(false);
    expect(isSharedTest("packages/home/test/support.ts", "")).toBe(false);
  });
});

describe("sharedTests()", () => {
  it("finds those of every package and of the tools, and no other", () => {
    const found = sharedTests(root);
    expect(found).toContain("packages/exec-safety/src/text/quote.test.ts");
    expect(found).toContain("tools/node-tests.test.ts");
    expect(found).not.toContain("packages/core/src/system.test.ts");
    expect(new Set(found.map((file) => file.split("/", 2).join("/"))).size).toBeGreaterThan(12);
    expect(
      found.filter((file) => file.includes("node_modules") || !file.endsWith(".test.ts")),
    ).toEqual([]);
  });
});
