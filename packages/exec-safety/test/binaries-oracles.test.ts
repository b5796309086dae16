/**
 * Oracles: GNU sed refuses `e`, `r` and `w` in its sandbox, and mawk prints what it has compiled
 * without running it. Whatever our grammars let pass must pass there too. Random programs of
 * harmless letters, an empty PATH, an empty folder.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it, onTestFinished } from "vitest";
import { awkProblem } from "../src/tables/languages/awk.js";
import { sedProblem } from "../src/tables/languages/sed.js";

interface Output {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function runnerIn(folder: string): (program: string, args: readonly string[]) => Output {
  return (program, args) => {
    const options = {
      cwd: folder,
      env: { PATH: "/nowhere" },
      input: "x\ny\n",
      encoding: "utf8",
      timeout: 20_000,
    } as const;
    const { status, stdout, stderr } = spawnSync(program, [...args], options);
    return { status, stdout: stdout ?? "", stderr: stderr ?? "" };
  };
}

function emptyFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "acp-oracle-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

const anywhere = runnerIn(tmpdir());
const has = (program: string, args: readonly string[]): boolean =>
  anywhere(program, args).status === 0;

const SED = "/usr/bin/sed";
const isSandboxed = (run: typeof anywhere, script: string): boolean =>
  /sandbox/.test(run(SED, ["--sandbox", "-n", "--", script]).stderr);
const sedAtoms =
  "e w r R W s y / / | x x ; { } \n p [ ] ^ \\ \\ 1 , ! a i c # $ ~ + b t : s/x/x/ s|x|x| a\\\n y/x/x/ g I M q & d"
    .split(" ")
    .concat(" ");

describe.skipIf(!has(SED, ["--sandbox", "-n", "p"]))(
  "sedProblem() against GNU sed (skipped: no GNU sed)",
  () => {
    it("is refused what runs, writes or reads", () => {
      const run = runnerIn(emptyFolder());
      for (const script of ["e", "1w x", "r x", "s/x/y/e", "s/x/y/w z"])
        expect([script, isSandboxed(run, script)]).toEqual([script, true]);
    });

    it("lets nothing pass that sed refuses in its sandbox", () => {
      const folder = emptyFolder();
      const run = runnerIn(folder);
      const scripts = fc
        .array(fc.constantFrom(...sedAtoms), { minLength: 1, maxLength: 14 })
        .map((atoms) => atoms.join(""));
      const passing = scripts.filter(
        (script) => /[ewrRW]/.test(script) && sedProblem(script) === undefined,
      );
      fc.assert(fc.property(passing, (script) => !isSandboxed(run, script)));
      expect(readdirSync(folder)).toEqual([]);
    });
  },
);

const MAWK = "/usr/bin/mawk";
/**
 * Whether a compiled program runs something, reads another file, or prints elsewhere: a redirection
 * stands as a number below zero.
 */
function isHarmful({ status, stdout }: Output): boolean {
  return (
    status === 0 &&
    (/\t(?:system|getline)\b/.test(stdout) || /pushint\t-\d+\n\d+ \.\tprintf?/.test(stdout))
  );
}
const dump = (run: typeof anywhere, program: string): Output =>
  run(MAWK, ["-W", "dump", "--", program]);
const awkAtoms = [
  ...'print printf x $1 1 / / / " " > > | ( ) { } ; \n , [ ] + ++ else getline # \\ ~ ! && || ? : = length in do $ BEGIN ^'.split(
    " ",
  ),
  ..."print ,if (1) ,x ,while (0) ,system(x),getline ,else , ".split(","),
];

describe.skipIf(!has(MAWK, ["-W", "dump", "--", "{ print }"]))(
  "awkProblem() against mawk (skipped: no mawk)",
  () => {
    it("sees what runs, writes or reads", () => {
      const run = runnerIn(emptyFolder());
      const harmful = [
        '{ print > "x" }',
        '{ print | "x" }',
        '{ printf "x" >> "x" }',
        "{ getline y }",
        '{ "x" | getline }',
        'BEGIN { system("x") }',
      ];
      for (const program of harmful)
        expect([program, isHarmful(dump(run, program))]).toEqual([program, true]);
      expect(isHarmful(dump(run, "{ print (1 > 2), -1 }"))).toBe(false);
    });

    it("lets nothing pass that mawk compiles to one of them", () => {
      const folder = emptyFolder();
      const run = runnerIn(folder);
      const programs = fc
        .array(fc.constantFrom(...awkAtoms), { minLength: 2, maxLength: 14 })
        .map((atoms) => atoms.join(""));
      const passing = programs.filter(
        (program) => /[>|]|system|getline/.test(program) && awkProblem(program) === undefined,
      );
      fc.assert(fc.property(passing, (program) => !isHarmful(dump(run, program))));
      expect(readdirSync(folder)).toEqual([]);
    });
  },
);
