/**
 * Interpreters and shells: only their version. A script may be allowed by its name; code in an
 * argument never.
 */
import { versionRows } from "../shows-version.js";
import type { Binary, BinaryTable } from "../table.js";

const CODE = "exec: runs code that stands in the command";
const LOADS = "exec: loads code before the program";
const OTHERWISE = "change: runs a program";

interface Language {
  readonly names: string;
  readonly version: string;
  /** Flags that hold or load code. */
  readonly runs: Readonly<Record<string, string>>;
  readonly review: readonly string[];
}

const LANGUAGES: readonly Language[] = [
  {
    names: "node nodejs",
    version: "-v --version",
    runs: {
      "-e,--eval:text": CODE,
      "-p,--print:text": CODE,
      "-pe:text": CODE,
      "-i,--interactive": CODE,
      "-r,--require:text": LOADS,
      "--import:text": LOADS,
      "--loader,--experimental-loader:text": LOADS,
      "-C,--conditions:text": LOADS,
      "--env-file:path": LOADS,
      "--run:text": LOADS,
    },
    review: [
      "x.js",
      "-e x",
      "-pe x",
      "-p x",
      "-r ./x y.js",
      "--import ./x",
      "--eval=1",
      "--ev 1",
      "-v x.js",
    ],
  },
  {
    names: "python python2 python3 python3.10 python3.11 python3.12 python3.13 pypy pypy3",
    version: "-V --version -VV",
    runs: {
      "-c:text": CODE,
      "-m:text": "exec: runs a module, which may be one of the project",
      "-i": CODE,
      "-W,-X:text": LOADS,
    },
    review: [
      "x.py",
      '-c "import os"',
      "-cimport",
      "-m http.server",
      "-mjson.tool x",
      "-Ic eval",
      "-V x.py",
    ],
  },
  {
    names: "ruby",
    version: "-v --version",
    runs: { "-e:text": CODE, "-r:text": LOADS, "-I:path": LOADS, "-n,-p": CODE },
    review: ["x.rb", "-e 1", "-ne 1", "-rx y"],
  },
  {
    names: "perl",
    version: "-v --version -V",
    runs: {
      "-e,-E:text": CODE,
      "-M,-m:text": LOADS,
      "-I:path": LOADS,
      "-n,-p": CODE,
      "-i?:text": "write: changes files in place",
      "-d?:text": LOADS,
    },
    review: ["x.pl", "-e 1", "-ne 1", "-pi.bak -e 1 x", "-Mx y"],
  },
  {
    names: "php",
    version: "-v --version -m --ini",
    runs: {
      "-i,--info": "secret: shows every variable, where secrets are kept",
      "-r,-R,-B,-E:text": CODE,
      "-d:text": LOADS,
      "-S:text": "exec: starts a server",
      "-a": CODE,
      "-c:path": LOADS,
    },
    review: ["x.php", "-r 1", "-S localhost:1", "-i"],
  },
  {
    names: "lua luajit",
    version: "-v",
    runs: { "-e:text": CODE, "-l:text": LOADS, "-i": CODE },
    review: ["x.lua", "-e 1", "-l x"],
  },
  { names: "deno", version: "-V --version", runs: {}, review: ["run x.ts", "eval 1"] },
  {
    names: "bun",
    version: "-v --version",
    runs: { "-e,--eval,-p,--print:text": CODE, "-r,--preload:text": LOADS },
    review: ["x.ts", "-e 1", "run x"],
  },
  {
    names: "R Rscript julia",
    version: "--version",
    runs: { "-e,-E,--eval:text": CODE },
    review: ["x.R", "-e 1"],
  },
  {
    names: "tclsh wish guile racket sbcl osascript groovy jshell irb ipython pry iex erl",
    version: "--version",
    runs: { "-e,-E,--eval:text": CODE },
    review: ["x", "-e 1"],
  },
  {
    names: "bash sh zsh dash ash ksh mksh fish csh tcsh rbash pwsh nu xonsh",
    version: "--version",
    runs: {
      "-c:text": CODE,
      "-i,-s,-l": CODE,
      "--init-file,--rcfile:path": LOADS,
      "-o,-O:text": LOADS,
    },
    review: ["x.sh", "-c ./x", "-s", "-ic x"],
  },
];

function languageOf(name: string, { version, runs, review }: Language): Binary {
  const rows = versionRows(name, version.split(" "));
  return {
    style: "first",
    alone: rows.alone,
    review: OTHERWISE,
    reviewFlags: runs,
    examples: {
      safe: rows.safe,
      review: [name, ...rows.review, ...review.map((line) => `${name} ${line}`)],
    },
  };
}

export const interpreters: BinaryTable = Object.fromEntries(
  LANGUAGES.flatMap((language) =>
    language.names.split(" ").map((name) => [name, languageOf(name, language)] as const),
  ),
);
