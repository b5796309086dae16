/**
 * Builds the docs site into docs/dist, offline: `npm run docs`. Lays out the pages, writes the
 * reference of the programming interface, runs VitePress, puts each page beside its HTML as
 * Markdown, writes llms.txt, and fails on a link that leads nowhere.
 */
import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { build } from "vitepress";
import { apiPages, apiPlace } from "../tools/site/api-pages.js";
import { llmsText, sectionsOf, unlisted } from "../tools/site/contents.js";
import { decisionsTable } from "../tools/site/decisions.js";
import { deadLinks } from "../tools/site/dead-links.js";
import { pagesOf, placeOf, sitePage } from "../tools/site/pages.js";
import { OUT, PAGES, ROOT } from "../tools/site/places.js";
import { gitFiles } from "../tools/workspace.mjs";
import { writeApi } from "./api.js";

const read = (file: string): string => readFileSync(join(ROOT, file), "utf8");

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

/** Lays out every page of the repository as the site has it; returns their places. */
function layOut(): readonly string[] {
  const files = gitFiles(ROOT);
  const pages = pagesOf(files);
  const decisions = decisionsTable(pages.map((file) => ({ file, text: read(file) })));
  for (const file of pages)
    write(
      join(PAGES, placeOf(file) ?? ""),
      sitePage(file, read(file)).replace("<!-- decisions -->", () => decisions),
    );
  for (const file of files.filter((each) => each.startsWith("docs/images/")))
    cpSync(join(ROOT, file), join(PAGES, "public", placeOf(file) ?? ""), { recursive: true });
  return pages.map((file) => placeOf(file) ?? "");
}

/** Each page beside its HTML, and one text with all that the overview lists. */
function writeMarkdown(): void {
  const places = readdirSync(PAGES, { recursive: true, encoding: "utf8" }).filter((place) =>
    place.endsWith(".md"),
  );
  for (const place of places) cpSync(join(PAGES, place), join(OUT, place));
  const index = read("docs/index.md");
  const sections = sectionsOf(index);
  const whole = sections
    .flatMap(({ entries }) => entries)
    .map(({ place }) => readFileSync(join(PAGES, place), "utf8").trim());
  const entries = apiPages(ROOT).map((page) => ({
    title: page.name,
    place: apiPlace(page),
    summary: "what it exports",
  }));
  write(
    join(OUT, "llms.txt"),
    llmsText(index, [...sections, { title: "Programming interface", entries }]),
  );
  write(join(OUT, "llms-full.txt"), `${whole.join("\n\n---\n\n")}\n`);
}

function fail(problems: readonly string[]): void {
  for (const problem of problems) console.error(`✗ ${problem}`);
  if (problems.length > 0) process.exit(1);
}

for (const folder of [PAGES, OUT]) rmSync(folder, { recursive: true, force: true });
const places = layOut();
const sections = sectionsOf(read("docs/index.md"));
fail(unlisted(sections, places).map((place) => `${place}: docs/index.md does not list it`));
fail(
  sections
    .flatMap(({ entries }) => entries)
    .filter(({ place }) => !existsSync(join(PAGES, place)))
    .map(({ place }) => `docs/index.md lists ${place}, which is not there`),
);
await writeApi();
await build(join(ROOT, "docs"));
writeMarkdown();
fail(deadLinks(OUT));
console.log(`✓ ${places.length} pages in docs/dist`);
