import { mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { tellsChanges } from "./told-changes.js";

it("tellsChanges() trusts no link, no missing file and no file system that others write", async () => {
  const at = await mkdtemp(join(tmpdir(), "acp-"));
  onTestFinished(() => rm(at, { recursive: true, force: true }));
  const [file, link, folder] = ["a.yml", "b.yml", "c"].map((name) => join(at, name));
  await writeFile(file ?? "", "");
  await symlink(file ?? "", link ?? "");
  await symlink(at, folder ?? "");
  expect(await tellsChanges(link ?? "")).toBe(false);
  expect(await tellsChanges(join(at, "none.yml"))).toBe(false);
  if (process.platform !== "linux") return;
  expect(await tellsChanges("/proc/self/status")).toBe(false);
  // A directory by another name is that directory.
  expect(await tellsChanges(join(folder ?? "", "a.yml"))).toBe(await tellsChanges(file ?? ""));
});
