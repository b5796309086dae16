import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { scratchDirectory } from "../test/support.js";
import { fileGrants } from "./grants-file.js";
import { readState } from "./state-file.js";

const GRANT = {
  id: "gr_1",
  agentId: "demo",
  scope: { kind: "tool", server: "files", name: "write_file" },
  createdAtMs: 1_000,
  expiresAtMs: 2_000,
  requestId: "cr_1",
  approverIds: ["ada"],
  evidence: "any",
  secrets: [],
} as const;

async function saved(): Promise<{ readonly path: string; readonly text: string }> {
  const path = join(await scratchDirectory(), "grants.json");
  await mkdir(join(dirname(path), "keys"), { mode: 0o700 });
  await writeFile(join(dirname(path), "keys", "checkpoint.key"), "a key\n", { mode: 0o600 });
  await fileGrants(path).put(GRANT);
  return { path, text: await readFile(path, "utf8") };
}

it("readState() takes a seal for the file's name, its content and the home's key alone", async () => {
  const { path, text } = await saved();
  expect(await readState(path, text)).toMatchObject({ counter: 1, isSealed: true });
  const passkeys = join(dirname(path), "passkeys.json");
  const changed = text.replace('"demo"', '"demo2"');
  const unsealed = JSON.stringify({ ...JSON.parse(text), seal: undefined });
  for (const [at, of] of [
    [passkeys, text],
    [path, changed],
    [path, unsealed],
    [path, text.replace('"counter": 1', '"counter": 2')],
  ] as const)
    expect(await readState(at, of)).toMatchObject({ isSealed: false });
  await writeFile(join(dirname(path), "keys", "checkpoint.key"), "another\n", { mode: 0o600 });
  expect(await readState(path, text)).toMatchObject({ isSealed: false });
});

it.each(["", "[]", "{}", '{"version":"2"}', '{"version":"1","counter":-1}'])(
  "readState() finds no state in %j",
  async (text) => {
    expect(await readState("/nowhere/grants.json", text)).toBeUndefined();
  },
);
