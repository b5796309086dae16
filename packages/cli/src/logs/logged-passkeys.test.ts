import { writeFileSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { filePasskeys, openHome } from "@acp/home";
import type { HomePaths, PasskeyRecord } from "@acp/home";
import { afterEach, describe, expect, it } from "vitest";
import { loggedPasskeys } from "./logged-passkeys.js";

const folders: string[] = [];
const context = { io: { userHome: "/nowhere" }, print: { notice: () => undefined } };
const phone: PasskeyRecord = {
  id: "AQID",
  approver: "ada",
  publicKey: "pQECAyYgAQ",
  rpId: "localhost",
  origins: ["http://localhost:8789"],
  label: "phone",
  createdAtMs: 1_000,
};

async function newHome(): Promise<HomePaths> {
  const folder = await mkdtemp(join(tmpdir(), "acp-"));
  folders.push(folder);
  return openHome(folder);
}

const logOf = (home: HomePaths): string => join(home.dir, "audit.jsonl");
const breakLog = (home: HomePaths): Promise<void> =>
  writeFile(logOf(home), "no line of a log\n", { mode: 0o600 });

const breakLogSync = (home: HomePaths): void =>
  writeFileSync(logOf(home), "no line of a log\n", { mode: 0o600 });

afterEach(async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true });
});

describe("loggedPasskeys()", () => {
  it("says in the log what is added and revoked, and nothing where nothing is", async () => {
    const home = await newHome();
    const store = loggedPasskeys(home, context);
    expect([await store.add(phone), await store.add(phone)]).toEqual([true, false]);
    expect([
      await store.revoke("AQID", "bob", 2_000),
      await store.revoke("AQID", "ada", 2_000),
    ]).toEqual([false, true]);
    expect(await store.list()).toEqual([{ ...phone, revokedAtMs: 2_000 }]);
    const notices = (await readFile(logOf(home), "utf8")).match(/The passkey [^"]*/g);
    expect(notices).toEqual([
      "The passkey AQID of ada was added",
      "The passkey AQID of ada was revoked",
    ]);
  });

  it("adds none that counts where the log does not take it", async () => {
    const home = await newHome();
    await breakLog(home);
    await expect(loggedPasskeys(home, context).add(phone)).rejects.toMatchObject({
      code: "audit_failed",
    });
    expect(await filePasskeys(home.passkeysPath).list()).toEqual([]);
  });

  it("adds none that counts where the log takes no note of the save", async () => {
    const home = await newHome();
    const store = loggedPasskeys(home, {
      ...context,
      // The log breaks between the two: this is asked for right before the note.
      get io() {
        breakLogSync(home);
        return context.io;
      },
    });
    await expect(store.add(phone)).rejects.toMatchObject({ code: "audit_failed" });
    expect(await filePasskeys(home.passkeysPath).list()).toEqual([
      { ...phone, revokedAtMs: phone.createdAtMs },
    ]);
  });

  it("revokes also where the log does not take it, and says so", async () => {
    const home = await newHome();
    await filePasskeys(home.passkeysPath).add(phone);
    await breakLog(home);
    await expect(loggedPasskeys(home, context).revoke("AQID", "ada", 2_000)).rejects.toMatchObject({
      code: "audit_failed",
    });
    expect(await filePasskeys(home.passkeysPath).list()).toEqual([
      { ...phone, revokedAtMs: 2_000 },
    ]);
  });
});
