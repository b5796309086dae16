import { appendFile, chmod, readFile, stat, writeFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import type { AuditEventInput } from "@acp/core";
import { makeEvent, scratchLog } from "../test/support.js";
import { openAuditLog } from "./audit-log.js";
import { sha256 } from "./codec.js";
import { openPlainLog } from "./plain-log.js";

const entriesOf = async (path: string): Promise<readonly unknown[]> =>
  (await readFile(path, "utf8"))
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line));

const intercepted = (fields: Partial<AuditEventInput>): AuditEventInput =>
  makeEvent(1, { eventType: "tool_call_intercepted", decision: "", ...fields });

const ENTRY =
  '{"timestamp":"2026-01-15T10:30:00.000Z","action":{"name":"CONNECT"},"verdict":{"decision":"allow","reason":"r"}}';

describe("openPlainLog()", () => {
  it("writes the entry of ACP v0.3 §6.2 for a request, and nothing for what decides nothing", async () => {
    const path = await scratchLog();
    await using log = await openPlainLog({ path });
    const parameters = { method: "CONNECT", host: "api.example.com", port: 443 };
    const receipt = await log.append([
      intercepted({
        tool: "CONNECT",
        metadata: { kind: "http", server: "api.example.com", parameters },
      }),
      makeEvent(1, { tool: "CONNECT", metadata: { reason: "Approved by human" } }),
      makeEvent(1, { eventType: "tool_call_forwarded" }),
    ]);
    const line =
      '{"timestamp":"2026-01-15T10:30:00.001Z","action":{"name":"CONNECT","meta":{"kind":"http","host":"api.example.com","method":"CONNECT","port":443}},' +
      '"verdict":{"decision":"allow","reason":"Approved by human"}}';
    expect(await readFile(path, "utf8")).toBe(`${line}\n`);
    expect(receipt).toEqual({ seq: 0, hash: sha256(line) });
    expect((await stat(path)).mode & 0o777).toBe(0o600);
  });

  it("answers with no line while nothing was decided", async () => {
    const path = await scratchLog();
    await using log = await openPlainLog({ path });
    expect(await log.append([intercepted({})])).toEqual({ seq: -1, hash: sha256("") });
    await expect(log.append([])).rejects.toMatchObject({ code: "audit_failed" });
    expect(await entriesOf(path)).toEqual([]);
  });

  it("takes the action as it was at the call, and writes a person's decision with it later", async () => {
    const path = await scratchLog();
    await using log = await openPlainLog({ path });
    const parameters = { path: "/a" };
    await log.append([
      intercepted({ metadata: { kind: "tool", server: "files", parameters } }),
      makeEvent(1, { eventType: "consent_requested", requestId: "cr_1", decision: "ask" }),
    ]);
    parameters.path = "/b";
    await log.append([makeEvent(9, { eventType: "consent_approved", requestId: "cr_1" })]);
    expect(await entriesOf(path)).toMatchObject([
      { action: { name: "write_file", args: { path: "/a" } }, verdict: { decision: "allow" } },
    ]);
  });

  it("makes one line of whatever a name holds, and refuses what has no JSON form", async () => {
    const path = await scratchLog();
    await using log = await openPlainLog({ path });
    await log.append([makeEvent(1, { tool: 'a\r\nb\u2028c\u2029d\u0085e","g"' })]);
    await expect(
      log.append([makeEvent(2), makeEvent(3, { tool: "\ud800" })]),
    ).rejects.toMatchObject({ code: "audit_failed" });
    const text = await readFile(path, "utf8");
    expect(text.split(/[\n\r\u0085\u2028\u2029]/)).toHaveLength(2);
    expect(JSON.parse(text)).toMatchObject({
      action: { name: 'a\r\nb\u2028c\u2029d\u0085e","g"' },
    });
  });

  it("goes on after the entries of another writer, and numbers its own after them", async () => {
    const path = await scratchLog();
    await writeFile(path, `${ENTRY}\n${ENTRY}\n`, { mode: 0o600 });
    await using log = await openPlainLog({ path });
    expect(log.recovered).toBeUndefined();
    expect((await log.append([makeEvent(1)])).seq).toBe(2);
    expect(await entriesOf(path)).toHaveLength(3);
  });

  it.each([
    ["after whole lines", `${ENTRY}\n`, '{"timestamp":"2026-01-15T10:3', 1],
    ["in the first line", "", '{"time', 0],
  ])("cuts a torn line %s, and says what it cut", async (_, whole, torn, seq) => {
    const path = await scratchLog();
    await writeFile(path, whole + torn, { mode: 0o600 });
    await using log = await openPlainLog({ path });
    expect(log.recovered).toEqual({ bytes: torn.length, hash: sha256(torn) });
    expect(await readFile(path, "utf8")).toBe(whole);
    expect((await log.append([makeEvent(1)])).seq).toBe(seq);
  });

  it.each([
    ["text", "my only copy"],
    ["a line of text", "my only copy\n"],
    ["another format", '{"agent":"a"}\n'],
    ["no UTF-8", new Uint8Array([0xff, 0x0a])],
  ])("does not touch a file that holds %s", async (_, content) => {
    const path = await scratchLog();
    await writeFile(path, content, { mode: 0o600 });
    const before = await readFile(path);
    await expect(openPlainLog({ path })).rejects.toMatchObject({
      code: "audit_failed",
      message: expect.stringContaining("ACP v0.3"),
    });
    expect(await readFile(path)).toEqual(before);
  });

  it("does not take a chained log for one of its own, nor the other way round", async () => {
    const path = await scratchLog();
    await using chained = await openAuditLog({ path });
    await chained.append([makeEvent(1)]);
    await expect(openPlainLog({ path })).rejects.toMatchObject({ code: "audit_busy" });
    await chained.close();
    await expect(openPlainLog({ path })).rejects.toMatchObject({ code: "audit_failed" });
    const plain = await scratchLog();
    await using log = await openPlainLog({ path: plain });
    await log.append([makeEvent(1)]);
    await log.close();
    await expect(openAuditLog({ path: plain })).rejects.toMatchObject({ code: "audit_failed" });
  });

  it("refuses a file that others may read", async () => {
    const path = await scratchLog();
    await writeFile(path, `${ENTRY}\n`, { mode: 0o600 });
    await chmod(path, 0o644);
    await expect(openPlainLog({ path })).rejects.toMatchObject({
      code: "audit_failed",
      message: expect.stringContaining("chmod 600"),
    });
  });

  it("refuses everything once something else wrote into the file", async () => {
    const path = await scratchLog();
    await using log = await openPlainLog({ path });
    await log.append([makeEvent(1)]);
    await appendFile(path, "{");
    await expect(log.append([makeEvent(2)])).rejects.toMatchObject({ code: "audit_failed" });
    await expect(log.append([makeEvent(3)])).rejects.toMatchObject({ code: "audit_failed" });
  });
});
