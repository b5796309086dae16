import { spawn } from "node:child_process";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { LANGUAGES } from "./languages.js";
import { STEPS } from "./steps.js";

const DEMO = fileURLToPath(new URL("demo.mjs", import.meta.url));

describe("the demo of the HTTP proxy", () => {
  it("ends as it has to in every language that is here, says which are not, and leaves nothing behind", async () => {
    const temporary = await mkdtemp(join(tmpdir(), "acp-"));
    try {
      const child = spawn(process.execPath, [DEMO], { stdio: ["ignore", "pipe", "inherit"], env: { ...process.env, TMPDIR: temporary } });
      const code = new Promise<number | null>((resolve) => child.on("close", resolve));
      const said = await text(child.stdout);
      expect(said).not.toContain("WRONG");
      for (const { name, missing } of LANGUAGES) {
        const lines = said.split("\n").filter((line) => line.startsWith(name));
        if (missing === undefined) expect(lines.map((line) => line.slice(8, 15).trim())).toEqual(STEPS.map(({ method }) => method));
        else expect(lines).toEqual([expect.stringContaining(missing)]);
      }
      expect(said).toContain("the chain is whole");
      expect(await code).toBe(0);
      expect((await readdir(temporary)).filter((name) => name.startsWith("acp-http-demo-"))).toEqual([]);
    } finally {
      await rm(temporary, { recursive: true, force: true });
    }
  }, 120_000);
});
