import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { foreignIn } from "./foreign.js";

const SPEC = fileURLToPath(new URL("../../../../spec/home.md", import.meta.url));

it("takes no name of spec/home.md for somebody else's, and every other one", async () => {
  const tree = /~\/\.acp\/.*?\n```/su.exec(await readFile(SPEC, "utf8"))?.[0] ?? "";
  const names = [...tree.matchAll(/^ {2}(\S+?)\/? /gmu)].map(([, name = ""]) => name);
  expect(names.length).toBeGreaterThan(15);
  const dir = await mkdtemp("/tmp/acp-foreign-");
  const shown = names.map((name) => name.replace(/^\*/u, "grants").replace("*", "0123abcd"));
  for (const name of shown) await writeFile(join(dir, name), "");
  for (const name of ["notes.txt", "policy.yml.orig", "format.old"])
    await writeFile(join(dir, name), "");
  expect(await foreignIn(dir)).toEqual(["format.old", "notes.txt", "policy.yml.orig"]);
  await rm(dir, { recursive: true });
});
