import { readFile, writeFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { isDeep, numbersInLane } from "../../../tools/deep.js";
import { sha256 } from "../src/codec.js";
import {
  checkpointsPath,
  generateNoteKey,
  openAuditLog,
  openPlainLog,
  readAuditLog,
  readCheckpoints,
  verifyAuditLog,
} from "../src/index.js";
import { makeEvent, makeLines, scratchLog } from "./support.js";
import { runWriter } from "./writer-process.js";

/** More of them: ACP_KILLS=200 npx vitest run packages/audit/test/crash.test.ts (some minutes). */
const KILLS = Number(process.env["ACP_KILLS"] ?? (isDeep ? 6 : 2));

const KEY = generateNoteKey("crashed");

async function hashes(path: string): Promise<readonly string[]> {
  const found: string[] = [];
  for await (const { hash } of readAuditLog(path)) found.push(hash);
  return found;
}

describe("a killed writer", () => {
  it.each([
    ["one file", 0, ""],
    ["files of 20,000 bytes, signed", 20_000, KEY.signerKey],
  ])(
    `loses nothing that was acknowledged, over ${KILLS} kills at random moments of a log in %s`,
    {},
    async (_, maxBytes, signerKey) => {
      const path = await scratchLog();
      const acknowledged: string[] = [];
      for (let kill = 0; kill < KILLS; kill++) {
        const atLine = 1 + Math.floor(Math.random() * 300);
        let seen = 0;
        const { lines, signal } = await runWriter(
          [path, 1_000_000, 1 + (kill % 4) * 5, 0, maxBytes, signerKey],
          {
            onLine: (_line, child) => void (++seen === atLine && child.kill("SIGKILL")),
          },
        );
        expect(signal).toBe("SIGKILL");
        acknowledged.push(...lines);
      }
      await (await openAuditLog({ path })).close();
      const checkpoints = {
        notes: await readCheckpoints(checkpointsPath(path)),
        verifierKeys: [KEY.verifierKey],
      };
      expect(await verifyAuditLog(path, { checkpoints })).toMatchObject({
        ok: true,
        checkpoints: { tooOld: 0 },
      });
      if (signerKey !== "") expect(checkpoints.notes.length).toBeGreaterThan(KILLS / 2);
      const found = await hashes(path);
      const lost = acknowledged.filter((line) => {
        const [seq = "", hash] = line.split(" ");
        return found[Number(seq)] !== hash;
      });
      expect(lost).toEqual([]);
      expect(acknowledged.length).toBeGreaterThanOrEqual(KILLS);
      process.stdout.write(
        `crash: ${KILLS} kills, ${acknowledged.length} appends acknowledged, ${lost.length} lost, ${found.length} events\n`,
      );
    },
  );

  it(`loses no decision that was acknowledged, over ${KILLS} kills at random moments of a plain log`, {}, async () => {
    const path = await scratchLog();
    const acknowledged: string[] = [];
    for (let kill = 0; kill < KILLS; kill++) {
      const atLine = 1 + Math.floor(Math.random() * 300);
      let seen = 0;
      const { lines } = await runWriter([path, 1_000_000, 1 + (kill % 4) * 5, 0, 0, "", "v0.3"], {
        onLine: (_line, child) => void (++seen === atLine && child.kill("SIGKILL")),
      });
      acknowledged.push(...lines);
    }
    await (await openPlainLog({ path })).close();
    const found = (await readFile(path, "utf8")).split("\n").slice(0, -1);
    const lost = acknowledged.filter((line) => {
      const [seq = "", hash] = line.split(" ");
      return sha256(found[Number(seq)] ?? "") !== hash;
    });
    expect(lost).toEqual([]);
    expect(acknowledged.length).toBeGreaterThanOrEqual(KILLS);
  });

  it("leaves a log that opens and goes on, at whatever byte its file ends", async () => {
    const lines = (await makeLines([makeEvent(1), makeEvent(2)])).map((line) => `${line}\n`);
    const bytes = Buffer.from(lines.join(""));
    // Around each end of a line, always.
    const ends = lines.map((_, at) => Buffer.byteLength(lines.slice(0, at + 1).join("")));
    const near = ends.flatMap((end) => [end - 1, end, Math.min(end + 1, bytes.length)]);
    for (const end of new Set([...numbersInLane(bytes.length), ...near])) {
      const path = await scratchLog();
      await writeFile(path, bytes.subarray(0, end), { mode: 0o600 });
      const log = await openAuditLog({ path });
      await log.append([makeEvent(3)]);
      await log.close();
      const full = bytes.subarray(0, end).filter((byte) => byte === 0x0a).length;
      const isTorn = end > 0 && bytes[end - 1] !== 0x0a;
      expect(log.recovered === undefined).toBe(!isTorn);
      expect(await verifyAuditLog(path)).toMatchObject({
        ok: true,
        events: full + (isTorn ? 2 : 1),
      });
    }
  });
});

describe("several processes", () => {
  it("never write one log at the same time", async () => {
    const path = await scratchLog();
    const acknowledged: string[] = [];
    for (let round = 0; round < 3; round++) {
      const runs = await Promise.all([1, 2, 3, 4].map(() => runWriter([path, 5])));
      for (const { lines } of runs) {
        expect(lines.join("\n")).toMatch(/^(busy|(\d+ sha256:\w+\n?){5})$/);
        acknowledged.push(...lines.filter((line) => line !== "busy"));
      }
    }
    expect(acknowledged.length).toBeGreaterThanOrEqual(5);
    expect(await verifyAuditLog(path)).toMatchObject({ ok: true });
    const found = await hashes(path);
    expect(
      acknowledged.every((line) => found[Number(line.split(" ")[0])] === line.split(" ")[1]),
    ).toBe(true);
  });
});
