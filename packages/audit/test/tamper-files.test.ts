/**
 * Tampering with a whole log of several files and its checkpoints: everything is found and the
 * right line named. Routine runs are small. In full (some minutes): ACP_TAMPER=full npx vitest run
 * packages/audit/test/tamper-files.test.ts
 */
import { mkdtemp, readFile, rename, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { inLane } from "../../../tools/deep.js";
import { type ChainWalk, walkChain } from "../src/chain.js";
import type { CheckpointClaims } from "../src/checkpoint-check.js";
import { encodeEvent } from "../src/codec.js";
import type { AuditFault } from "../src/event.js";
import { generateNoteKey, openAuditLog, readCheckpoints, verifyAuditLog } from "../src/index.js";
import { splitLines } from "../src/lines.js";
import { listArchives } from "../src/log-parts.js";
import { type AuditVerification, verifyLines } from "../src/verify.js";
import { makeEvent, streamOf } from "./support.js";

const isFull = process.env["ACP_TAMPER"] === "full";
const EVENTS = isFull ? 6_000 : 60;
const CASES = isFull ? 1_000 : inLane(40);
/** The last of the log among them. */
const FLIP_EVENTS = isFull ? 6_000 : inLane(25);
/** This only ends what hangs, also on a machine that stalls. */
const TIMEOUT = 3_600_000;
const KEY = generateNoteKey("tampered");

/** Random numbers that a failure can be repeated with. */
const SEED = Number(process.env["ACP_SEED"] ?? 1);
let state = SEED;
function random(below: number): number {
  state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
  return Math.floor((state / 2 ** 32) * below);
}

let directory = "";
let path = "";
let lines: readonly string[] = [];
let otherLines: readonly string[] = [];
let claims: CheckpointClaims = { notes: [], verifierKeys: [] };

async function makeLog(name: string): Promise<string> {
  const made = join(directory, name);
  const checkpoints = { signerKey: KEY.signerKey, origin: name, everyEvents: EVENTS / 6 };
  await using log = await openAuditLog({
    path: made,
    rotation: { maxBytes: EVENTS * 50 },
    checkpoints,
  });
  for (let number = 0; number < EVENTS; number += 2) {
    const metadata = {
      log: name,
      text: 'caf\u00e9 "\n\u2028',
      list: [number, 0.5, null],
      reason: `matched rule_${number % 7}`,
    };
    await log.append([
      makeEvent(number, { tool: `tool_${random(9)}`, metadata }),
      makeEvent(number + 1, { metadata: { reason: name } }),
    ]);
  }
  return made;
}

async function linesOf(log: string): Promise<readonly string[]> {
  const files = [...(await listArchives(log)).map((archive) => archive.path), log];
  return (await Promise.all(files.map((file) => readFile(file, "utf8"))))
    .join("")
    .trimEnd()
    .split("\n");
}

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "acp-tamper-"));
  path = await makeLog("audit.jsonl");
  lines = await linesOf(path);
  otherLines = await linesOf(await makeLog("other.jsonl"));
  claims = {
    notes: await readCheckpoints(`${path}.checkpoints`),
    verifierKeys: [KEY.verifierKey],
    origin: "audit.jsonl",
  };
  process.stdout.write(
    `tamper: seed ${SEED}, ${lines.length} events in ${(await listArchives(path)).length + 1} files, ${claims.notes.length} checkpoints\n`,
  );
}, TIMEOUT);

afterAll(() => rm(directory, { recursive: true, force: true }));

const verify = (
  changed: readonly string[],
  held: CheckpointClaims | undefined = claims,
): Promise<AuditVerification> =>
  verifyLines(splitLines(streamOf(changed.map((line) => `${line}\n`).join(""))), held);

/** Number of the first line, from 1, that is another one. */
function firstChange(changed: readonly string[]): number {
  const at = lines.findIndex((line, index) => line !== changed[index]);
  return (at === -1 ? lines.length : at) + 1;
}

const without = (at: number, count: number): readonly string[] => [
  ...lines.slice(0, at),
  ...lines.slice(at + count),
];
const withPut = (at: number, count: number, put: readonly string[]): readonly string[] => [
  ...lines.slice(0, at),
  ...put,
  ...lines.slice(at + count),
];

describe("verifyAuditLog()", () => {
  it("accepts the log that is tampered with below", async () => {
    expect(await verifyAuditLog(path, { checkpoints: claims })).toMatchObject({
      ok: true,
      events: EVENTS,
      checkpoints: { events: EVENTS },
    });
    expect(await verify(lines)).toMatchObject({ ok: true });
    expect(lines).toHaveLength(EVENTS);
  });

  it(`finds every flip of every bit of ${FLIP_EVENTS} events, on its line`, {
    timeout: TIMEOUT,
  }, async () => {
    let flips = 0;
    for (let seq = EVENTS - FLIP_EVENTS; seq < EVENTS; seq++) {
      const bytes = Buffer.from(
        `${lines[seq] ?? ""}\n${lines[seq + 1] ?? ""}${seq + 1 < EVENTS ? "\n" : ""}`,
      );
      const touched = Buffer.byteLength(lines[seq] ?? "") + 1;
      const ends = [touched - 1, ...(seq + 1 < EVENTS ? [bytes.length - 1] : [])];
      for (let at = 0; at < touched; at++) {
        for (let bit = 0; bit < 8; bit++) {
          bytes[at] = (bytes[at] ?? 0) ^ (1 << bit);
          const chain = walkChain({ firstSeq: seq });
          // A flip that makes or breaks the end of a line changes where lines end.
          const isEnd = at === touched - 1 || bytes[at] === 0x0a;
          const fault = isEnd ? await walkAnew(chain, bytes) : chain.walk({ bytes, ends });
          if (fault === undefined || chain.events() !== 0)
            throw new Error(`seq ${seq}, byte ${at}, bit ${bit}: ${JSON.stringify(fault)}`);
          bytes[at] = (bytes[at] ?? 0) ^ (1 << bit);
          flips += 1;
        }
      }
    }
    process.stdout.write(`tamper: ${flips} flips found\n`);
  });

  async function walkAnew(chain: ChainWalk, bytes: Buffer): Promise<AuditFault | undefined> {
    for await (const block of splitLines(streamOf(bytes))) {
      const fault = chain.walk(block);
      if (fault !== undefined) return fault;
    }
    return undefined;
  }

  const operations: Readonly<
    Record<
      string,
      () => { readonly changed: readonly string[]; readonly line?: number; readonly code?: string }
    >
  > = {
    "deleted lines": () => {
      const at = random(EVENTS - 1);
      const count = 1 + random(Math.min(20, EVENTS - at - 1));
      return { changed: without(at, count), code: "seq_broken" };
    },
    "inserted lines of another log": () => ({
      changed: withPut(random(EVENTS), 0, [otherLines[random(EVENTS)] ?? ""]),
      code: "?",
    }),
    "a forged line that fits before the next one": () => {
      const at = 1 + random(EVENTS - 1);
      const before = JSON.parse(lines[at - 1] ?? "");
      const forged = encodeEvent(makeEvent(7, { tool: "forged" }), {
        seq: at - 1,
        hash: before.event_hash,
      }).line;
      // It stands in the place of the last line that a checkpoint covers, or else the next line
      // does not fit.
      const isChecked = (at + 1) % (EVENTS / 6) === 0;
      return {
        changed: withPut(at, 0, [forged]),
        line: isChecked ? at + 1 : at + 2,
        code: isChecked ? "history_replaced" : "seq_broken",
      };
    },
    "lines in another order": () => {
      const [a, b] = [random(EVENTS), random(EVENTS)];
      const [from, to] = a === b ? [0, 1] : [Math.min(a, b), Math.max(a, b)];
      return {
        changed: withPut(from, to - from + 1, [
          lines[to] ?? "",
          ...lines.slice(from + 1, to),
          lines[from] ?? "",
        ]),
        code: "seq_broken",
      };
    },
    "an end that was cut off": () => {
      const end = random(EVENTS);
      return { changed: lines.slice(0, end), line: end + 1, code: "end_missing" };
    },
    "replaced lines": () => {
      const at = random(EVENTS);
      const isSealed = random(2) === 0;
      const changed = withPut(at, 1, [
        isSealed
          ? (otherLines[at] ?? "")
          : (lines[at] ?? "").replace(/"risk_level":"\w+"/, '"risk_level":"low"'),
      ]);
      if (!isSealed) return { changed, code: "hash_mismatch" };
      // In its own place a line of another log is only seen where it does not fit: to the line
      // before, to the next one, or to a checkpoint.
      return { changed, ...(at > 0 ? {} : { line: 2 }) };
    },
    "repeated lines": () => {
      const at = random(EVENTS);
      const line = lines[random(EVENTS)] ?? "";
      return line === lines[at]
        ? { changed: withPut(at, 0, [line]), line: at + 2 }
        : { changed: withPut(at, 0, [line]) };
    },
    "a log written anew from a line on": () => {
      const from = random(EVENTS);
      let head =
        from === 0
          ? undefined
          : { seq: from - 1, hash: JSON.parse(lines[from - 1] ?? "").event_hash };
      const anew = Array.from({ length: EVENTS - from }, (_, index) => {
        const encoded = encodeEvent(makeEvent(from + index, { tool: "forged" }), head);
        ({ head } = encoded);
        return encoded.line;
      });
      // Named is the first checkpoint that does not hold.
      const checked = (EVENTS / 6) * (Math.floor(from / (EVENTS / 6)) + 1);
      return {
        changed: [...lines.slice(0, from), ...anew],
        line: checked,
        code: "history_replaced",
      };
    },
  };

  it.each(Object.entries(operations))(
    `finds %s, ${CASES} times`,
    { timeout: TIMEOUT },
    async (_name, operation) => {
      for (let round = 0; round < CASES; round++) {
        const { changed, line = firstChange(changed), code } = operation();
        const { ok, firstBad } = await verify(changed);
        expect(ok).toBe(false);
        if (firstBad?.line !== line)
          throw new Error(
            `round ${round}, seed ${SEED}: line ${line} expected, ${JSON.stringify(firstBad)}`,
          );
        if (code !== undefined && code !== "?") expect(firstBad.code).toBe(code);
      }
    },
  );

  it(`finds swapped files, ${CASES} times`, { timeout: TIMEOUT }, async () => {
    const ours = await listArchives(path);
    const theirs = await listArchives(join(directory, "other.jsonl"));
    const swap = async (a: string, b: string): Promise<void> => {
      await rename(a, `${a}.swap`);
      await rename(b, a);
      await rename(`${a}.swap`, b);
    };
    for (let round = 0; round < CASES; round++) {
      const at = random(ours.length);
      const own = ours[at];
      const isForeign = round % 2 === 0;
      const other = isForeign ? theirs[at] : ours[(at + 1 + random(ours.length - 1)) % ours.length];
      if (own === undefined || other === undefined) throw new Error("no such file");
      await swap(own.path, other.path);
      const { ok, firstBad } = await verifyAuditLog(path, { checkpoints: claims });
      await swap(own.path, other.path);
      expect(ok).toBe(false);
      const first = Math.min(own.firstSeq, isForeign ? own.firstSeq : other.firstSeq);
      // The first file of another log starts like ours: then the first checkpoint, or the next
      // file, does not fit.
      if (first > 0)
        expect(firstBad).toMatchObject({
          line: 1,
          file: `audit.jsonl.${String(first).padStart(12, "0")}`,
        });
      else expect(["history_replaced", "chain_broken", "seq_broken"]).toContain(firstBad?.code);
    }
    expect(await verifyAuditLog(path, { checkpoints: claims })).toMatchObject({ ok: true });
  });
});

describe("verifyAuditLog() with checkpoints of witnesses", () => {
  it("finds two histories, though each log is whole", async () => {
    const theirs = await readCheckpoints(join(directory, "other.jsonl.checkpoints"));
    const both = { ...claims, notes: [...claims.notes, ...theirs] };
    // Signed under the same name, as by somebody who shows another log to others.
    const { origin: _, ...anyLog } = both;
    const found = await verify(lines, anyLog);
    expect(found).toMatchObject({
      ok: false,
      firstBad: { code: "two_histories", line: EVENTS / 6 },
    });
    expect(await verify(lines, both)).toMatchObject({
      ok: false,
      checkpoints: { firstBad: { number: claims.notes.length + 1 } },
    });
  });

  it("finds a log that was replaced by another one", async () => {
    expect(await verify(otherLines)).toMatchObject({
      ok: false,
      firstBad: { code: "history_replaced" },
    });
    expect(await verify([])).toMatchObject({
      ok: false,
      firstBad: { code: "end_missing", line: 1 },
    });
  });

  it("does not trust a checkpoint with another key or a changed byte", async () => {
    const stranger = { ...claims, verifierKeys: [generateNoteKey("tampered").verifierKey] };
    expect(await verify(lines, stranger)).toMatchObject({
      ok: false,
      events: EVENTS,
      checkpoints: { verified: 0, firstBad: { number: 1 } },
    });
    const changed = {
      ...claims,
      notes: claims.notes.map((note, index) =>
        index === 2 ? note.replace(/\n\d+\n/, "\n7\n") : note,
      ),
    };
    expect(await verify(lines, changed)).toMatchObject({
      ok: false,
      checkpoints: { firstBad: { number: 3 } },
    });
  });

  it("goes beyond the last checkpoint", async () => {
    const head = { seq: EVENTS - 1, hash: JSON.parse(lines.at(-1) ?? "").event_hash };
    const found = await verify([...lines, encodeEvent(makeEvent(1), head).line]);
    expect(found).toMatchObject({ ok: true, events: EVENTS + 1, checkpoints: { events: EVENTS } });
  });
});
