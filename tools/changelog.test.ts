import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { addSection, makeSection, readChangesets } from "./changelog.mjs";
import { sample } from "./checks/sample.js";

const changes = [
  {
    names: ["@acp/core", "@acp/cli"],
    isBreaking: true,
    text: "A key is gone.\nBefore, it did nothing.\n\n- Take it out.",
  },
  { names: ["@acp/core", "@acp/audit"], isBreaking: false, text: "A hole is closed." },
  { names: ["@acp/audit"], isBreaking: true, text: "Logs are shorter." },
];

it("makeSection() says each change once, breaking ones first, under the command or the first package", () => {
  expect(makeSection("0.2.0", changes, false)).toBe(
    [
      "## 0.2.0\n",
      "### May need a change of yours\n",
      "#### @acp/cli\n",
      "- A key is gone.\n  Before, it did nothing.\n\n  - Take it out. (Also `@acp/core`.)\n",
      "#### @acp/audit\n",
      "- Logs are shorter.\n",
      "### Other changes\n",
      "#### @acp/core\n",
      "- A hole is closed. (Also `@acp/audit`.)\n",
    ].join("\n"),
  );
});

it("makeSection() calls nothing breaking in the first release", () => {
  const section = makeSection("0.1.0", changes, true);
  expect(section.match(/^### .*$/gm)).toEqual(["### What there is"]);
  expect(section).toContain("The first release.");
});

it("addSection() keeps what earlier releases said, below", () => {
  const root = sample({});
  addSection(root, "## 0.1.0\n\n- One.\n");
  addSection(root, "## 0.2.0\n\n- Two.\n");
  const text = readFileSync(join(root, "CHANGELOG.md"), "utf8");
  expect(text.match(/^#+ .*|^- .*/gm)).toEqual([
    "# Changelog",
    "## 0.2.0",
    "- Two.",
    "## 0.1.0",
    "- One.",
  ]);
  expect(text).not.toMatch(/\n{3}/);
});

it("readChangesets() reads which packages and how much", () => {
  const root = sample({
    ".changeset/README.md": "No changeset.\n",
    ".changeset/b.md": '---\n"@acp/core": patch\n---\n\nA "b": minor thing.\n',
    ".changeset/a.md": '---\n"@acp/core": minor\n"@acp/cli": patch\n---\n\nNew.\n',
  });
  expect(readChangesets(root)).toEqual([
    { names: ["@acp/core", "@acp/cli"], isBreaking: true, text: "New." },
    { names: ["@acp/core"], isBreaking: false, text: 'A "b": minor thing.' },
  ]);
});
