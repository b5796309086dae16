import fc from "fast-check";
import { writeFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { collect, makeEvent, makeLines, scratchLog } from "../test/support.js";
import type { AuditEventInput } from "@acp/core";
import { csvRow } from "./csv.js";
import { type ExportFormat, exportAuditLog } from "./export.js";
import { plainEntries } from "./plain-format.js";

async function exported(
  format: ExportFormat,
  events: readonly AuditEventInput[],
  filter = {},
): Promise<string> {
  const path = await scratchLog();
  await writeFile(path, (await makeLines(events)).map((line) => `${line}\n`).join(""));
  return (await collect(exportAuditLog(path, { format, filter }))).join("");
}

const NASTY = 'a\r\nb\u2028c\u2029d\u0085e\u202ef,"g"';

describe("exportAuditLog() as JSON lines", () => {
  it("gives the log's own lines", async () => {
    const events = [makeEvent(1), makeEvent(2, { tool: "caf\u00e9" })];
    const lines = (await exported("jsonl", events)).split("\n");
    expect(lines.slice(0, -1).map((line) => JSON.parse(line).tool)).toEqual([
      "write_file",
      "caf\u00e9",
    ]);
    expect(lines[0]).toMatch(/^\{"agent":"agent-1",.*"event_hash":"sha256:/);
  });

  it("escapes what some readers take for the end of a line, and nothing else", async () => {
    const text = await exported("jsonl", [makeEvent(1, { tool: NASTY })]);
    expect(text.split(/[\n\r\u0085\u2028\u2029]/)).toHaveLength(2);
    expect(JSON.parse(text).tool).toBe(NASTY);
    expect(text).toContain("\u202e");
  });

  it("gives what the filter lets through", async () => {
    const text = await exported("jsonl", [makeEvent(1), makeEvent(2, { agent: "other" })], {
      agent: "other",
    });
    expect(text.trimEnd().split("\n")).toHaveLength(1);
  });
});

/** RFC 4180, read by other code than what writes it. */
function parseCsv(text: string): readonly (readonly string[])[] {
  return text
    .split("\r\n")
    .slice(0, -1)
    .map((row) =>
      [...row.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^",]*))/g)].map(([, quoted, bare]) =>
        (quoted ?? bare ?? "").replaceAll('""', '"'),
      ),
    );
}

describe("exportAuditLog() as CSV", () => {
  it("writes a header and one row an event", async () => {
    const rows = parseCsv(
      await exported("csv", [makeEvent(1), makeEvent(2, { metadata: { text: 'x"y' } })]),
    );
    expect(rows[0]?.slice(0, 4)).toEqual(["seq", "timestamp", "event_type", "decision"]);
    expect(rows[1]?.slice(0, 4)).toEqual([
      "0",
      "2026-01-15T10:30:00.001Z",
      "policy_evaluated",
      "allow",
    ]);
    expect(rows.map((row) => row.length)).toEqual([14, 14, 14]);
    expect(rows[2]?.[12]).toBe(String.raw`{"text":"x\\"y"}`);
  });

  it("makes one line of whatever a name holds", () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: "binary" }), { minLength: 1 }), (cells) => {
        const row = csvRow(cells);
        expect(row.slice(0, -2)).not.toMatch(/[\p{Cc}\u2028\u2029\p{Cf}]/u);
        expect(parseCsv(row)[0]).toHaveLength(cells.length);
      }),
    );
    expect(csvRow([NASTY])).toBe('"a\\u000d\\u000ab\\u2028c\\u2029d\\u0085e\\u202ef,""g"""\r\n');
  });

  it.each(["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", " =1", "|cmd", "\uff1d1"])(
    "shows %j as text, never runs it",
    (cell) => {
      expect(csvRow([cell])).toMatch(/^"'/);
    },
  );

  it("leaves plain texts and numbers as they are", () => {
    expect(csvRow(["a=b", "write_file", -5])).toBe('"a=b","write_file",-5\r\n');
  });
});

describe("exportAuditLog() in the plain format", () => {
  const decided = (
    requestId: string,
    eventType: AuditEventInput["eventType"],
    fields: Partial<AuditEventInput> = {},
  ): AuditEventInput => makeEvent(9, { requestId, eventType, ...fields });
  const intercepted = (fields: Partial<AuditEventInput>): AuditEventInput =>
    makeEvent(1, { eventType: "tool_call_intercepted", decision: "", ...fields });

  async function entries(events: readonly AuditEventInput[]): Promise<readonly unknown[]> {
    return (await exported("v0.3", events))
      .trimEnd()
      .split("\n")
      .filter(Boolean)
      .map((line) => JSON.parse(line));
  }

  it("writes the entry of ACP v0.3 for a request that the policy decided", async () => {
    const parameters = { method: "CONNECT", host: "api.example.com", port: 443 };
    const found = await entries([
      intercepted({
        tool: "CONNECT",
        metadata: { kind: "http", server: "api.example.com", parameters },
      }),
      makeEvent(1, {
        tool: "CONNECT",
        decision: "allow",
        metadata: { reason: "Approved by rule" },
      }),
    ]);
    expect(found).toEqual([
      {
        timestamp: "2026-01-15T10:30:00.001Z",
        action: {
          name: "CONNECT",
          meta: { kind: "http", host: "api.example.com", method: "CONNECT", port: 443 },
        },
        verdict: { decision: "allow", reason: "Approved by rule" },
      },
    ]);
  });

  it("writes what people decided, once", async () => {
    const found = await entries([
      intercepted({ metadata: { kind: "tool", server: "files", parameters: { path: "/a" } } }),
      makeEvent(1, { decision: "ask" }),
      makeEvent(1, { eventType: "consent_requested", requestId: "cr_1", decision: "ask" }),
      decided("cr_1", "consent_denied", { metadata: { reason: "not now" } }),
      decided("cr_2", "consent_approved"),
      decided("cr_2", "consent_superseded"),
      decided("", "grant_used"),
      decided("", "tool_call_completed"),
    ]);
    expect(found).toMatchObject([
      {
        action: {
          name: "write_file",
          args: { path: "/a" },
          meta: { kind: "tool", server: "files" },
        },
        verdict: { decision: "deny", reason: "not now" },
      },
      {
        action: { name: "write_file" },
        verdict: { decision: "allow", reason: "Approved by human" },
      },
      { verdict: { decision: "allow" } },
    ]);
  });

  it("writes the action of the question that an edited one took the place of", async () => {
    const found = await entries([
      intercepted({ metadata: { kind: "tool", server: "files", parameters: { path: "/a" } } }),
      makeEvent(1, { eventType: "consent_requested", requestId: "cr_1", decision: "ask" }),
      decided("cr_1", "consent_superseded", { decision: "superseded" }),
      makeEvent(5, {
        eventType: "consent_requested",
        requestId: "cr_2",
        decision: "ask",
        metadata: { replaces: "cr_1" },
      }),
      decided("cr_2", "consent_approved"),
    ]);
    expect(found).toMatchObject([
      { action: { name: "write_file", args: { path: "/a" } }, verdict: { decision: "allow" } },
    ]);
  });

  it("forgets the oldest of very many calls without an end, and then writes its name", () => {
    const next = plainEntries();
    const parameters = { path: "/a" };
    for (let call = 0; call <= 10_000; call++)
      next(intercepted({ atMs: call, metadata: { kind: "tool", server: "files", parameters } }));
    expect(next(makeEvent(0, { atMs: 0 }))?.action).toEqual({ name: "write_file" });
    expect(next(makeEvent(0, { atMs: 1 }))?.action).toMatchObject({ args: { path: "/a" } });
  });

  it("keeps calls apart that run at the same time", async () => {
    const at = (start: number, responseTimeMs: number): Partial<AuditEventInput> => ({
      atMs: start + responseTimeMs,
      responseTimeMs,
    });
    const shell = (command: string): AuditEventInput["metadata"] => ({
      kind: "shell",
      server: "shell",
      parameters: { command, cwd: "/" },
    });
    const found = await entries([
      intercepted({ ...at(1_000, 0), metadata: shell("one") }),
      intercepted({ ...at(2_000, 0), metadata: shell("two") }),
      makeEvent(1, {
        ...at(1_000, 7),
        decision: "deny",
        metadata: { reason: "r", denied: "no such thing" },
      }),
      makeEvent(1, { ...at(2_000, 1), decision: "allow" }),
    ]);
    expect(found).toMatchObject([
      {
        action: { args: "one", meta: { kind: "shell", cwd: "/" } },
        verdict: { decision: "deny", reason: "no such thing" },
      },
      { action: { args: "two" }, verdict: { decision: "allow" } },
    ]);
  });
});
