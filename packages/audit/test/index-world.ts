/** What the tests of the index share: logs of every kind of event, and all that is asked of one. */
import { rm, writeFile } from "node:fs/promises";
import { basename } from "node:path";
import type { AuditEventInput } from "@acp/core";
import { STATE_KINDS } from "@acp/core/unstable";
import fc from "fast-check";
import { expect } from "vitest";
import { isDeep } from "../../../tools/deep.js";
import type { AuditFilter } from "../src/filter.js";
import { readLastMarks } from "../src/last-marks.js";
import { openIndexFile, readIndex } from "../src/log-index/index-file.js";
import { openIndexWriter } from "../src/log-index/index-writer.js";
import { listArchives, openParts } from "../src/log-parts.js";
import { writeOpenWork } from "../src/open-work.js";
import { readAuditLog, readAuditLogBackward } from "../src/read.js";
import { findOpenWork } from "../src/recover.js";
import { growTree } from "../src/tree-edge.js";
import { collect, makeEvent } from "./support.js";

/** Seals the indexes of these tests. */
export const KEY: Uint8Array = new Uint8Array(32).fill(7);
/** Of another home. */
export const OTHER_KEY: Uint8Array = new Uint8Array(32).fill(8);

/** A state's hash. */
export const HASH = `sha256:${"ab".repeat(32)}`;

/** Small, so that a log of few events has spans and joined tables, too. */
export const SIZES = { spanLines: 2, joinTables: 3 };

const AGENTS = ["agent-1", "agent-2", 'we"ird\n'];
const TOOLS = ["read_file", "write_file"];
const DECISIONS = ["allow", "deny", "ask", ""];
const TYPES: readonly AuditEventInput["eventType"][] = [
  "policy_evaluated",
  "consent_requested",
  "consent_approved",
  "consent_denied",
  "tool_call_forwarded",
  "tool_call_completed",
  "vault_changed",
  "state_saved",
  "keys_rotated",
  "home_restored",
  "gate_notice",
  "log_opened",
];

/** An event of some type; a number of questions recurs. */
export const anyEvent: fc.Arbitrary<Partial<AuditEventInput>> = fc
  .record({
    eventType: fc.constantFrom(...TYPES),
    agent: fc.constantFrom(...AGENTS),
    tool: fc.constantFrom(...TOOLS),
    decision: fc.constantFrom(...DECISIONS),
    question: fc.integer({ min: 0, max: 6 }),
    atMs: fc.integer({ min: 1_000_000, max: 1_000_100 }),
    // Whatever an agent puts into its arguments may look like fields of the line.
    file: fc.constantFrom(...STATE_KINDS, "none"),
    counter: fc.constantFrom(0, 1, 2, 3, -1, 2 ** 53),
    argument: fc.constantFrom("", ',"policy_rule":"x', ',"metadata":{', "ä\u2028", '"call":"ae_'),
    call: fc.constantFrom(undefined, "ae_11111111-2", "ae_22222222-3"),
    people: fc.constantFrom({}, { approver: "ann" }, { approvers: ["ann", 'b"o]b'] }),
  })
  .map(({ question, argument, call, file, counter, people, ...fields }) => ({
    ...fields,
    requestId: question === 0 ? "" : `cr_${question}`,
    metadata: {
      notice: "policy_reloaded",
      file,
      counter,
      hash: HASH,
      vault_hash: HASH,
      keys_hash: HASH,
      files: [
        { file, counter, hash: HASH },
        { file: "vault", counter: 1, hash: HASH },
      ],
      open_questions: [],
      argument,
      ...people,
      ...(call !== undefined && { call }),
      before: { call: "ae_33333333-4" },
      nested: { metadata: {}, policy_rule: argument, call: argument, approvers: ["eve"] },
    },
  }));

/** Events with ids of their own. */
export function eventsOf(fields: readonly Partial<AuditEventInput>[]): readonly AuditEventInput[] {
  return fields.map((each, number) => makeEvent(number, { id: `ae_11111111-${number}`, ...each }));
}

const EVERY_FILTER: readonly AuditFilter[] = [
  {},
  { requestId: "cr_1" },
  { requestId: ["cr_2", "cr_3", "cr_none"] },
  { requestId: "" },
  { requestId: "cr_none" },
  { agent: "agent-1" },
  { agent: 'we"ird\n', tool: "write_file" },
  { tool: "read_file", decision: "deny" },
  { agent: "agent-2", decision: "ask" },
  { agent: "agent-2", tool: "read_file", decision: "allow" },
  { eventType: "vault_changed" },
  { eventType: ["state_saved", "home_restored", "none"] },
  { eventType: "consent_requested", requestId: "cr_4" },
  { sinceMs: 1_000_050 },
  { untilMs: 1_000_020, agent: "agent-1" },
  { sinceMs: 1_000_020, untilMs: 1_000_040 },
  { eventType: ["vault_changed", "log_opened"] },
  { id: "ae_11111111-2" },
  { id: "ae_11111111-23" },
  { id: "ae_1" },
  { id: "ae_22222222-3" },
  { approver: "ann" },
  { approver: 'b"o]b', agent: "agent-1" },
  { approver: "eve" },
  { fromSeq: 3 },
  { fromSeq: 2, beforeSeq: 7, agent: "agent-1" },
];
/** When it is asked: some of the events are later. */
const NOWS_MS = [undefined, 2_000_000, 1_000_060 - 1_000];

/** In the quick lane one of each kind. */
const FILTERS = isDeep ? EVERY_FILTER : EVERY_FILTER.filter((_, at) => at % 3 === 1);

/** Every answer that a log gives: with the key by its index, without it by reading all. */
async function answersOf(path: string, indexKey: Uint8Array | undefined): Promise<unknown> {
  const found: unknown[] = [];
  for (const filter of FILTERS)
    for (const nowMs of isTimed(filter) ? NOWS_MS : [undefined]) {
      const options = { filter, nowMs, indexKey };
      const forward = await hashesOf(readAuditLog(path, options));
      const backward = await hashesOf(readAuditLogBackward(path, options));
      expect(backward.toReversed()).toEqual(forward);
      found.push({ filter, nowMs, forward });
    }
  const marks = await readLastMarks(path, indexKey === undefined ? {} : { indexKey });
  return { found, marks };
}

const isTimed = ({ sinceMs, untilMs }: AuditFilter): boolean =>
  sinceMs !== undefined || untilMs !== undefined;

async function hashesOf(
  events: AsyncIterable<{ readonly hash: string }>,
): Promise<readonly string[]> {
  return (await collect(events)).map(({ hash }) => hash);
}

/** Look-ups by the index give what reading everything gives. */
export async function expectSameAnswers(path: string): Promise<void> {
  expect(await answersOf(path, KEY)).toEqual(await answersOf(path, undefined));
}

/** How often an index took over what it had and read only what is behind it. */
export async function bringUp(path: string, everyEvents = 3): Promise<void> {
  const { edge, events } = await fullTree(path);
  const writer = await openIndexWriter({
    path,
    key: KEY,
    now: () => 5,
    nextSeq: events,
    everyEvents,
    closeEventsMin: 1,
    sizes: SIZES,
  });
  try {
    expect(writer?.edge()).toEqual(edge);
    const work = writer?.work();
    expect(work === undefined ? undefined : writeOpenWork(work)).toEqual(
      writeOpenWork(await findOpenWork(path)),
    );
    await writer?.written();
  } finally {
    await writer?.close();
  }
}

async function fullTree(
  path: string,
): Promise<{ readonly edge: unknown; readonly events: number }> {
  await using log = await openParts(path);
  const tree = growTree();
  for (const part of log.parts)
    for await (const { bytes, ends } of part.blocks()) {
      let start = 0;
      for (const end of ends) {
        tree.add(bytes, start, end);
        start = end + 1;
      }
    }
  return { edge: tree.edge(), events: tree.size() };
}

/** Puts lines in the place of a log: in files that start at these numbers. */
export async function putLog(
  path: string,
  lines: readonly string[],
  starts: readonly number[] = [],
): Promise<void> {
  for (const archive of await listArchives(path)) await rm(archive.path);
  const cuts = [...new Set([0, ...starts.filter((start) => start < lines.length)])].sort(
    (one, other) => one - other,
  );
  for (const [index, from] of cuts.entries()) {
    const to = cuts[index + 1];
    const name = to === undefined ? path : `${path}.${String(from).padStart(12, "0")}`;
    await writeFile(
      name,
      lines
        .slice(from, to)
        .map((line) => `${line}\n`)
        .join(""),
      { mode: 0o600 },
    );
  }
  expect(basename(path)).toBe("audit.jsonl");
}

/** Records that the index has, and how many bytes of the log they cover. */
export async function recordsOf(
  path: string,
): Promise<
  readonly { readonly seq: number; readonly nextSeq: number; readonly checkedMs: number }[]
> {
  const handle = await openIndexFile(path, "read");
  if (handle === undefined) return [];
  try {
    const found = [];
    for await (const each of readIndex(handle, path, { key: KEY }))
      if (each !== undefined) found.push(each.record.stretch);
    return found;
  } finally {
    await handle.close();
  }
}
