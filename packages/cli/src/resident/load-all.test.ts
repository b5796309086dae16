import { readFileSync, readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { basename, join } from "node:path";
import { expect, it } from "vitest";

const SOURCES = fileURLToPath(new URL("../", import.meta.url));
/** What only a command's own process loads. */
const OF_COMMANDS = ["run-under-gate.js", "run-under-resident.js", "check.js", "at-terminal.js"];

/** What the text loads late, apart from the commands of a table. */
const lateIn = (text: string): readonly string[] =>
  [
    ...text
      .replaceAll(/\bload:\s[^;{},]*?\bimport\("[^"]+"\)/g, "")
      .matchAll(/\bimport\("([^"]+)"\)/g),
  ]
    .map(([, name = ""]) => name)
    .map((name) => (name.startsWith(".") ? basename(name) : name));

it("lateIn() leaves out the commands of a table, on however many lines", () => {
  const table = `load: async () => (await import("./a.js")).a,
    load: async () =>
      (await import("./commands/b.js")).b,
    other: () => import("./c.js"),
    load: () => kept, more: () => import("./d.js")`;
  expect(lateIn(table)).toEqual(["c.js", "d.js"]);
});

it("loadAll() names everything that the command line loads late", () => {
  const sources = readdirSync(SOURCES, { recursive: true, encoding: "utf8" }).filter(
    (name) => name.endsWith(".ts") && !name.endsWith(".test.ts") && !name.endsWith("load-all.ts"),
  );
  const late = sources.flatMap((name) => lateIn(readFileSync(join(SOURCES, name), "utf8")));
  const named = lateIn(readFileSync(join(SOURCES, "resident/load-all.ts"), "utf8"));
  expect(late).toContain("telegram.js");
  expect([...named].toSorted()).toEqual(
    [...new Set(late)].filter((name) => !OF_COMMANDS.includes(name)).toSorted(),
  );
});
