/**
 * TypeScript in pages, READMEs and docstrings (`@example`) compiles against the packages as they
 * are. What a page has explained in words before (a gate, a channel, a call) is declared in
 * snippets-names.d.ts; everything else a snippet has to import or make. `ts foreign` is code of
 * other libraries.
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { blocksOf } from "../markdown.js";
import { capture, gitFiles, root as home } from "../workspace.mjs";
import type { Check } from "./check.js";

const PAGE = /^(?:README\.md|docs\/.*\.md|packages\/[^/]+\/README\.md|spec\/[^/]+\.md)$/;
const SOURCE = /^packages\/[^/]+\/src\/(?!.*\.test\.ts$).*\.ts$/;
const DOCSTRING = /^[^\S\n]*\/\*\*$[\s\S]*?\*\/$/gm;
const IMPORT = /^import [^;]*;$/gm;
const NAMES = "tools/checks/snippets-names.d.ts";

interface Snippet {
  readonly page: string;
  readonly line: number;
  readonly file: string;
  readonly text: string;
}

/** The names that a line imports. */
const namesIn = (line: string): readonly string[] =>
  (/\{([^}]*)\}/.exec(line)?.[1] ?? "").split(",").map((name) => name.trim());

/** Imports of earlier snippets of the page that a snippet does not repeat. */
function inherited(earlier: readonly string[], own: readonly string[]): readonly string[] {
  const known = new Set(own.flatMap(namesIn));
  return [...new Set(earlier)].map((line) => {
    const names = namesIn(line).filter((name) => name !== "" && !known.has(name));
    for (const name of names) known.add(name);
    return line.replace(/\{[^}]*\}/, `{ ${names.join(", ")} }`);
  });
}

/**
 * A module with all imports in its first line and the rest in a function, so that a snippet may
 * `return`; its line N is line N + 1.
 */
function moduleOf(text: string, earlier: readonly string[]): string {
  const imports = [...text.matchAll(IMPORT)].map(([line]) => line.replaceAll("\n", " "));
  const rest = text
    .replaceAll(IMPORT, (line) => line.replaceAll(/[^\n]/g, ""))
    .replaceAll(/^export default /gm, "void ")
    .replaceAll(/^export /gm, "");
  return `${[...inherited(earlier, imports), ...imports].join(" ")} export async function snippet() {\n${rest}}\n`;
}

/** The docstrings of a source file, each line in its place; everything else is blank. */
function docstringsOf(text: string): string {
  const blank = (code: string): string => code.replaceAll(/[^\n]/g, "");
  let end = 0;
  const kept = [...text.matchAll(DOCSTRING)].map(({ 0: comment, index }) => {
    const before = blank(text.slice(end, index));
    end = index + comment.length;
    return before + comment.replaceAll(/^[^\S\n]*(?:\/\*\*|\*\/|\* ?)/gm, "");
  });
  return kept.join("");
}

function snippetsOf(root: string): readonly Snippet[] {
  const pages = gitFiles(root).filter((file) => PAGE.test(file) || SOURCE.test(file));
  return pages.flatMap((page) => {
    const earlier: string[] = [];
    const whole = readFileSync(join(root, page), "utf8");
    return blocksOf(SOURCE.test(page) ? docstringsOf(whole) : whole)
      .filter(({ language, info }) => language === "ts" && info !== "foreign")
      .map(({ line, text }) => {
        const snippet = {
          page,
          line,
          file: `${page.replaceAll("/", "_")}_${line}.ts`,
          text: moduleOf(text, earlier),
        };
        earlier.push(...[...text.matchAll(IMPORT)].map(([found]) => found.replaceAll("\n", " ")));
        return snippet;
      });
  });
}

function configOf(root: string): object {
  const relaxed = {
    noUnusedLocals: false,
    noUnusedParameters: false,
    noImplicitReturns: false,
    allowJs: false,
    incremental: false,
  };
  return {
    extends: join(root, "tsconfig.json"),
    // The declarations that were built: what a program sees.
    compilerOptions: {
      ...relaxed,
      typeRoots: [join(home, "node_modules/@types")],
      paths: {
        "@acp/core/*": [join(root, "packages/core/dist/*.d.ts")],
        "@acp/proxy-mcp/*": [join(root, "packages/proxy-mcp/dist/*.d.ts")],
        "@acp/exec-safety/*": [join(root, "packages/exec-safety/dist/*.d.ts")],
        "@acp/*": [join(root, "packages/*/dist/index.d.ts")],
      },
    },
    include: ["*.ts", join(root, NAMES)],
    exclude: [],
  };
}

/** A message of the compiler, at the line of the page. */
function problemOf(message: string, snippets: readonly Snippet[]): string {
  const [, file, line, text] =
    /^(?:.*\/)?([^/(]+\.ts)\((\d+),\d+\): ([\s\S]*)$/.exec(message) ?? [];
  const snippet = snippets.find((each) => each.file === file);
  return snippet === undefined
    ? message
    : `${snippet.page}:${snippet.line + Number(line) - 1}: ${text}`;
}

export const snippets: Check = {
  name: "snippets",
  remedy: `Mend the snippet, or declare in ${NAMES} what its page has introduced in words`,
  async run({ root }) {
    const found = snippetsOf(root);
    const folder = join(root, "temp/snippets");
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
    for (const { file, text } of found) writeFileSync(join(folder, file), text);
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(configOf(root)));
    const tsc = join(home, "node_modules/typescript7/bin/tsc");
    const { status, output } = await capture(
      process.execPath,
      [tsc, "-p", folder, "--noEmit", "--pretty", "false"],
      { cwd: root },
    );
    return {
      problems:
        status === 0
          ? []
          : output
              .trim()
              .split(/\n(?!\s)/)
              .map((message) => problemOf(message, found)),
    };
  },
};
