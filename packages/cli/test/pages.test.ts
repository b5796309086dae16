/**
 * What the README, the guide pages and the packages' READMEs show can be used: policies and
 * configurations load, JSON parses, command lines are ones that acp takes. A block that does not
 * load, by mistake or before a secret is written into it, says `invalid`; one that goes on with the
 * block before it says `continued`.
 */
import { readFile, readdir } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { parseExecApprovalConfig } from "@acp/core/exec";
import { readPolicy } from "@acp/core/yaml";
import { parseConfig } from "@acp/home";
import { blocksOf } from "../../../tools/markdown.js";
import type { Block } from "../../../tools/markdown.js";
import { readCommandLine } from "../src/command-line.js";
import { COMMANDS } from "../src/commands.js";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
const ORIGINS = { home: "/home/me", cwd: "/home/me/work" };

const under = async (folder: string): Promise<readonly string[]> =>
  (await readdir(`${ROOT}${folder}`, { recursive: true })).map((name) => `${folder}/${name}`);
const isPage = (file: string): boolean =>
  /^docs\/(?!temp\/|dist\/|adr\/|node_modules\/).*\.md$/.test(file);
const readmes = (await readdir(`${ROOT}packages`)).map((name) => `packages/${name}/README.md`);
const PAGES = ["README.md", ...(await under("docs")).filter(isPage), ...readmes];

interface PageBlock extends Block {
  readonly page: string;
}

const blocks: readonly PageBlock[] = (
  await Promise.all(
    PAGES.map(async (page) =>
      blocksOf(await readFile(`${ROOT}${page}`, "utf8")).map((block) => ({ ...block, page })),
    ),
  )
).flat();
const named = (wanted: (block: PageBlock) => boolean): readonly (readonly [string, PageBlock])[] =>
  blocks.filter(wanted).map((block) => [`${block.page}:${block.line}`, block] as const);

/** Words of a line of shell, as far as our pages use it: quotes, a comment at the end, an alias. */
function wordsOf(line: string): readonly string[] {
  // A comment, where the output goes and who reads it are the shell's.
  const words =
    line
      .replace(/\s+#.*$/, "")
      .replace(/\s+(?:> \S+|\| [^"']*|&)$/, "")
      .match(/'[^']*'|"(?:\\.|[^"])*"|\S+/g) ?? [];
  return words.map((word) => word.replace(/^(['"])([\s\S]*)\1$/, "$2"));
}

/**
 * A policy, rules of one or another part of one, as a whole policy; undefined for a configuration.
 */
function policyOf(text: string): string | undefined {
  if (/^(?:rules|default|default_action):/m.test(text)) return text;
  if (/^- (?:\{ )?(?:id|name|match)\b/m.test(text)) return `version: "1"\nrules:\n${text}`;
  return text.startsWith("classify:") ? `version: "1"\ndefault: ask\n${text}` : undefined;
}

/**
 * Command lines of acp in a block: a line that goes on behind a backslash is one, and a prompt is
 * not part of it.
 */
const linesOf = ({ text }: Block): readonly string[] =>
  text
    .replaceAll(/\\\n\s*/g, "")
    .split("\n")
    .map((line) => line.trim().replace(/^\$ /, ""))
    .filter((line) =>
      /^(?:[A-Z_]+=\S+ )*(?:sudo )?acp |acp\.cjs mcp | -- acp mcp |^npx @acp\/cli /.test(line),
    );

/** The text of a block, with that of the block that it goes on with. */
function wholeOf(block: PageBlock): string {
  if (block.info !== "continued") return block.text;
  const before = blocks.findLast(
    ({ page, language, line }) => page === block.page && language === "yaml" && line < block.line,
  );
  return `${before?.text ?? ""}${block.text}`;
}

const load = (block: PageBlock): void => {
  const text = wholeOf(block);
  const policy = policyOf(text);
  if (policy !== undefined) readPolicy(policy, ORIGINS);
  else parseConfig(text, { homeDir: ORIGINS.home, cwd: ORIGINS.cwd });
};

describe("the pages", () => {
  it.each(named(({ language, info }) => language === "yaml" && info !== "invalid"))(
    "%s loads",
    (_place, block) => {
      expect(() => load(block)).not.toThrow();
    },
  );

  it.each(named(({ language, info }) => language === "yaml" && info === "invalid"))(
    "%s does not load",
    (_place, block) => {
      expect(() => load(block)).toThrow(/policy|config/);
    },
  );

  it.each(named(({ language }) => language === "json"))("%s is JSON", (_place, { text }) => {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null && "execApproval" in value)
      parseExecApprovalConfig(value.execApproval);
  });

  const commands = blocks
    .filter(({ language }) => language === "sh" || language === "console")
    .flatMap((block) => linesOf(block).map((line) => [block.page, line] as const));

  it.each(commands)("%s: %s", (_page, line) => {
    const words = wordsOf(line);
    const start = words.findIndex(
      (word, index) =>
        /(?:^acp|acp\.cjs|^@acp\/cli)$/.test(word) &&
        COMMANDS.some(({ name }) => name.split(" ")[0] === words[index + 1]),
    );
    expect(readCommandLine(words.slice(start + 1), COMMANDS).command).toBeDefined();
  });
});

describe("docs/reference/config.md", () => {
  it("has every key that the format names", async () => {
    const format = await readFile(`${ROOT}spec/home.md`, "utf8");
    const section = format.slice(
      format.indexOf("## 2. config.yml"),
      format.indexOf("## 3. Servers"),
    );
    const keys = [...section.matchAll(/^\| ((?:`[\w.]+`(?:, )?)+) \|/gm)].flatMap(([, cell = ""]) =>
      [...cell.matchAll(/`(?:\w+\.)*(\w+)`/g)].map(([, key = ""]) => key),
    );
    const page = await readFile(`${ROOT}docs/reference/config.md`, "utf8");
    expect(keys.length).toBeGreaterThan(20);
    expect(
      keys.filter((key) => !page.includes(`${key}:`) && !page.includes(`proxy.${key}`)),
    ).toEqual([]);
  });
});
