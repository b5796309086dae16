import { expect, it } from "vitest";
import { links } from "./links.js";
import { problemsOf } from "./sample.js";

it("links refuses a link to a file that does not exist", async () => {
  const text = "[a](docs/a.md#part), ![b](/b.png) and [c](docs/c.md)\n";
  expect(await problemsOf(links, { "README.md": text, "docs/a.md": "## Part\n" })).toEqual([
    'README.md: leads to "/b.png", which does not exist',
    'README.md: leads to "docs/c.md", which does not exist',
  ]);
});

it("links takes addresses, anchors, code and files beside the page", async () => {
  const text =
    "[a](https://example.com) [b](#here) [`f`](#f-1) [c](../README.md) `[d](none.md)`\n```md\n[e](none.md)\n```\n";
  expect(
    await problemsOf(links, { "README.md": "", "docs/a.md": `# Here\n## F\n## F\n${text}` }),
  ).toEqual([]);
});

it("links refuses an anchor that no heading has", async () => {
  const page = "# A part\n```sh\n# not a heading\n```\n";
  const text = "[a](#gone) [b](docs/a.md#a-part) [c](docs/a.md#not-a-heading) [d](docs)\n";
  expect(await problemsOf(links, { "README.md": text, "docs/a.md": page })).toEqual([
    'README.md: leads to "#gone", which is not a heading there',
    'README.md: leads to "docs/a.md#not-a-heading", which is not a heading there',
  ]);
});
