/**
 * What our texts tell people to run exists: every `acp …` that the page, the command line, error
 * messages and the docs name is a command of the table.
 */
import { readFile, readdir } from "node:fs/promises";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { COMMANDS } from "../src/commands.js";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const NAMES: ReadonlySet<string> = new Set(COMMANDS.map(({ name }) => name));
const GROUPS: ReadonlySet<string> = new Set(COMMANDS.map(({ name }) => name.split(" ")[0] ?? ""));
/** `acp`, and the two words after it, where at least the first looks like a command. */
const NAMED = /(?<![\w./@:-])acp ([a-z][a-z-]*)(?: ([a-z][a-z-]*))?/g;
/** Decisions of the past name what was there then. */
const SKIPPED = /(^|\/)(node_modules|dist|temp|\.temp|adr|fixtures)(\/|$)|\.test\.ts$|CHANGELOG/;
const TEXTS = /\.(md|ts|js|html|mjs|yml)$/;

async function filesIn(folder: string): Promise<readonly string[]> {
  const entries = await readdir(join(ROOT, folder), { recursive: true, withFileTypes: true });
  const paths = entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)));
  return paths.filter((path) => TEXTS.test(path) && !SKIPPED.test(path));
}

const packages = await readdir(join(ROOT, "packages"));
const folders = [
  "docs",
  "spec",
  ...packages.flatMap((name) => [`packages/${name}/src`, `packages/${name}/page`]),
];
const found = await Promise.all(folders.map((folder) => filesIn(folder).catch(() => [])));
const PATHS = ["README.md", "SECURITY.md", ...found.flat()];

/** Words that follow `acp` where a sentence goes on. */
const PROSE: ReadonlySet<string> = new Set(["as", "runs", "writes"]);
/** A command that stands by itself: in back quotes, or as code on the page. */
const SPAN = /`acp ([^`\n]+)`|"code", \{\}, "acp ([^"]+)"/g;

const exists = (first: string, second: string | undefined): boolean =>
  PROSE.has(first) ||
  NAMES.has(first) ||
  NAMES.has(`${first} ${second ?? ""}`) ||
  (second === undefined && GROUPS.has(first));

/** Whether a whole command takes the operands that it is shown with. */
function takes(words: readonly string[]): boolean {
  const [first = "", second = ""] = words;
  const command =
    COMMANDS.find(({ name }) => name === `${first} ${second}`) ??
    COMMANDS.find(({ name }) => name === first);
  // A group alone, and what is no word: the other check has it.
  if (command === undefined) return true;
  const operands = words
    .slice(command.name.split(" ").length)
    .filter((word) => /^[a-z]/.test(word));
  const hasOptions = words.some((word) => word.startsWith("-"));
  return command.takesRest || hasOptions || operands.length <= command.operandsMax;
}

/** What a text names that there is not. */
function unknownIn(text: string): readonly string[] {
  const spans = [...text.matchAll(SPAN)].map(([, quoted, code]) => quoted ?? code ?? "");
  return [
    ...[...text.matchAll(NAMED)]
      .filter(([, first = "", second]) => !exists(first, second))
      .map(([named]) => named),
    ...spans.filter((span) => !takes(span.split(/\s+/))).map((span) => `acp ${span}`),
  ];
}

describe("the commands that texts name", () => {
  it("are looked for where they stand", () => {
    expect(PATHS).toEqual(
      expect.arrayContaining([
        "docs/reference/cli.md",
        "packages/channel-web/page/sign-in-view.js",
        "packages/cli/src/home/unlock.ts",
      ]),
    );
    expect(unknownIn('el("code", {}, "acp inbox code")')).toEqual(["acp inbox code"]);
    expect(unknownIn("run `acp unseal`, then `acp approve`, `acp keys lend`")).toEqual([
      "acp unseal",
      "acp keys lend",
    ]);
  });

  it.each(PATHS)("%s", async (path) => {
    expect(unknownIn(await readFile(join(ROOT, path), "utf8"))).toEqual([]);
  });
});
