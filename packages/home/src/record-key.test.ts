import { hkdfSync } from "node:crypto";
import { chmod, readFile, stat, writeFile } from "node:fs/promises";
import { generateKeyPair } from "@acp/core/proof";
import { describe, expect, it } from "vitest";
import { scratchDirectory } from "../test/support.js";
import { homePaths } from "./paths.js";
import { openRecordKey } from "./record-key.js";

const home = async () => homePaths(await scratchDirectory());

describe("openRecordKey()", () => {
  it("is HKDF of the signing key, another for another key, and writes nothing", async () => {
    const paths = await home();
    const keys = generateKeyPair();
    const key = await openRecordKey(paths, keys);
    expect(key).toEqual(
      new Uint8Array(
        hkdfSync("sha256", keys.exportSeed(), new Uint8Array(0), "acp/record-key/v1", 32),
      ),
    );
    expect(await openRecordKey(paths, generateKeyPair())).not.toEqual(key);
    await expect(stat(paths.recordKeyPath)).rejects.toMatchObject({ code: "ENOENT" });
  });

  it("is random in a private file without keys, the same for gates that start at the same time", async () => {
    const paths = await home();
    const opened = await Promise.all(
      Array.from({ length: 5 }, () => openRecordKey(paths, undefined)),
    );
    for (const key of opened) expect(key).toEqual(opened[0]);
    expect(opened[0]).toHaveLength(32);
    expect((await stat(paths.recordKeyPath)).mode & 0o777).toBe(0o600);
    expect(await readFile(paths.recordKeyPath, "utf8")).toBe(
      `${Buffer.from(opened[0] ?? []).toString("hex")}\n`,
    );
    expect(await openRecordKey(await home(), undefined)).not.toEqual(opened[0]);
  });

  it("is none where others may read its file, or where the file is no key", async () => {
    const paths = await home();
    await openRecordKey(paths, undefined);
    await chmod(paths.recordKeyPath, 0o644);
    await expect(openRecordKey(paths, undefined)).rejects.toMatchObject({ code: "home_invalid" });
    await chmod(paths.recordKeyPath, 0o600);
    await writeFile(paths.recordKeyPath, "00\n");
    await expect(openRecordKey(paths, undefined)).rejects.toMatchObject({
      code: "home_invalid",
      message: /it is no key/,
    });
  });
});
