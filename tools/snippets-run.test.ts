/**
 * Programs of pages and READMEs that say `ts run` run as they stand there, and print what the next
 * block says, where that is `text prints`.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it, onTestFinished } from "vitest";
import { blocksOf } from "./markdown.js";
import { gitFiles, root } from "./workspace.mjs";

const TSX = fileURLToPath(import.meta.resolve("tsx"));

const programs = gitFiles(root)
  .filter((file) => /^(?:README|docs\/.*|packages\/[^/]+\/README)\.md$/.test(file))
  .flatMap((page) => {
    const blocks = blocksOf(readFileSync(join(root, page), "utf8"));
    return blocks.flatMap(({ language, info, line, text }, index) => {
      if (language !== "ts" || info !== "run") return [];
      const next = blocks[index + 1];
      const prints = next?.language === "text" && next.info === "prints" ? next.text : undefined;
      return [{ place: `${page}:${line}`, text, prints }];
    });
  });

it("there are programs", () => {
  expect(programs.length).toBeGreaterThan(0);
});

it.each(programs)("$place runs", ({ text, prints }) => {
  const folder = mkdtempSync(join(tmpdir(), "acp-snippet-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, "program.mts"), text);
  // The packages that it imports are found by the paths of the repository's tsconfig.
  const env = { ...process.env, TSX_TSCONFIG_PATH: join(root, "tsconfig.json") };
  const { status, stdout, stderr } = spawnSync(process.execPath, ["--import", TSX, "program.mts"], {
    cwd: folder,
    env,
    encoding: "utf8",
  });
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  if (prints !== undefined) expect(stdout).toBe(prints);
});
