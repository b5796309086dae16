/** Keys and vaults of before that are put back, against the home's logs. */
import { cp, readFile } from "node:fs/promises";
import { join } from "node:path";
import { memoryAuditSink } from "@acp/audit";
import { Secret } from "@acp/core/vault";
import type { VaultMark } from "@acp/core/vault";
import {
  changeVaultFile,
  initKeys,
  readVaultFile,
  rotateKeys,
  unlockKeys,
  withSecret,
} from "@acp/home";
import type { Home, Unlock } from "@acp/home";
import { describe, expect, it } from "vitest";
import { keyClock } from "../home/key-clock.js";
import { noteMark, noteNewKeys, noteRotation } from "../logs/vault-log.js";
import { append, grantsOf, GRANT, io, newHome, put } from "../../test/rollback-world.js";
import { carryMarks } from "./carry-marks.js";
import { declareRestore } from "./declare-restore.js";
import { readNotedStates } from "./noted-states.js";
import { checkVault, whyKeysOlder } from "./sealed-files.js";
import { settleStates } from "./settle-states.js";

const UNLOCK: Unlock = { kind: "key-file", text: `${"0f".repeat(32)}\n` };

describe("keys and vault", () => {
  async function withKeys(): Promise<Home> {
    const home = await newHome();
    const { keys } = await initKeys(home, UNLOCK);
    await noteNewKeys({ home, io }, keys);
    return home;
  }
  const rotate = async (home: Home): Promise<void> => {
    const { keys, previousPublicKey: from } = await rotateKeys(
      home,
      UNLOCK,
      keyClock(home, () => {}),
    );
    const { mark } = await readVaultFile(home, keys);
    await noteRotation({ home, io }, { from, to: keys.publicKey }, mark);
  };
  const why = async (home: Home): Promise<string | undefined> =>
    whyKeysOlder(home, await readNotedStates(home));
  const vaultMark = async (home: Home): Promise<VaultMark> =>
    (await readVaultFile(home, await unlockKeys(home, UNLOCK))).mark;

  it("of before a rotation are not used until that is declared", async () => {
    const home = await withKeys();
    const at = join(home.dir, "..", "copy");
    await cp(home.keysDir, join(at, "keys"), { recursive: true });
    await cp(home.vaultPath, join(at, "vault.json"));
    await rotate(home);
    expect(await why(home)).toBeUndefined();
    const putBack = async (): Promise<void> => {
      await cp(join(at, "keys"), home.keysDir, { recursive: true });
      await cp(join(at, "vault.json"), home.vaultPath);
    };
    await putBack();
    expect(await why(home)).toContain("the log notes newer keys");
    const mark = await vaultMark(home);
    const noted = await readNotedStates(home);
    expect(() => checkVault(home, mark, noted)).toThrow(
      "an older one (save 1) than the log notes (save 2)",
    );
    await declareRestore({ home, io, reason: "the new key is lost" });
    expect(await why(home)).toBeUndefined();
    checkVault(home, mark, await readNotedStates(home));
    // The next ones are the newest again, and these are old.
    await rotate(home);
    expect(await why(home)).toBeUndefined();
    checkVault(home, await vaultMark(home), await readNotedStates(home));
    await putBack();
    expect(await why(home)).toContain("the log notes newer keys");
  });

  it("are noted by who starts next where their rotation was not", async () => {
    const home = await withKeys();
    const before = await readFile(home.publicKeyPath, "utf8");
    const { keys } = await rotateKeys(
      home,
      UNLOCK,
      keyClock(home, () => {}),
    );
    expect(await why(home)).toBeUndefined();
    const { mark } = await readVaultFile(home, keys);
    await settleStates(home, (events) => append(home, events), { vaultMark: mark });
    const noted = await readNotedStates(home);
    expect([noted.get("keys")?.counter, noted.get("vault")?.counter]).toEqual([2, 2]);
    const sink = memoryAuditSink();
    await settleStates(home, (events) => sink.append(events), { vaultMark: mark });
    expect(sink.events()).toEqual([]);
    await put(home.publicKeyPath, before);
    expect(await why(home)).toContain("the log notes newer keys");
  });

  it("keep their marks when the files that note them go", async () => {
    const home = await withKeys();
    const keys = await unlockKeys(home, UNLOCK);
    const secret = new Secret({ name: "TOKEN", value: "a secret value", servers: ["*"] });
    const mark = await changeVaultFile(home, keys, (all) => withSecret(all, secret));
    await noteMark({ home, io }, mark, { change: "set", secret: "TOKEN" });
    await grantsOf(home).grants.put(GRANT);
    const sink = memoryAuditSink();
    const audit = { path: join(home.dir, "audit.jsonl"), append: sink.append };
    await carryMarks(home, audit, 2);
    expect(sink.events().map(({ metadata }) => metadata)).toMatchObject([
      { file: "keys", counter: 1, carried_seq: 0 },
    ]);
    await carryMarks(home, audit, 99);
    expect(
      sink
        .events()
        .slice(1)
        .map(({ metadata }) => metadata["file"]),
    ).toEqual(["keys", "vault", "grants"]);
  });
});
