import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openAuditLog } from "@acp/audit";
import { logEvent } from "@acp/core";
import type { AuditEventType, JsonObject } from "@acp/core";
import { afterEach, describe, expect, it } from "vitest";
import { readHistory } from "./history.js";

const folders: string[] = [];

async function newHome(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "acp-"));
  folders.push(folder);
  return folder;
}

afterEach(async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true });
});

type Row = readonly [type: AuditEventType, requestId: string, atMs: number, metadata: JsonObject];

async function write(path: string, rows: readonly Row[]): Promise<void> {
  await using log = await openAuditLog({ path });
  for (const [index, [type, requestId, atMs, metadata]] of rows.entries())
    await log.append([{ ...logEvent(type, { id: `ae_${index}`, atMs }, metadata), requestId }]);
}

const asked = (id: string, atMs: number): Row => [
  "consent_requested",
  id,
  atMs,
  { request: { id } },
];

describe("readHistory()", () => {
  it("is what ended in every log of the home, newest first, with the answers", async () => {
    const home = await newHome();
    const responses = [{ decision: "approved" }];
    await write(join(home, "audit.jsonl"), [
      asked("cr_1", 1_000),
      asked("cr_2", 2_000),
      asked("cr_open", 2_500),
      ["consent_denied", "cr_2", 3_000, { approvers: ["ada"] }],
      ["consent_approved", "cr_1", 6_000, { approvers: ["ada"], responses }],
    ]);
    await write(join(home, "audit.2.jsonl"), [
      asked("cr_3", 1_000),
      [
        "consent_approved",
        "cr_3",
        4_000,
        { approvers: ["bob"], approved_parameters: {}, responses: [] },
      ],
    ]);
    const entries = await readHistory(home, 10);
    expect(
      entries.map(({ request, status, atMs, approvers }) => [
        request["id"],
        status,
        atMs,
        approvers,
      ]),
    ).toEqual([
      ["cr_1", "approved", 6_000, ["ada"]],
      ["cr_3", "approved_with_modifications", 4_000, ["bob"]],
      ["cr_2", "denied", 3_000, ["ada"]],
    ]);
    expect(entries[0]?.responses).toEqual(responses);
    expect((await readHistory(home, 1)).map(({ request }) => request["id"])).toEqual(["cr_1"]);
  });

  it("keeps the newest of many", async () => {
    const home = await newHome();
    const rows = Array.from({ length: 9 }, (_, at): readonly Row[] => [
      asked(`cr_${at}`, at * 10),
      ["consent_expired", `cr_${at}`, at * 10 + 5, {}],
    ]);
    await write(join(home, "audit.jsonl"), rows.flat());
    expect((await readHistory(home, 2)).map(({ request }) => request["id"])).toEqual([
      "cr_8",
      "cr_7",
    ]);
  });

  it("leaves out what a log does not hold whole, and is nothing without a log", async () => {
    const home = await newHome();
    expect(await readHistory(home, 10)).toEqual([]);
    await write(join(home, "audit.jsonl"), [
      ["consent_requested", "cr_1", 1_000, {}],
      ["consent_approved", "cr_1", 2_000, {}],
    ]);
    expect(await readHistory(home, 10)).toEqual([]);
  });

  it("says so where a log cannot be read", async () => {
    const home = await newHome();
    await writeFile(join(home, "audit.jsonl"), "no line of a log\n", { mode: 0o600 });
    await expect(readHistory(home, 10)).rejects.toMatchObject({ name: "ConsentError" });
  });
});
