import { spawn } from "node:child_process";
import { chmod, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { WAYS } from "./ways.js";

const DEMO = fileURLToPath(new URL("demo.mjs", import.meta.url));

interface Ended {
  readonly code: number | null;
  readonly said: string;
  /** What it left in the temporary directory. */
  readonly left: readonly string[];
}

/** The demo, with a temporary directory of its own, so that what it leaves behind is seen. */
async function runDemo(...args: readonly string[]): Promise<Ended> {
  const temporary = await mkdtemp(join(tmpdir(), "acp-"));
  try {
    // Where root runs this, the agent is somebody else, and has to get to its directory.
    await chmod(temporary, 0o711);
    const child = spawn(process.execPath, [DEMO, ...args], {
      stdio: ["ignore", "pipe", "inherit"],
      env: { ...process.env, TMPDIR: temporary },
    });
    const code = new Promise<number | null>((resolve) => child.on("close", resolve));
    const said = await text(child.stdout);
    return {
      said,
      code: await code,
      left: (await readdir(temporary)).filter((name) => name.startsWith("acp-sandbox-demo-")),
    };
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
}

const lineOf = (said: string, name: string): string | undefined =>
  said.split("\n").find((line) => line.startsWith(`${name} `));
const LEAKS = WAYS.filter(({ isAllowed }) => !isAllowed);

describe("the demo of the sandbox", () => {
  it("lets nothing out but what the policy allows, and leaves nothing behind", async () => {
    const { code, said, left } = await runDemo();
    for (const { name } of LEAKS) expect(lineOf(said, name)).toContain("nothing arrived");
    expect(lineOf(said, "proxy")).toContain("403 policy_denied");
    expect(lineOf(said, "allowed")).toMatch(/200 taken +arrived/);
    expect(said).toContain("the chain is whole");
    expect(code).toBe(0);
    expect(left).toEqual([]);
  });

  it("fails where nothing is held: every way around the proxy leads out", async () => {
    const { code, said, left } = await runDemo("--sandbox", "env");
    for (const { name } of LEAKS)
      if (name !== "proxy") expect(lineOf(said, name)).toContain("LEAKED");
    expect(lineOf(said, "proxy")).toContain("nothing arrived");
    expect(said).toContain("demo     FAILED");
    expect(code).toBe(1);
    expect(left).toEqual([]);
  });
});
