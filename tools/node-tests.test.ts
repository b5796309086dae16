import { describe, expect, it } from "vitest";
import { nodeTests, testsBetween } from "./node-tests.mjs";

const TEXTS: ReadonlyMap<string, string> = new Map([
  ["packages/home/src/lock.ts", 'import { open } from "node:fs/promises";'],
  ["packages/home/src/lock.test.ts", ""],
  ["packages/home/src/name.ts", 'import { join } from "node:path";'],
  ["packages/home/src/name.test.ts", ""],
  ["packages/proxy-http/test/tunnel.test.ts", 'import { connect } from "node:net";'],
  ["packages/sandbox-linux/test/escape.test.ts", 'import { spawn } from "node:child_process";'],
  ["packages/cli/test/terminal.test.ts", 'import { request } from "node:http";'],
  ["packages/cli/test/inbox-unreachable.test.ts", 'import { request } from "node:http";'],
  ["packages/audit/test/crash.test.ts", 'import { spawn } from "node:child_process";'],
  ["packages/core/src/crypto/sha256.test.ts", ""],
  ["packages/core/test/state-space.test.ts", ""],
  ["tools/built.test.ts", 'import { readFileSync } from "node:fs";'],
]);

describe("nodeTests()", () => {
  it("takes the tests that stand on Node, by their own imports or by those of the file they are beside", () => {
    expect(nodeTests([...TEXTS.keys()], (file) => TEXTS.get(file))).toEqual([
      "packages/home/src/lock.test.ts",
      "packages/proxy-http/test/tunnel.test.ts",
      "packages/cli/test/terminal.test.ts",
      "packages/core/src/crypto/sha256.test.ts",
    ]);
  });
});

describe("testsBetween()", () => {
  it("takes what stands on V8 itself, and the programs from end to end", () => {
    const [some, others] = [
      ["packages/core/src/crypto/sha256.test.ts", "packages/cli/test/mcp.test.ts"],
      ["packages/proxy-http/test/tunnel.test.ts", "packages/cli/test/mcp-life.test.ts"],
    ];
    expect(testsBetween([...some, ...others])).toEqual(some);
  });
});
