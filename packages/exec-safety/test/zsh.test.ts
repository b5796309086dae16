/**
 * What isSameInZsh() says of words, against zsh itself with its widest patterns: the same words as
 * in bash, or none at all. A value with blanks is one word there and several in bash; where that is
 * known, it is judged as words that are not known.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { inLane } from "../../../tools/deep.js";
import { evaluateCommandSafety } from "../src/index.js";
import { isSameInZsh } from "../src/parse/zsh.js";

const isHere =
  spawnSync("zsh", ["-fc", "true"]).status === 0 && spawnSync("bash", ["-c", "true"]).status === 0;
const RUNS = inLane(300);

describe.skipIf(!isHere)(`words in bash and zsh${isHere ? "" : " (skipped: no zsh here)"}`, () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "acp-zsh-"));
    mkdirSync(join(folder, "d"));
    for (const name of ["a", "b.ts", "d/c.ts", "a1"]) writeFileSync(join(folder, name), "");
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it("are the same, or zsh refuses them", () => {
    const piece = fc.constantFrom(
      ..."a b d/ . ts = ~ ^ # * ** ? [a] [^a] ' \" \\ $x $x[1] $x:h ${x} $(echo) < > 1-5 { } {} , : ! % + @ - / \n ; |".split(
        " ",
      ),
      " ",
    );
    const lines = fc
      .sample(fc.array(piece, { minLength: 1, maxLength: 6 }), {
        numRuns: inLane(20_000),
        seed: 13,
      })
      .map((pieces) => `x=ab; printf '<%s>' ${pieces.join("")}`)
      .filter((line) => isSameInZsh(line) && evaluateCommandSafety(line).riskLevel === "safe");
    const chosen = [...new Set(lines)].slice(0, RUNS);
    expect(chosen.length).toBe(RUNS);
    const run = (program: string, options: readonly string[], line: string) =>
      spawnSync(program, [...options, line], {
        cwd: folder,
        encoding: "utf8",
        input: "",
        env: { PATH: process.env["PATH"], LC_ALL: "C" },
      });
    const others = chosen.filter((line) => {
      const [bash, zsh] = [
        run("bash", ["--norc", "-c"], line),
        run("zsh", ["-f", "-o", "extendedglob", "-c"], line),
      ];
      // No match, or no such command, ends it.
      return zsh.status === 0 && bash.status === 0 && zsh.stdout !== bash.stdout;
    });
    expect(others).toEqual([]);
  }, 120_000);
});
