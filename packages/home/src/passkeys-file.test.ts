import { chmod, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { scratchDirectory } from "../test/support.js";
import { filePasskeys, parsePasskeys, type PasskeyRecord, printPasskeys } from "./passkeys-file.js";

const place = async (): Promise<string> => join(await scratchDirectory(), "passkeys.json");
const phone: PasskeyRecord = {
  id: "AQID",
  approver: "ada",
  publicKey: "pQECAyYgAQ",
  rpId: "localhost",
  origins: ["http://localhost:8789"],
  label: "phone",
  createdAtMs: 1_000,
};

describe("filePasskeys()", () => {
  it("keeps passkeys over a restart, in a file of its owner's alone", async () => {
    const path = await place();
    expect(await filePasskeys(path).list()).toEqual([]);
    expect(await filePasskeys(path).add(phone)).toBe(true);
    expect(await filePasskeys(path).list()).toEqual([phone]);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect(parsePasskeys(await readFile(path, "utf8"))).toEqual([phone]);
  });

  it("takes no id twice, whoever's it is, at once as well", async () => {
    const path = await place();
    const added = await Promise.all([1, 2, 3].map(() => filePasskeys(path).add(phone)));
    expect(added.filter(Boolean)).toHaveLength(1);
    expect(await filePasskeys(path).add({ ...phone, approver: "bob" })).toBe(false);
  });

  it("revokes a person's own passkey, once, and keeps it", async () => {
    const path = await place();
    const keys = filePasskeys(path);
    await keys.add(phone);
    expect(await keys.revoke("AQID", "bob", 2_000)).toBe(false);
    expect(await keys.revoke("BBBB", "ada", 2_000)).toBe(false);
    expect(await keys.revoke("AQID", "ada", 2_000)).toBe(true);
    expect(await keys.revoke("AQID", "ada", 3_000)).toBe(false);
    expect(await keys.list()).toEqual([{ ...phone, revokedAtMs: 2_000 }]);
  });

  const broken: readonly (readonly [string, string])[] = [
    ["no JSON", "{"],
    ["another version", `{"version":"2","passkeys":[]}`],
    ["an unknown field", printPasskeys([{ ...phone, validFor: "nothing" } as PasskeyRecord])],
    ["a missing field", printPasskeys([phone]).replace(`"rpId": "localhost",`, "")],
    [
      "a revocation that is a text",
      printPasskeys([phone]).replace(
        `"createdAtMs": 1000`,
        `"createdAtMs": 1000, "revokedAtMs": "never"`,
      ),
    ],
    ["an id twice", printPasskeys([phone, { ...phone, approver: "bob" }])],
    ["a key that is no base64url", printPasskeys([{ ...phone, publicKey: "a b" }])],
    ["a field twice", `{"version":"1","passkeys":[],"passkeys":[]}`],
  ];
  it.each(broken)("gives nothing out of a file with %s", async (_, text) => {
    const path = await place();
    await writeFile(path, text, { mode: 0o600 });
    await expect(filePasskeys(path).list()).rejects.toMatchObject({ code: "home_invalid" });
    await expect(filePasskeys(path).add({ ...phone, id: "CCCC" })).rejects.toMatchObject({
      code: "home_invalid",
    });
    expect(await readFile(path, "utf8")).toBe(text);
    expect(() => parsePasskeys(text)).toThrow(expect.objectContaining({ code: "home_invalid" }));
  });

  it("gives nothing out of a file that others may change", async () => {
    const path = await place();
    await writeFile(path, printPasskeys([phone]), { mode: 0o666 });
    await chmod(path, 0o666);
    await expect(filePasskeys(path).list()).rejects.toMatchObject({ code: "home_invalid" });
  });
});
