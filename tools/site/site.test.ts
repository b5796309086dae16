/**
 * The docs site before it is built: which pages it has, where their links lead, and what its lists
 * name.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { blocksOf, linksOf, slugOf } from "../markdown.js";
import { gitFiles, root } from "../workspace.mjs";
import { apiIndex, apiPages } from "./api-pages.js";
import { llmsText, sectionsOf, unlisted } from "./contents.js";
import { deadLinks } from "./dead-links.js";
import { decisionsTable } from "./decisions.js";
import { pagesOf, placeOf, sitePage } from "./pages.js";

const read = (file: string): string => readFileSync(join(root, file), "utf8");
const files = gitFiles(root);

describe("placeOf()", () => {
  it.each([
    ["docs/how-to/sandbox.md", "how-to/sandbox.md"],
    ["docs/images/inbox.png", "images/inbox.png"],
    ["spec/action.md", "spec/action.md"],
    ["SECURITY.md", "explanation/threat-model.md"],
    ["README.md", "index.md"],
    ["packages/core/README.md", "reference/packages/core.md"],
    ["packages/core", "reference/packages/core.md"],
    ["docs/adr", "explanation/decisions.md"],
    ["docs/adr/0000-template.md", undefined],
    ["docs/build.ts", undefined],
    ["packages/core/src/index.ts", undefined],
    ["packages/core/CHANGELOG.md", undefined],
    ["examples/embed", undefined],
  ])("puts %s at %s", (file, place) => {
    expect(placeOf(file)).toBe(place);
  });
});

describe("sitePage()", () => {
  it("leads to where a page stands in the site, and names what the site does not have", () => {
    const text = [
      "[a](../../spec/action.md#1-example) [b](embedding.md) [c](../../SECURITY.md) [d](https://example.com) [e](#here)",
      "![f](../images/f.png) [examples/embed](../../examples/embed) [its `test`](../../packages/x/test/a.test.ts)",
      "`[g](none.md)`\n```ts run\n[h](none.md)\n```",
    ].join("\n");
    expect(sitePage("docs/how-to/secrets.md", text)).toBe(
      [
        "[a](../spec/action.md#1-example) [b](embedding.md) [c](../explanation/threat-model.md) [d](https://example.com) [e](#here)",
        "![f](/images/f.png) examples/embed its `test` (`packages/x/test/a.test.ts`)",
        "`[g](none.md)`\n```ts\n[h](none.md)\n```",
      ].join("\n"),
    );
  });
});

describe("the overview", () => {
  const sections = sectionsOf(read("docs/index.md"));

  it("has the four kinds, and lists every page", () => {
    expect(sections.map(({ title }) => title)).toEqual([
      "Tutorials",
      "How-to guides",
      "Reference",
      "Explanation",
    ]);
    const places = pagesOf(files).map((file) => placeOf(file) ?? "");
    expect(unlisted(sections, places)).toEqual([]);
    expect(unlisted(sections, [...places, "how-to/new.md"])).toEqual(["how-to/new.md"]);
    expect(
      sections
        .flatMap(({ entries }) => entries.map(({ place }) => place))
        .filter((place) => !places.includes(place)),
    ).toEqual([]);
  });

  it("makes llms.txt", () => {
    const text = llmsText(read("docs/index.md"), sections);
    expect(text).toMatch(
      /^# ACP \(Agent Consent Protocol\)\n\n> ACP \(Agent Consent Protocol\) puts /,
    );
    expect(text).toContain(
      "## Reference\n\n- [Command line](reference/cli.md): every command, option and exit code.\n",
    );
  });

  it("leads to every format", () => {
    const linked = linksOf(read("docs/reference/formats.md")).map(({ path }) =>
      path.replace("../../", ""),
    );
    expect(
      files.filter((file) => /^spec\/[^/]+\.md$/.test(file) && !linked.includes(file)),
    ).toEqual([]);
  });

  it("leads to every decision", () => {
    const table = decisionsTable(pagesOf(files).map((file) => ({ file, text: read(file) })));
    expect(table.split("\n").slice(0, 3)).toEqual([
      "| number | decision |",
      "|---|---|",
      expect.stringMatching(/^\| 0001 \| \[[^\]]+\]\(\.\.\/adr\/0001-pnpm-by-hash\.md\) \|$/),
    ]);
    expect(read("docs/explanation/decisions.md")).toContain("<!-- decisions -->");
  });
});

describe("apiPages()", () => {
  it("has one page for each entry with types", () => {
    const pages = apiPages(root);
    expect(pages).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ name: "@acp/core/policy", slug: "core-policy" }),
      ]),
    );
    expect(new Set(pages.map(({ slug }) => slug)).size).toBe(pages.length);
    expect(apiIndex(pages)).toContain(
      "- [@acp/core](core.md): [about the package](../packages/core.md)\n",
    );
    expect(apiIndex(pages)).toContain("- [@acp/core/policy](core-policy.md)\n");
  });
});

describe("deadLinks()", () => {
  it("finds pages, files and anchors that are not there", () => {
    const out = mkdtempSync(join(tmpdir(), "acp-site-"));
    onTestFinished(() => rmSync(out, { recursive: true, force: true }));
    const page = (links: readonly string[]): string =>
      links.map((link) => `<a href="${link}">x</a>`).join("");
    const pages = {
      "index.html": page([
        "/a/b.html#c",
        "a/b",
        "a/",
        "https://example.com/",
        "/style.css",
        "#top",
        "a/b.html#d&amp;e",
      ]),
      "a/index.html": page(["../gone.html", "b.html#x"]),
      "a/b.html": '<h2 id="c">C</h2><h2 id="d&amp;e">D</h2><img src="/gone.png">',
      "style.css": "",
    };
    for (const [name, text] of Object.entries(pages)) {
      mkdirSync(dirname(join(out, name)), { recursive: true });
      writeFileSync(join(out, name), text);
    }
    expect([...deadLinks(out)].sort()).toEqual([
      "a/b.html: leads to /gone.png",
      "a/index.html: leads to ../gone.html",
      "a/index.html: leads to b.html#x",
      "index.html: leads to #top",
    ]);
  });
});

describe("Markdown", () => {
  it("slugOf() makes the anchors of GitHub", () => {
    expect(
      ["2. config.yml", "What `acp` does, and why", "A [link](x.md) in it", "Ä – b_c"].map(slugOf),
    ).toEqual(["2-configyml", "what-acp-does-and-why", "a-link-in-it", "ä--b_c"]);
  });

  it("blocksOf() finds fenced blocks with a language, where they begin and what else they say", () => {
    const text = "a\n\n```ts run\nx\n```\n```\nno language\n```\n~~~yaml\n```\n~~~\n";
    expect(blocksOf(text)).toEqual([
      { line: 3, language: "ts", info: "run", text: "x\n" },
      { line: 9, language: "yaml", info: "", text: "```\n" },
    ]);
  });
});
