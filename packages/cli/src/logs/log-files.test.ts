import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { auditFileNames, listAuditFiles } from "./log-files.js";

it("auditFileNames() begins with the format's own name", () => {
  expect(auditFileNames().slice(0, 3)).toEqual(["audit.jsonl", "audit.2.jsonl", "audit.3.jsonl"]);
});

it("listAuditFiles() finds a home's logs in the order of their numbers, and nothing else", async () => {
  const home = await mkdtemp(join(tmpdir(), "acp-"));
  try {
    for (const name of [
      "audit.10.jsonl",
      "audit.2.jsonl",
      "audit.jsonl",
      "audit.x.jsonl",
      "audit.jsonl.bak",
      "policy.yml",
    ])
      await writeFile(join(home, name), "");
    expect(await listAuditFiles(home)).toEqual(
      ["audit.jsonl", "audit.2.jsonl", "audit.10.jsonl"].map((name) => join(home, name)),
    );
    for (const [path, why] of [
      [join(home, "none"), "it does not exist; run acp init"],
      [join(home, "policy.yml"), "it is not a folder; run acp doctor"],
    ] as const)
      await expect(listAuditFiles(path)).rejects.toMatchObject({
        code: "home_invalid",
        message: expect.stringContaining(why),
      });
  } finally {
    await rm(home, { recursive: true, force: true });
  }
});
