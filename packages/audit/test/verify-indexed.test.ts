/** Verifying by an index finds what verifying everything finds. */
import { createHash } from "node:crypto";
import { appendFile, copyFile, readFile, rename, rm, truncate, writeFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { signCheckpoint } from "../src/checkpoint.js";
import { encodeEvent } from "../src/codec.js";
import type { CheckpointClaims } from "../src/checkpoint-check.js";
import { indexPath } from "../src/log-index/index-file.js";
import { openIndexWriter } from "../src/log-index/index-writer.js";
import { openRecord, sealRecord } from "../src/log-index/record.js";
import { verifyIndexedLog } from "../src/log-index/verify-indexed.js";
import { archivePath, listArchives } from "../src/log-parts.js";
import { generateNoteKey, noteSigner } from "../src/note.js";
import { growTree } from "../src/tree-edge.js";
import { type AuditVerification, verifyAuditLog } from "../src/verify.js";
import { eventsOf, KEY, OTHER_KEY, putLog } from "./index-world.js";
import { makeEvent, makeLines, scratchLog } from "./support.js";

const COUNT = 28;
/** Events that its records speak of. */
const INDEXED = 26;
const STARTS = [7, 14];
const signerKey = generateNoteKey("home").signerKey;

interface Kit {
  readonly path: string;
  readonly lines: readonly string[];
}

/** Three files; records of three events, and two lines behind the last of them. */
async function indexedLog(): Promise<Kit> {
  const path = await scratchLog();
  const lines = await makeLines(eventsOf(Array.from({ length: COUNT }, () => ({}))));
  await putLog(path, lines, STARTS);
  const parts = { key: KEY, everyEvents: 3, closeEventsMin: 3, now: () => 5 };
  await (await openIndexWriter({ ...parts, path, nextSeq: COUNT }))?.close();
  return { path, lines };
}

function noteOf(lines: readonly string[], size: number): string {
  const tree = growTree();
  for (const line of lines.slice(0, size)) tree.add(Buffer.from(line), 0, Buffer.byteLength(line));
  return signCheckpoint({ origin: "home", size, root: tree.root() }, noteSigner(signerKey));
}

const claims = (notes: readonly string[]): CheckpointClaims => ({
  notes,
  verifierKeys: [noteSigner(signerKey).verifierKey],
  origin: "home",
});

interface Found {
  readonly result: AuditVerification;
  /** Whether the index was enough: a full verification goes on to the last event, by files. */
  readonly isByIndex: boolean;
}

async function byIndex(path: string, notes?: readonly string[]): Promise<Found> {
  const counts: number[] = [];
  const result = await verifyIndexedLog(path, {
    indexKey: KEY,
    ...(notes !== undefined && { checkpoints: claims(notes) }),
    onProgress: ({ events }) => void counts.push(events),
  });
  const { startSeq = 0 } = result;
  return { result, isByIndex: counts.at(-1) === INDEXED - startSeq };
}

const inFull = (path: string, notes?: readonly string[]): Promise<AuditVerification> =>
  verifyAuditLog(path, notes === undefined ? {} : { checkpoints: claims(notes) });

describe("verifyIndexedLog()", () => {
  it("finds a good log good by its index, with every size of checkpoint", async () => {
    const { path, lines } = await indexedLog();
    const notes = Array.from({ length: COUNT + 1 }, (_, size) => noteOf(lines, size));
    for (const each of [
      undefined,
      [],
      notes,
      [notes[0] ?? ""],
      [notes[8] ?? "", notes[28] ?? ""],
    ]) {
      const { result, isByIndex } = await byIndex(path, each);
      expect(result).toEqual(await inFull(path, each));
      expect(result).toMatchObject({ ok: true, events: COUNT });
      expect(isByIndex).toBe(true);
    }
  });

  it("takes what retention removed for removed, also where the index still speaks of it", async () => {
    const { path } = await indexedLog();
    const { hash, edge } = await treeAt(path, 7);
    const event = makeEvent(99, {
      eventType: "log_pruned",
      metadata: { before_seq: 7, file: "x", hash, tree: [...edge.hashes] },
    });
    const next = encodeEvent(event, { seq: COUNT - 1, hash: await lastHash(path) });
    await appendFile(path, `${next.line}\n`);
    await rm(archivePath(path, 0));
    const { result, isByIndex } = await byIndex(path);
    expect(result).toEqual(await inFull(path));
    expect(result).toMatchObject({ ok: true, startSeq: 7, events: COUNT + 1 - 7 });
    expect(isByIndex).toBe(true);
  });

  it("tells a last line without an end by its index, and proves the lines behind it", async () => {
    const { path } = await indexedLog();
    await appendFile(path, '{"agent":"cut sh');
    const { result, isByIndex } = await byIndex(path);
    expect(result).toEqual(await inFull(path));
    expect(result).toMatchObject({ ok: false, firstBad: { line: 15, code: "torn_line" } });
    expect(isByIndex).toBe(true);
  });

  const damages: Readonly<Record<string, (kit: Kit) => Promise<unknown>>> = {
    "a changed byte in a full file": ({ path }) => swap(archivePath(path, 7), "agent-1", "agent-2"),
    "a changed byte in the last file": ({ path }) => swap(path, "agent-1", "agent-2"),
    "a changed byte behind the last record": ({ path, lines }) =>
      swap(path, lines[27] ?? "", (lines[27] ?? "").replace("agent-1", "agent-2")),
    "a line more at the end of a full file": ({ path, lines }) =>
      appendFile(archivePath(path, 0), `${lines[7] ?? ""}\n`),
    "a full file that is gone": ({ path }) => rm(archivePath(path, 7)),
    "the first file that is gone": ({ path }) => rm(archivePath(path, 0)),
    "a full file under another number": ({ path }) =>
      rename(archivePath(path, 7), archivePath(path, 8)),
    "two full files that changed places": async ({ path }) => {
      await copyFile(archivePath(path, 0), `${path}.x`);
      await rename(archivePath(path, 7), archivePath(path, 0));
      await rename(`${path}.x`, archivePath(path, 7));
    },
    "one more full file": ({ path }) => copyFile(archivePath(path, 7), archivePath(path, 10)),
    "an end that was cut off": async ({ path, lines }) =>
      truncate(path, Buffer.byteLength(`${lines.slice(14, 20).join("\n")}\n`)),
    "a line too many": ({ path, lines }) => appendFile(path, `${lines[27] ?? ""}\n`),
    "an empty last file": ({ path }) => truncate(path, 0),
    "a last file that is gone": ({ path }) => rm(path),
  };
  it.each(Object.entries(damages))(
    "finds %s as a full verification does",
    async (_name, damage) => {
      const kit = await indexedLog();
      const notes = [noteOf(kit.lines, COUNT)];
      await damage(kit);
      for (const each of [undefined, notes])
        expect((await byIndex(kit.path, each)).result).toEqual(await inFull(kit.path, each));
    },
  );

  it("finds lines of another log behind the last record", async () => {
    const { path, lines } = await indexedLog();
    const others = await makeLines(eventsOf(Array.from({ length: COUNT }, () => ({ tool: "x" }))));
    await putLog(path, [...lines.slice(0, INDEXED), ...others.slice(INDEXED)], STARTS);
    const { result } = await byIndex(path);
    expect(result).toEqual(await inFull(path));
    expect(result).toMatchObject({ firstBad: { code: "chain_broken" } });
  });

  it("finds a full file under another number where no record speaks of it", async () => {
    const { path } = await indexedLog();
    const [first] = (await readFile(indexPath(path), "utf8")).split("\n");
    await writeFile(indexPath(path), `${first}\n`);
    expect((await byIndex(path)).result).toMatchObject({ ok: true, events: COUNT });
    await rename(archivePath(path, 7), archivePath(path, 8));
    const { result } = await byIndex(path);
    expect(result).toEqual(await inFull(path));
    expect(result).toMatchObject({ firstBad: { code: "seq_broken" } });
  });

  it("believes no record that leaves bytes out, or follows other events", async () => {
    const { path, lines } = await indexedLog();
    const records = (await readFile(indexPath(path), "utf8")).trimEnd().split("\n");
    const record = openRecord(records[1] ?? "", KEY);
    const state = record?.state();
    if (record === undefined || state === undefined) throw new Error("no record");
    const { stretch } = record;
    const from = stretch.from + Buffer.byteLength(`${lines[stretch.seq] ?? ""}\n`);
    const bytes = (await readFile(archivePath(path, 0))).subarray(from, stretch.to);
    const digest = createHash("sha256").update(bytes).digest("hex");
    for (const change of [{ from, digest }, { previousHash: `sha256:${"0".repeat(64)}` }]) {
      const sealed = sealRecord({ stretch: { ...stretch, ...change }, state }, KEY);
      await writeFile(indexPath(path), `${records.with(1, sealed.trimEnd()).join("\n")}\n`);
      const { result, isByIndex } = await byIndex(path);
      expect(result).toMatchObject({ ok: true, events: COUNT });
      expect(isByIndex).toBe(false);
    }
  });

  it("finds a log that is not the one of its checkpoints", async () => {
    const { path, lines } = await indexedLog();
    const other = lines.map((line, at) => (at === 3 ? line.replace("agent-1", "agent-2") : line));
    for (const size of [4, 9, COUNT]) {
      const notes = [noteOf(other, size), noteOf(lines, 2)];
      const { result } = await byIndex(path, notes);
      expect(result).toEqual(await inFull(path, notes));
      expect(result).toMatchObject({ ok: false, firstBad: { code: "history_replaced" } });
    }
    const notes = [noteOf(lines, 9), "no note", noteOf([...lines, "x"], COUNT + 1)];
    const { result } = await byIndex(path, notes);
    expect(result).toEqual(await inFull(path, notes));
    expect(result).toMatchObject({ firstBad: { code: "end_missing" } });
  });

  it("believes no index that is damaged, of another home or missing", async () => {
    const { path, lines } = await indexedLog();
    const good = await readFile(indexPath(path), "utf8");
    const records = good.trimEnd().split("\n");
    const sealed = (key: Uint8Array, digest?: string): string =>
      records
        .map((line) => {
          const record = openRecord(line, KEY);
          const state = record?.state();
          if (record === undefined || state === undefined) throw new Error("no record");
          const { stretch } = record;
          return sealRecord({ stretch: { ...stretch, ...(digest && { digest }) }, state }, key);
        })
        .join("");
    const bad = [
      "",
      good.slice(20),
      `${records.slice(1).join("\n")}\n`,
      `${records.toSpliced(2, 1).join("\n")}\n`,
      sealed(OTHER_KEY),
      sealed(KEY, "0".repeat(64)),
    ];
    for (const text of bad) {
      await writeFile(indexPath(path), text);
      const { result, isByIndex } = await byIndex(path, [noteOf(lines, COUNT)]);
      expect(result).toMatchObject({ ok: true, events: COUNT });
      expect(isByIndex).toBe(false);
    }
    await writeFile(indexPath(path), sealed(KEY));
    expect((await byIndex(path)).isByIndex).toBe(true);
    expect(await listArchives(path)).toHaveLength(2);
  });

  it("ends where the signal says so", async () => {
    const { path } = await indexedLog();
    const stop = new AbortController();
    const checking = verifyIndexedLog(path, {
      indexKey: KEY,
      signal: stop.signal,
      onProgress: () => stop.abort(),
    });
    await expect(checking).rejects.toMatchObject({ code: "aborted" });
  });
});

async function treeAt(path: string, size: number) {
  const tree = growTree();
  const lines = (await readFile(archivePath(path, 0), "utf8")).trimEnd().split("\n");
  for (const line of lines.slice(0, size)) tree.add(Buffer.from(line), 0, Buffer.byteLength(line));
  return { hash: hashOf(lines[size - 1]), edge: tree.edge() };
}

const hashOf = (line = ""): string => /"event_hash":"([^"]+)"/.exec(line)?.[1] ?? "";
const lastHash = async (path: string): Promise<string> =>
  hashOf((await readFile(path, "utf8")).trimEnd().split("\n").at(-1));

async function swap(file: string, from: string, to: string): Promise<void> {
  const text = await readFile(file, "utf8");
  expect(text).toContain(from);
  await writeFile(file, text.replace(from, to));
}
