/** A writer that is killed leaves an index that counts, up to where it comes. */
import { appendFile, readFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { isDeep } from "../../../tools/deep.js";
import { openAuditLog } from "../src/audit-log.js";
import { indexPath } from "../src/log-index/index-file.js";
import { expectSameAnswers, KEY } from "./index-world.js";
import { scratchLog } from "./support.js";
import { runWriter } from "./writer-process.js";

const KILLS = isDeep ? 20 : 3;

describe("a killed writer of an index", () => {
  it(`changes no answer, over ${KILLS} kills at random moments, with a record every new file`, async () => {
    const path = await scratchLog();
    let before = "";
    for (let kill = 0; kill < KILLS; kill++) {
      // Late enough for some new files: each has a record of the one before.
      const atLine = 60 + Math.floor(Math.random() * 300);
      let seen = 0;
      const { signal } = await runWriter(
        [path, 1_000_000, 6, 0, 4_000, "", "", Buffer.from(KEY).toString("hex")],
        { onLine: (_line, child) => void (++seen === atLine && child.kill("SIGKILL")) },
      );
      expect(signal).toBe("SIGKILL");
      await expectSameAnswers(path);
      const after = await readFile(indexPath(path), "utf8");
      // Each process goes on with the records of those before it.
      expect(after.startsWith(before)).toBe(true);
      expect(after.length).toBeGreaterThan(before.length);
      before = after.slice(0, after.lastIndexOf("\n") + 1);
      // A record that a kill cut short, which hardly ever happens by itself.
      const cut = 1 + Math.floor(Math.random() * (before.indexOf("\n") - 1));
      await appendFile(indexPath(path), before.slice(0, cut));
    }
    await (await openAuditLog({ path, indexKey: KEY })).close();
    await expectSameAnswers(path);
  });
});
