/** Older files of a home, put back in every way there is, against the guard in this process. */
import { cp, readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { logEvent, randomIds } from "@acp/core";
import type { Grants } from "@acp/core";
import { stateSavedEvent } from "@acp/core/unstable";
import type { StateMark } from "@acp/core/unstable";
import { fileGrants, homePaths } from "@acp/home";
import type { Home, PasskeyRecord } from "@acp/home";
import { describe, expect, it, onTestFinished } from "vitest";
import { append, grantsOf, GRANT, io, newHome, put } from "../../test/rollback-world.js";
import { rotateCheckpointKey } from "../logs/checkpoint-seams.js";
import { loggedGrants } from "../logs/logged-grants.js";
import { guardedPasskeys } from "../logs/logged-passkeys.js";
import { openHomeAudit } from "../logs/open-audit.js";
import { declareRestore } from "./declare-restore.js";
import { noteNewerStates, settleStates } from "./settle-states.js";
import { createRollbackGuard } from "./state-guard.js";

const PHONE: PasskeyRecord = {
  id: "AQID",
  approver: "ada",
  publicKey: "pQECAyYgAQ",
  rpId: "localhost",
  origins: ["http://localhost:8789"],
  label: "phone",
  createdAtMs: 1_000,
};

const idsOf = async (grants: Grants): Promise<readonly string[]> =>
  (await grants.list()).map(({ id }) => id);
const note = (home: Home, mark: StateMark): Promise<void> =>
  append(home, [stateSavedEvent(mark, { id: randomIds.next("ae"), atMs: Date.now() })]);
/** A home whose one grant was revoked, and the file of before. */
async function revoked(): Promise<{ readonly home: Home; readonly older: string }> {
  const home = await newHome();
  const { grants } = grantsOf(home);
  await grants.put(GRANT);
  const older = await readFile(home.grantsPath, "utf8");
  expect(await grants.revoke("gr_1")).toBe(true);
  return { home, older };
}

describe("grants.json", () => {
  it("of before a revocation counts for no process, and is said once, with the command", async () => {
    const { home, older } = await revoked();
    const [late, early] = [grantsOf(home), grantsOf(home)];
    expect(await idsOf(early.grants)).toEqual([]);
    await put(home.grantsPath, older);
    for (const { grants, said } of [late, early]) {
      expect([await idsOf(grants), await idsOf(grants)]).toEqual([[], []]);
      expect(said).toEqual([
        `${home.grantsPath} does not count: it is an older one (save 1) than the log notes (save 2); acp doctor --fix grants_rolled_back sets it aside`,
      ]);
    }
    // Without the guard an embedding refuses what is older than it has seen.
    await rm(home.grantsPath);
    const embedded = fileGrants(home.grantsPath);
    await embedded.put(GRANT);
    const one = await readFile(home.grantsPath, "utf8");
    await embedded.revoke("gr_1");
    await put(home.grantsPath, one);
    expect(await idsOf(embedded)).toEqual([]);
  });

  it("that is replaced while it does not count is kept beside it, and the next save is the newest", async () => {
    const { home, older } = await revoked();
    await put(home.grantsPath, older);
    const { grants } = grantsOf(home);
    await grants.put({ ...GRANT, id: "gr_2" });
    expect(await idsOf(grantsOf(home).grants)).toEqual(["gr_2"]);
    expect(JSON.parse(await readFile(home.grantsPath, "utf8"))).toMatchObject({ counter: 3 });
    const kept = (await readdir(home.dir)).find((name) => name.startsWith("grants.json.older-"));
    expect(await readFile(join(home.dir, kept ?? ""), "utf8")).toBe(older);
  });

  it("with a counter that somebody wrote counts as little, and one of no number is an error", async () => {
    const { home, older } = await revoked();
    for (const counter of [2, 3, 4_711, Number.MAX_SAFE_INTEGER]) {
      await put(home.grantsPath, JSON.stringify({ ...JSON.parse(older), counter }));
      expect(await idsOf(grantsOf(home).grants)).toEqual([]);
    }
    // Nor with the seal of another file of the home.
    await guardedPasskeys(home, createRollbackGuard(home)).add(PHONE);
    const { seal } = JSON.parse(await readFile(home.passkeysPath, "utf8"));
    await put(home.grantsPath, JSON.stringify({ ...JSON.parse(older), counter: 9, seal }));
    expect(await idsOf(grantsOf(home).grants)).toEqual([]);
    for (const counter of ["2", -1, 1.5, null, 2 ** 53]) {
      await put(home.grantsPath, JSON.stringify({ ...JSON.parse(older), counter }));
      await expect(grantsOf(home).grants.list()).rejects.toMatchObject({ code: "home_invalid" });
    }
  });

  it("with a counter that somebody wrote keeps nothing from being saved, or restored", async () => {
    const { home, older } = await revoked();
    const text = JSON.stringify({ ...JSON.parse(older), counter: Number.MAX_SAFE_INTEGER });
    await put(home.grantsPath, text);
    await grantsOf(home).grants.put({ ...GRANT, id: "gr_2" });
    expect(await idsOf(grantsOf(home).grants)).toEqual(["gr_2"]);
    await put(home.grantsPath, text);
    const { files } = await declareRestore({ home, io, reason: "a test" });
    expect(files).toMatchObject([{ file: "grants", counter: 4 }]);
    const { grants } = grantsOf(home);
    expect(await idsOf(grants)).toEqual(["gr_1"]);
    expect(await grants.revoke("gr_1")).toBe(true);
    expect(await idsOf(grantsOf(home).grants)).toEqual([]);
  });

  it("is not written once its counter is at its end", async () => {
    const home = await newHome();
    const hash = `sha256:${"00".repeat(32)}`;
    await note(home, { kind: "grants", counter: Number.MAX_SAFE_INTEGER, hash });
    await expect(grantsOf(home).grants.put(GRANT)).rejects.toMatchObject({ code: "home_invalid" });
  });

  it("that was deleted is no way back either", async () => {
    const { home, older } = await revoked();
    await rm(home.grantsPath);
    expect(await idsOf(grantsOf(home).grants)).toEqual([]);
    await put(home.grantsPath, older);
    expect(await idsOf(grantsOf(home).grants)).toEqual([]);
    await rm(home.grantsPath);
    await grantsOf(home).grants.put({ ...GRANT, id: "gr_3" });
    expect(await idsOf(grantsOf(home).grants)).toEqual(["gr_3"]);
  });

  it("counts without a counter in a home of before, until its first save", async () => {
    const home = await newHome();
    const before = JSON.stringify({ version: "1", grants: [GRANT] });
    await put(home.grantsPath, before);
    await settleStates(home, (events) => append(home, events));
    const { grants } = grantsOf(home);
    expect(await idsOf(grants)).toEqual(["gr_1"]);
    expect(await grants.revoke("gr_1")).toBe(true);
    await put(home.grantsPath, before);
    expect(await idsOf(grantsOf(home).grants)).toEqual([]);
  });

  it("needs no index and no checkpoint key to be judged", async () => {
    const { home, older } = await revoked();
    await rm(join(home.dir, "audit.jsonl.index"), { force: true });
    await put(home.grantsPath, older);
    expect(await idsOf(grantsOf(home).grants)).toEqual([]);
    await rm(join(home.keysDir, "checkpoint.key"));
    expect(await idsOf(grantsOf(home).grants)).toEqual([]);
  });

  it("is the newest for two processes that both write, whose logs are two", async () => {
    const home = await newHome();
    await using one = await openHomeAudit(home);
    await using two = await openHomeAudit(home);
    const stores = [one, two].map((audit) => {
      const guard = createRollbackGuard(home);
      guard.heed(
        (events) => audit.append(events),
        (text) => expect.fail(text),
      );
      return loggedGrants(home, { guard });
    });
    const ids = Array.from({ length: 16 }, (_, at) => `gr_${at}`);
    await Promise.all(ids.map(async (id, at) => stores[at % 2]?.put({ ...GRANT, id })));
    for (const store of stores) expect((await idsOf(store)).length).toBe(16);
    const older = await readFile(home.grantsPath, "utf8");
    await stores[0]?.revoke("gr_7");
    await put(home.grantsPath, older);
    expect(await grantsOf(home).grants.list()).toEqual([]);
  });

  it("uses no grant more often than the logs say, whatever its file counts", async () => {
    const home = await newHome();
    const { grants } = grantsOf(home);
    await grants.put({ ...GRANT, uses: 2, usesLeft: 2 });
    const full = await readFile(home.grantsPath, "utf8");
    const used = { ...logEvent("grant_used", { id: "ae_1", atMs: 2_000 }, { grant: "gr_1" }) };
    expect(await grants.use("gr_1", 3_000)).toBe(true);
    await append(home, [used, { ...used, id: "ae_2" }]);
    await put(home.grantsPath, full);
    const other = grantsOf(home).grants;
    expect(await idsOf(other)).toEqual(["gr_1"]);
    expect(await other.use("gr_1", 3_000)).toBe(false);
  });
});

describe("a crash between the file and the log", () => {
  it("leaves the newer file, which is noted by who starts next", async () => {
    const home = await newHome();
    await grantsOf(home).grants.put(GRANT);
    const older = await readFile(home.grantsPath, "utf8");
    const guard = createRollbackGuard(home, () => Promise.reject(new Error("killed")));
    const dying = loggedGrants(home, { guard });
    await expect(dying.revoke("gr_1")).rejects.toThrow("killed");
    expect(await idsOf(grantsOf(home).grants)).toEqual([]);
    await settleStates(home, (events) => append(home, events));
    await put(home.grantsPath, older);
    const { grants, said } = grantsOf(home);
    expect([await idsOf(grants), said.length]).toEqual([[], 1]);
  });

  it("the other way around takes the file for an older one", async () => {
    const home = await newHome();
    await grantsOf(home).grants.put(GRANT);
    await note(home, { kind: "grants", counter: 2, hash: `sha256:${"00".repeat(32)}` });
    expect(await idsOf(grantsOf(home).grants)).toEqual([]);
  });

  it("keeps what another checkpoint key sealed, where it was noted before that was rotated", async () => {
    const home = await newHome();
    const { grants } = grantsOf(home);
    await grants.put({ ...GRANT, uses: 5, usesLeft: 5 });
    expect(await grants.use("gr_1", 3_000)).toBe(true);
    await rotateCheckpointKey(home, () => noteNewerStates(home, (events) => append(home, events)));
    expect(await idsOf(grantsOf(home).grants)).toEqual(["gr_1"]);
  });
});

describe("a declared restore", () => {
  it("makes older files count again, and those of before it no more", async () => {
    const { home, older } = await revoked();
    const newest = await readFile(home.grantsPath, "utf8");
    const gate = grantsOf(home).grants;
    expect(await idsOf(gate)).toEqual([]);
    await put(home.grantsPath, older);
    expect(await idsOf(gate)).toEqual([]);
    const done = await declareRestore({ home, io, reason: "lost the disk", source: "backup-7" });
    expect(done.files).toEqual([
      { file: "grants", counter: 3, hash: expect.stringMatching(/^sha256:/), saved: 1 },
    ]);
    for (const grants of [gate, grantsOf(home).grants])
      expect(await idsOf(grants)).toEqual(["gr_1"]);
    await put(home.grantsPath, newest);
    expect((await grantsOf(home).grants.get("gr_1")) === undefined).toBe(true);
    expect(grantsOf(home).said).toEqual([]);
    await put(home.grantsPath, older);
    await gate.put({ ...GRANT, id: "gr_2" });
    expect(JSON.parse(await readFile(home.grantsPath, "utf8"))).toMatchObject({ counter: 4 });
    const events = (await readFile(join(home.dir, "audit.jsonl"), "utf8")).match(
      /"event_type":"home_restored".*/,
    );
    expect(events?.[0]).toContain('"reason":"lost the disk"');
  });

  it("needs a reason and something that is there", async () => {
    const home = await newHome();
    for (const reason of ["", " "])
      await expect(declareRestore({ home, io, reason })).rejects.toMatchObject({
        code: "options_invalid",
      });
    await expect(declareRestore({ home, io, reason: "why" })).rejects.toMatchObject({
      code: "options_invalid",
    });
  });

  it("of a whole home counts what the home that it replaces notes", async () => {
    const { home } = await revoked();
    const copy = `${home.dir}.copy`;
    await cp(home.dir, copy, { recursive: true });
    onTestFinished(() => rm(copy, { recursive: true }));
    for (const id of ["gr_5", "gr_6"]) await grantsOf(home).grants.put({ ...GRANT, id });
    const restored = homePaths(copy);
    const { files } = await declareRestore({ home: restored, io, reason: "back", replaced: home });
    expect(files).toMatchObject([{ file: "grants", counter: 5, saved: 2 }]);
  });
});

describe("passkeys.json", () => {
  it("of before a revocation has no passkey that counts", async () => {
    const home = await newHome();
    const guard = createRollbackGuard(home, (events) => append(home, events));
    const store = guardedPasskeys(home, guard);
    await store.add(PHONE);
    const older = await readFile(home.passkeysPath, "utf8");
    await store.revoke("AQID", "ada", 2_000);
    await put(home.passkeysPath, older);
    for (const each of [store, guardedPasskeys(home, createRollbackGuard(home))])
      expect(await each.list()).toEqual([]);
  });
});
