import { readFileSync, readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { basename, join } from "node:path";
import { expect, it } from "vitest";

const SOURCES = fileURLToPath(new URL("../", import.meta.url));
/** What only a command's own process loads. */
const OF_COMMANDS = ["run-under-gate.js", "check.js", "at-terminal.js"];

/** What the text loads late, apart from the commands of a table. */
const lateIn = (text: string): readonly string[] =>
  text
    .split("\n")
    .filter((line) => !/^\s*load: /.test(line))
    .flatMap((line) => [...line.matchAll(/\bimport\("([^"]+)"\)/g)].map(([, name = ""]) => name))
    .map((name) => (name.startsWith(".") ? basename(name) : name));

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
