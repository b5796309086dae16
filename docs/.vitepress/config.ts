/**
 * The docs site: local search, and a navigation made from docs/index.md. docs/build.ts lays out the
 * pages that it reads.
 */
import { readFileSync } from "node:fs";
import { defineConfig } from "vitepress";
import type { DefaultTheme } from "vitepress";
import { slugOf } from "../../tools/markdown.js";
import { sectionsOf } from "../../tools/site/contents.js";
import { apiPages, apiPlace } from "../../tools/site/api-pages.js";
import { OUT, PAGES, ROOT } from "../../tools/site/places.js";

const page = (place: string): string => `/${place.replace(/(?:index)?\.md$/, "")}`;
/** Where the site will be served. */
const BASE = process.env["ACP_DOCS_BASE"] ?? "/";
const sections = sectionsOf(readFileSync(`${ROOT}/docs/index.md`, "utf8"));
const sidebar: DefaultTheme.SidebarItem[] = [
  ...sections.map(({ title, entries }) => ({
    text: title,
    collapsed: false,
    items: entries.map((entry) => ({ text: entry.title, link: page(entry.place) })),
  })),
  {
    text: "Programming interface",
    collapsed: true,
    items: apiPages(ROOT).map((each) => ({ text: each.name, link: page(apiPlace(each)) })),
  },
];

export default defineConfig({
  title: "ACP",
  description: "Agent Consent Protocol: a person's consent between an AI agent and what it does",
  lang: "en-US",
  base: BASE,
  srcDir: PAGES,
  outDir: OUT,
  cacheDir: `${ROOT}/docs/temp/cache`,
  metaChunk: true,
  markdown: {
    anchor: { slugify: slugOf },
    // Our pages write placeholders as {{secret:NAME}}: text, never something to evaluate.
    config: ({ renderer: { rules } }) => {
      for (const name of ["text", "code_inline"] as const) {
        const render = rules[name];
        rules[name] = (...given) => render?.(...given).replaceAll("{{", "&#123;&#123;") ?? "";
      }
    },
  },
  transformHead: ({ pageData: { relativePath, isNotFound } }) =>
    isNotFound === true
      ? []
      : [["link", { rel: "alternate", type: "text/markdown", href: `${BASE}${relativePath}` }]],
  themeConfig: {
    search: {
      provider: "local",
      // Words are found, not colors: code is not highlighted a second time.
      options: {
        _render: (text, env, markdown) => markdown.render(text.replaceAll(/^```\w+/gm, "```"), env),
      },
    },
    nav: sections.map(({ title, entries }) => ({
      text: title,
      link: page(entries[0]?.place ?? "index.md"),
    })),
    sidebar,
    outline: [2, 3],
  },
});
