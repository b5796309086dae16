/** Backups that were changed, or made to do harm: refused, and nothing is touched. */
import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, describe, expect, it } from "vitest";
import { isLeftOut, isSafePath, parseRecord, printRecord } from "../src/backup/format.js";
import type { BackupRecord } from "../src/backup/format.js";
import { openBackup } from "../src/backup/read-backup.js";
import {
  backupOf,
  fileParts,
  folder,
  HOME_RECORD,
  sealedFile,
  textsOf,
  UNLOCK,
  world,
} from "./backup-world.js";
import type { Part } from "./backup-world.js";
import { removeTemplate } from "./doctor-world.js";

afterAll(removeTemplate);

const HOSTILE: readonly (readonly [string, readonly Part[]])[] = [
  ["a path above the home", fileParts("../x", "")],
  [
    "a path that leaves it inside",
    [{ kind: "directory", path: "a" }, ...fileParts("a/../../x", "")],
  ],
  ["an absolute path", fileParts("/tmp/x", "")],
  ["an empty name", fileParts("", "")],
  ["a name with a line break", fileParts("a\nb", "")],
  ["a Windows path", fileParts("a\\b", "")],
  ["a very long name", fileParts("x".repeat(256), "")],
  ["a path twice", [...fileParts("x", ""), ...fileParts("x", "")]],
  [
    "two paths that differ in case",
    [...fileParts("Policy.yml", ""), ...fileParts("policy.yml", "")],
  ],
  [
    "two paths that differ in case, the other way around",
    [...fileParts("policy.yml", ""), ...fileParts("Policy.yml", "")],
  ],
  [
    "two paths that differ in the form of an accent",
    [...fileParts("\u00e9", ""), ...fileParts("e\u0301", "")],
  ],
  ["a file below a file", [...fileParts("x", ""), ...fileParts("x/y", "")]],
  ["a folder that is not there", fileParts("a/x", "")],
  ["an open question", [{ kind: "directory", path: "pending" }]],
  ["an open question in other letters", [{ kind: "directory", path: "Pending" }]],
  ["a socket's place", [{ kind: "directory", path: "run" }]],
  ["more bytes than it has", [{ kind: "file", path: "x", bytes: 2 ** 50, modified_at_ms: 0 }]],
  [
    "other bytes than its sum",
    [
      { kind: "file", path: "x", bytes: 1, modified_at_ms: 0 },
      { raw: "a" },
      { kind: "sum", sha256: "0".repeat(64) },
    ],
  ],
  ["a link", [{ raw: '{"kind":"link","path":"x","target":"/etc"}\n' }]],
  ["a field more", [{ raw: '{"kind":"directory","mode":511,"path":"x"}\n' }]],
  ["a key twice", [{ raw: '{"kind":"directory","path":"x","path":"y"}\n' }]],
  ["a sum without a file", [{ kind: "sum", sha256: "0".repeat(64) }]],
  ["a second home", [HOME_RECORD]],
  ["a record that never ends", [{ raw: "x".repeat(9_000) }]],
];

describe("a backup is refused, and nothing is touched, if it holds", () => {
  it.each(HOSTILE)("%s", async (_name, parts) => {
    const { dir, acp } = await world();
    const before = await textsOf(dir);
    const { code, stderr } = await acp("restore", await backupOf(parts), "--yes");
    expect([code, stderr]).toEqual([3, expect.stringContaining("Cannot read the backup")]);
    expect(await textsOf(dir)).toEqual(before);
    expect(await readdir(join(dir, ".."))).toEqual(["h"]);
  });

  it("another number of entries, something behind its end, or a newer home", async () => {
    const { dir, file, acp } = await world();
    const none: Part = { kind: "end", entries: 0 };
    for (const parts of [
      [HOME_RECORD, { kind: "end", entries: 1 }],
      [HOME_RECORD, none, { kind: "directory", path: "x" }],
      [{ ...HOME_RECORD, home_format: 2 }, none],
      [none],
      [HOME_RECORD],
    ] as const) {
      await writeFile(file, await sealedFile(parts));
      expect(await acp("restore", file, "--yes")).toMatchObject({ code: 3 });
    }
    expect(await readdir(join(dir, ".."))).toEqual(["h"]);
  });

  it("a changed, moved or missing byte anywhere", async () => {
    const whole = await sealedFile([
      HOME_RECORD,
      ...fileParts("big", "x".repeat(140_000)),
      { kind: "end", entries: 1 },
    ]);
    const file = join(await folder(), "x.backup");
    const reads = async (bytes: Uint8Array): Promise<void> => {
      await writeFile(file, bytes);
      await using backup = await openBackup(file);
      await backup.read(UNLOCK, {});
    };
    await reads(whole);
    await fc.assert(
      fc.asyncProperty(
        fc.nat(whole.length - 1),
        fc.integer({ min: 1, max: 255 }),
        async (at, by) => {
          const changed = Buffer.from(whole);
          changed[at] = (changed[at] ?? 0) ^ by;
          await expect(reads(changed)).rejects.toThrow("Cannot read the backup");
          await expect(reads(whole.subarray(0, at))).rejects.toThrow("Cannot read the backup");
          await expect(reads(Buffer.concat([whole, whole.subarray(at)]))).rejects.toThrow(
            "Cannot read the backup",
          );
        },
      ),
    );
    // Whole pieces that are left out or change places.
    const piece = 65_536 + 16;
    const start = whole.length % piece === 0 ? 0 : whole.indexOf("\n", whole.indexOf("\n") + 1) + 1;
    const pieces = [0, 1, 2].map((index) =>
      whole.subarray(start + index * piece, start + (index + 1) * piece),
    );
    const [one = whole, two = whole, three = whole] = pieces;
    for (const order of [
      [two, one, three],
      [one, three],
      [one, two],
      [one, one, two, three],
    ])
      await expect(reads(Buffer.concat([whole.subarray(0, start), ...order]))).rejects.toThrow(
        "Cannot read the backup",
      );
  });

  it("another key", async () => {
    const file = await backupOf([]);
    await using backup = await openBackup(file);
    await expect(
      backup.read({ kind: "key-file", text: `${"00".repeat(32)}\n` }, {}),
    ).rejects.toMatchObject({ code: "key_locked" });
  });
});

describe("records and paths", () => {
  it("parseRecord() reads what printRecord() prints, and nothing else", () => {
    const count = fc.nat();
    const record: fc.Arbitrary<BackupRecord> = fc.oneof(
      fc.record({ kind: fc.constant("directory" as const), path: fc.string() }),
      fc.record({
        kind: fc.constant("file" as const),
        bytes: count,
        modified_at_ms: count,
        path: fc.string(),
      }),
      fc.record({ kind: fc.constant("end" as const), entries: count }),
    );
    fc.assert(
      fc.property(record, (each) => {
        const line = printRecord(each);
        expect(parseRecord(Buffer.from(line.trimEnd()))).toEqual(each);
        expect(() => parseRecord(Buffer.from(` ${line.trimEnd()}`))).toThrow("does not know");
      }),
    );
  });

  it("isSafePath() keeps every path inside, whatever it is made of", () => {
    const segment = fc.oneof(fc.constantFrom("..", ".", "", "a", "run", "\0", "\\"), fc.string());
    fc.assert(
      fc.property(fc.array(segment, { minLength: 1 }), (segments) => {
        const path = segments.join("/");
        if (!isSafePath(path)) return;
        expect(join("/home/x", path)).toBe(`/home/x/${path}`);
        expect(isLeftOut(path)).toBe(false);
      }),
    );
  });
});
