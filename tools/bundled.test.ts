import { execFileSync } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, it } from "vitest";
import { bundled } from "./bundled.js";
import { root } from "./workspace.mjs";

it("bundled() makes one file of a program, our sources and their libraries, that finds what lies beside each source", async () => {
  const folder = await mkdtemp(join(tmpdir(), "acp-bundled-"));
  try {
    const source = pathToFileURL(join(folder, "sample.ts"));
    const lines = [
      'import { readPolicy } from "@acp/core/yaml";',
      "const beside: string = new URL('beside.txt', import.meta.url).href;",
      "process.stdout.write(JSON.stringify([beside, typeof readPolicy, ...process.argv.slice(2)]));",
    ];
    await writeFile(source, lines.join("\n"));
    const program = await bundled(source);
    // Where nothing is installed: all of it is in the file.
    const said = execFileSync(process.execPath, [program, "a word"], {
      cwd: folder,
      encoding: "utf8",
    });
    expect(JSON.parse(said)).toEqual([new URL("beside.txt", source).href, "function", "a word"]);
    expect(dirname(program)).toBe(join(root, "node_modules/.vite/bundled"));
    await rm(program);
  } finally {
    await rm(folder, { recursive: true });
  }
});
