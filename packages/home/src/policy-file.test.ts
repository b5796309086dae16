import { execFileSync } from "node:child_process";
import { chmod, chown, mkdir, rename, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { scratchDirectory } from "../test/support.js";
import { readPolicyFile } from "./policy-file.js";

const TEXT = 'version: "1"\ndefault: deny\n';

async function written(text: string | Uint8Array = TEXT, mode = 0o600): Promise<string> {
  const path = join(await scratchDirectory(), "policy.yml");
  await writeFile(path, text);
  await chmod(path, mode);
  return path;
}

describe("readPolicyFile()", () => {
  it("reads a policy, also one that others may read or that a link points to", async () => {
    expect((await readPolicyFile(await written(TEXT, 0o644))).defaultEffect).toBe("deny");
    const path = await written();
    await rename(path, `${path}.real`);
    await symlink(`${path}.real`, path);
    expect((await readPolicyFile(path)).defaultEffect).toBe("deny");
  });

  it.each([0o620, 0o602])("refuses mode %o, with the fix", async (mode) => {
    await expect(readPolicyFile(await written(TEXT, mode))).rejects.toMatchObject({
      code: "home_invalid",
      message: expect.stringContaining("chmod go-w"),
    });
  });

  it("names line and column of a mistake", async () => {
    await expect(readPolicyFile(await written("default: maybe\n"))).rejects.toMatchObject({
      code: "policy_invalid",
      position: { line: 1, column: 10 },
    });
  });

  it("refuses what is missing, no file, no text, too large", async () => {
    const directory = await scratchDirectory();
    const at = (name: string): string => join(directory, name);
    await mkdir(at("directory"));
    execFileSync("mkfifo", [at("pipe")]);
    const want = (text: string) => ({
      code: "home_invalid",
      message: expect.stringContaining(text),
    });
    await expect(readPolicyFile(at("none"))).rejects.toMatchObject(want("it does not exist"));
    await expect(readPolicyFile(at("directory"))).rejects.toMatchObject(want("not a file"));
    await expect(readPolicyFile(at("pipe"))).rejects.toMatchObject(want("not a file"));
    await expect(readPolicyFile(await written(new Uint8Array([0xff])))).rejects.toMatchObject(
      want("not UTF-8"),
    );
    await expect(
      readPolicyFile(await written(" ".repeat(4 * 1024 * 1024 + 1))),
    ).rejects.toMatchObject(want("more than the maximum of 4194304"));
  });

  it("refuses another user's file", async ({ skip }) => {
    if (process.getuid?.() !== 0) skip("only root can give a file away");
    const path = await written();
    await chown(path, 65534, 65534);
    await expect(readPolicyFile(path)).rejects.toMatchObject({
      code: "home_invalid",
      message: expect.stringContaining("belongs to user 65534"),
    });
  });
});
