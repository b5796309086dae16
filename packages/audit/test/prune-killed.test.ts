/** A log that is killed while it is pruned verifies, and goes on being pruned. */
import { describe, expect, it } from "vitest";
import { isDeep } from "../../../tools/deep.js";
import { openAuditLog } from "../src/audit-log.js";
import { listArchives } from "../src/log-parts.js";
import { generateNoteKey } from "../src/note.js";
import { pruneAuditLog } from "../src/prune.js";
import { verifyAuditLog } from "../src/verify.js";
import { readCheckpoints } from "../src/witness.js";
import { expectSameAnswers, KEY } from "./index-world.js";
import { scratchLog } from "./support.js";
import { runWriter } from "./writer-process.js";

const KILLS = isDeep ? 40 : 2;
const SIGNER = generateNoteKey("pruned");

async function expectWhole(path: string): Promise<void> {
  const checkpoints = {
    notes: await readCheckpoints(`${path}.checkpoints`),
    verifierKeys: [SIGNER.verifierKey],
  };
  const { ok, firstBad } = await verifyAuditLog(path, { checkpoints });
  expect({ ok, firstBad }).toEqual({ ok: true, firstBad: undefined });
  await expectSameAnswers(path);
}

describe("a log that is pruned", () => {
  it(`verifies and goes on, over ${KILLS} kills at random moments`, async () => {
    const path = await scratchLog();
    const indexKey = Buffer.from(KEY).toString("hex");
    for (let kill = 0; kill < KILLS; kill++) {
      // A file is full after some lines, and the process prunes after each.
      const atLine = 5 + Math.floor(Math.random() * 25);
      let seen = 0;
      const { signal, lines } = await runWriter(
        [path, 1_000_000, 1, 0, 2_500, SIGNER.signerKey, "", indexKey, 1],
        { onLine: (_line, child) => void (++seen === atLine && child.kill("SIGKILL")) },
      );
      expect([signal, lines.find((line) => line.startsWith("failed"))]).toEqual([
        "SIGKILL",
        undefined,
      ]);
      await expectWhole(path);
    }
    await using log = await openAuditLog({
      path,
      indexKey: KEY,
      checkpoints: { signerKey: SIGNER.signerKey },
    });
    await pruneAuditLog(log, { keepFiles: 0 });
    await log.close();
    expect(await listArchives(path)).toEqual([]);
    await expectWhole(path);
  });
});
