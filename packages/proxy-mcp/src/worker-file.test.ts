import { copyFile, mkdtemp, rename, rm, symlink, utimes } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { expect, it, onTestFinished } from "vitest";
import { createAside, endWorker } from "./aside.js";
import { rememberFile } from "./worker-file.js";

const BUILT = fileURLToPath(import.meta.resolve("@acp/proxy-mcp/schema-worker"));
const SCHEMA = { type: "object", properties: { text: { type: "string", pattern: "^a$" } } };

/** The worker as an update finds it. */
async function installed() {
  const at = await mkdtemp(join(tmpdir(), "acp-"));
  onTestFinished(() => rm(at, { recursive: true, force: true }));
  const file = join(at, "schema-worker.mjs");
  await copyFile(BUILT, file);
  // Where it looks for what it needs.
  await symlink(join(BUILT, "../../node_modules"), join(at, "node_modules"));
  return { at, file, remembered: rememberFile(pathToFileURL(file)) };
}

it.each([
  [
    "another one",
    async (at: string, file: string) => {
      await copyFile(BUILT, join(at, "new"));
      await rename(join(at, "new"), file);
    },
  ],
  ["written over", (_at: string, file: string) => utimes(file, 1, 1)],
  ["gone", (_at: string, file: string) => rm(file)],
])("rememberFile() knows that the file is %s", async (_name, replace) => {
  const { at, file, remembered } = await installed();
  expect(remembered.isReplaced()).toBe(false);
  await replace(at, file);
  expect(remembered.isReplaced()).toBe(true);
});

it("createAside() starts no worker of another version, and says why; one that runs goes on", async () => {
  const { at, file, remembered } = await installed();
  const aside = createAside(remembered);
  endWorker();
  onTestFinished(endWorker);
  expect(await aside.check(SCHEMA, { text: "b" })).toMatchObject({
    problem: '"text" must match pattern "^a$"',
  });
  await copyFile(BUILT, join(at, "new"));
  await rename(join(at, "new"), file);
  expect(await aside.check(SCHEMA, { text: "a" })).toMatchObject({ problem: undefined });
  endWorker();
  const reason = expect.stringContaining("acp resident restart");
  expect(await aside.check(SCHEMA, { text: "b" })).toEqual({ reason });
});
