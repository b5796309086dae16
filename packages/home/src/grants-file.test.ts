import { chmod, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Grant, memoryStore, toolAction } from "@acp/core";
import { storeConformance } from "@acp/testing";
import { describe, expect, it } from "vitest";
import { scratchDirectory } from "../test/support.js";
import { fileGrants } from "./grants-file.js";

const place = async (): Promise<string> => join(await scratchDirectory(), "grants.json");

const grant: Grant = {
  id: "gr_1",
  agentId: "demo",
  scope: { kind: "tool", server: "files", name: "write_file" },
  createdAtMs: 1_000,
  expiresAtMs: 2_000,
  usesLeft: 3,
  requestId: "cr_1",
  approverIds: ["ada"],
  evidence: "any",
  secrets: [],
};
const write = toolAction("files", "write_file", { path: "a" });
const GRANTS = /^(?:find|use|get)\(\)|^put\(\) may/;

describe("fileGrants()", () => {
  const cases = storeConformance(async (clock) => ({
    ...memoryStore(clock),
    grants: fileGrants(await place()),
  }));
  const own = cases.filter(({ name }) => GRANTS.test(name));
  it("has cases of the suite to pass", () => expect(own.length).toBeGreaterThanOrEqual(6));
  for (const { name, run } of own) it(name, () => run());

  it("keeps a grant and its uses over a restart", async () => {
    const path = await place();
    await fileGrants(path).put(grant);
    expect(await fileGrants(path).use("gr_1", 1_500)).toBe(true);
    expect(await fileGrants(path).list()).toEqual([{ ...grant, usesLeft: 2 }]);
  });

  it("gives two gates no more uses than there are", async () => {
    const path = await place();
    const [one, two] = [fileGrants(path), fileGrants(path)];
    await one.put(grant);
    const given = await Promise.all(
      Array.from({ length: 8 }, (_, at) => (at % 2 === 0 ? one : two).use("gr_1", 1_500)),
    );
    expect(given.filter(Boolean)).toHaveLength(3);
  });

  it("gives what another process revoked to nobody", async () => {
    const path = await place();
    const gate = fileGrants(path);
    const { usesLeft: _uses, ...endless } = grant;
    await gate.put(endless);
    expect(await gate.use("gr_1", 1_500)).toBe(true);
    expect(await fileGrants(path).revoke("gr_1")).toBe(true);
    expect(await gate.use("gr_1", 1_500)).toBe(false);
    expect(await gate.find("demo", write, 1_500)).toEqual([]);
  });

  it.each<readonly [string, string]>([
    ["text that is not JSON", "{"],
    ["another version", JSON.stringify({ version: "2", grants: [] })],
    ["a list", JSON.stringify([grant])],
  ])("gives nothing while the file has %s", async (_, text) => {
    const path = await place();
    await writeFile(path, text, { mode: 0o600 });
    await expect(fileGrants(path).find("demo", write, 1_500)).rejects.toMatchObject({
      code: "home_invalid",
    });
    await expect(fileGrants(path).put(grant)).rejects.toMatchObject({ code: "home_invalid" });
    expect(await readFile(path, "utf8")).toBe(text);
  });

  it.each<readonly [string, object]>([
    ["a grant without an agent", { ...grant, agentId: "" }],
    ["a grant whose end is no time", { ...grant, expiresAtMs: null }],
    ["a grant with fewer than no uses", { ...grant, usesLeft: -1 }],
    ["a grant without a scope", { ...grant, scope: "tool" }],
    ["secrets that are no list", { ...grant, secrets: "ALL" }],
    ["nothing at all", []],
  ])("passes over %s, says so, and gives the others", async (_, entry) => {
    const path = await place();
    await writeFile(path, JSON.stringify({ version: "1", grants: [entry, grant] }), {
      mode: 0o600,
    });
    const ignored: number[] = [];
    const grants = fileGrants(path, { onIgnored: (count) => void ignored.push(count) });
    expect(await grants.find("demo", write, 1_500)).toEqual([grant]);
    expect(ignored).toEqual([1]);
  });

  it("takes no grant that would make the file too large to be read again", async () => {
    const path = await place();
    await fileGrants(path).put(grant);
    const huge = { ...grant, id: "gr_huge", secrets: ["x".repeat(16 * 1024 * 1024)] };
    await expect(fileGrants(path).put(huge)).rejects.toMatchObject({
      code: "home_invalid",
      message: /more than/,
    });
    expect(await fileGrants(path).list()).toEqual([grant]);
  });

  it("covers nothing with a scope of an unknown kind", async () => {
    const path = await place();
    await writeFile(
      path,
      JSON.stringify({ version: "1", grants: [{ ...grant, scope: { kind: "everything" } }] }),
      { mode: 0o600 },
    );
    expect(await fileGrants(path).find("demo", write, 1_500)).toEqual([]);
  });

  it("is private, and gives nothing while others may read it or it is a link", async () => {
    const path = await place();
    await fileGrants(path).put(grant);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    await chmod(path, 0o644);
    await expect(fileGrants(path).use("gr_1", 1_500)).rejects.toMatchObject({
      code: "home_invalid",
    });
    const link = await place();
    await symlink(path, link);
    await expect(fileGrants(link).list()).rejects.toMatchObject({ code: "home_invalid" });
  });
});
