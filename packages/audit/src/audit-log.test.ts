import { execFileSync } from "node:child_process";
import {
  appendFile,
  chmod,
  chown,
  link,
  mkdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  truncate,
  writeFile,
} from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { makeEvent, makeLines, scratchDirectory, scratchLog } from "../test/support.js";
import { openAuditLog } from "./audit-log.js";
import { sha256 } from "./codec.js";
import { verifyAuditLog } from "./verify.js";

async function openAndClose(path: string): Promise<void> {
  await (await openAuditLog({ path })).close();
}

async function writtenLog(more: string | Uint8Array = ""): Promise<string> {
  const path = await scratchLog();
  await writeFile(
    path,
    (await makeLines([makeEvent(1), makeEvent(2)])).map((line) => `${line}\n`).join(""),
    { mode: 0o600 },
  );
  await appendFile(path, more);
  return path;
}

describe("openAuditLog()", () => {
  it("makes a file that only its owner can read or write", async () => {
    const path = await scratchLog();
    await using log = await openAuditLog({ path });
    expect(log).toMatchObject({ path, start: undefined, recovered: undefined });
    expect((await stat(path)).mode & 0o777).toBe(0o600);
  });

  it("goes on where the log ended", async () => {
    const path = await scratchLog();
    const first = await openAuditLog({ path });
    const receipt = await first.append([makeEvent(1), makeEvent(2)]);
    await first.close();
    await using second = await openAuditLog({ path });
    expect(second.start).toEqual(receipt);
    expect((await second.append([makeEvent(3)])).seq).toBe(2);
    expect(await verifyAuditLog(path)).toMatchObject({ ok: true, events: 3 });
  });

  it("keeps another writer out until it is closed", async () => {
    const path = await scratchLog();
    const log = await openAuditLog({ path });
    await expect(openAuditLog({ path })).rejects.toMatchObject({ code: "audit_busy" });
    await log.close();
    await openAndClose(path);
  });

  it("lets the next writer in after an opening that failed", async () => {
    const path = await writtenLog("{}\n");
    await expect(openAuditLog({ path })).rejects.toMatchObject({ code: "audit_failed" });
    await expect(openAuditLog({ path })).rejects.toMatchObject({ code: "audit_failed" });
  });

  it("cuts a torn last line and records its length and hash", async () => {
    const torn = '{"agent":"a\u00e9';
    const path = await writtenLog(torn);
    const clock = { now: () => Date.UTC(2026, 1, 1), monotonic: () => 0 };
    await using log = await openAuditLog({ path, clock, ids: { next: (prefix) => `${prefix}_7` } });
    const cut = { bytes: Buffer.byteLength(torn), hash: sha256(torn) };
    expect(log).toMatchObject({ recovered: cut, start: { seq: 2 } });
    const last = JSON.parse((await readFile(path, "utf8")).trimEnd().split("\n").at(-1) ?? "");
    expect(last).toMatchObject({
      event_type: "log_recovered",
      id: "ae_7",
      timestamp: "2026-02-01T00:00:00.000Z",
    });
    expect(last.metadata).toEqual({ seq: 2, cut_bytes: cut.bytes, cut_hash: cut.hash });
    await log.append([makeEvent(3)]);
    expect(await verifyAuditLog(path)).toMatchObject({ ok: true, events: 4 });
  });

  it("cuts zeros that a power loss left, also more of them than the record is long", async () => {
    const path = await writtenLog(new Uint8Array(200_000));
    await openAndClose(path);
    expect(await verifyAuditLog(path)).toMatchObject({ ok: true, events: 3 });
  });

  it("records a torn first line", async () => {
    const path = await scratchLog();
    await writeFile(path, '{"agen', { mode: 0o600 });
    await openAndClose(path);
    expect(await verifyAuditLog(path)).toMatchObject({ ok: true, events: 1 });
  });

  it("does not cut a file that is no log", async () => {
    const path = await scratchLog();
    await writeFile(path, "my only copy", { mode: 0o600 });
    await expect(openAuditLog({ path })).rejects.toMatchObject({
      code: "audit_failed",
      message: expect.stringContaining("not an audit log"),
    });
    expect(await readFile(path, "utf8")).toBe("my only copy");
  });

  it.each([
    ["no event", "{}\n", "not_canonical|schema_invalid"],
    ["empty", "\n", "not_json"],
    ["no UTF-8", new Uint8Array([0xff, 0x0a]), "not_json"],
    ["no event before a torn one", '{}\n{"agent"', "schema_invalid"],
  ])(
    "refuses a log whose last full line is %s, and leaves it as it is",
    async (_name, more, code) => {
      const path = await writtenLog(more);
      const before = await readFile(path);
      await expect(openAuditLog({ path })).rejects.toMatchObject({
        code: "audit_failed",
        message: expect.stringMatching(
          new RegExp(`its last line is bad \\((${code})\\); run \`acp audit verify\``),
        ),
      });
      expect(await readFile(path)).toEqual(before);
    },
  );

  it("refuses a last line that was changed", async () => {
    const path = await writtenLog();
    await writeFile(path, (await readFile(path, "utf8")).replaceAll("write_file", "read_files"));
    await expect(openAuditLog({ path })).rejects.toMatchObject({
      code: "audit_failed",
      message: expect.stringContaining("hash_mismatch"),
    });
  });

  it.each([0o644, 0o660, 0o602])("refuses a file of mode %o, with the fix", async (mode) => {
    const path = await writtenLog();
    await chmod(path, mode);
    await expect(openAuditLog({ path })).rejects.toMatchObject({
      code: "audit_failed",
      message: expect.stringContaining("chmod 600"),
    });
  });

  it.each([0o770, 0o702, 0o1777])("refuses a directory of mode %o, with the fix", async (mode) => {
    const path = await scratchLog();
    await chmod(dirname(path), mode);
    await expect(openAuditLog({ path })).rejects.toMatchObject({
      code: "audit_failed",
      message: expect.stringContaining("chmod go-w"),
    });
  });

  it("refuses a directory that does not exist", async () => {
    const path = join(await scratchDirectory(), "none", "audit.jsonl");
    await expect(openAuditLog({ path })).rejects.toMatchObject({
      code: "audit_failed",
      message: expect.stringContaining("directory does not exist"),
    });
  });

  it("refuses a symbolic link, a second name, a pipe and a directory", async () => {
    const path = await writtenLog();
    const at = (name: string): string => join(dirname(path), name);
    await symlink(path, at("symlink"));
    await symlink(at("nowhere"), at("dangling"));
    execFileSync("mkfifo", ["-m", "600", at("pipe")]);
    await mkdir(at("directory"), { mode: 0o700 });
    const refusal = async (name: string): Promise<unknown> =>
      openAuditLog({ path: at(name) }).catch((error: unknown) => error);
    expect(await refusal("symlink")).toMatchObject({
      code: "audit_failed",
      message: expect.stringContaining("symbolic link"),
    });
    expect(await refusal("dangling")).toMatchObject({
      code: "audit_failed",
      message: expect.stringContaining("symbolic link"),
    });
    expect(await refusal("pipe")).toMatchObject({
      code: "audit_failed",
      message: expect.stringContaining("not a file"),
    });
    expect(await refusal("directory")).toMatchObject({ code: "audit_failed" });
    await link(path, at("second"));
    expect(await refusal("second")).toMatchObject({
      code: "audit_failed",
      message: expect.stringContaining("hard link"),
    });
  });

  it("refuses a file and a directory of another user", async ({ skip }) => {
    if (process.getuid?.() !== 0) skip("only root can give files away");
    const path = await writtenLog();
    await chown(path, 65534, 65534);
    await expect(openAuditLog({ path })).rejects.toMatchObject({
      code: "audit_failed",
      message: expect.stringContaining("another user"),
    });
    const other = await scratchLog();
    await chown(dirname(other), 65534, 65534);
    await expect(openAuditLog({ path: other })).rejects.toMatchObject({
      code: "audit_failed",
      message: expect.stringContaining("another user"),
    });
  });
});

describe("append()", () => {
  it.each([
    ["removed", (path: string) => rm(path)],
    ["moved away", (path: string) => rename(path, `${path}.1`)],
    ["cut short", (path: string) => truncate(path, 10)],
    ["written by somebody else", (path: string) => appendFile(path, "x")],
  ])("is refused for good once the file was %s", async (_name, spoil) => {
    const path = await scratchLog();
    await using log = await openAuditLog({ path });
    await log.append([makeEvent(1)]);
    await spoil(path);
    await expect(log.append([makeEvent(2)])).rejects.toMatchObject({ code: "audit_failed" });
    await expect(log.append([makeEvent(3)])).rejects.toMatchObject({ code: "audit_failed" });
  });

  it("is refused for good once the file was replaced by one of the same size", async () => {
    const path = await scratchLog();
    await using log = await openAuditLog({ path });
    await log.append([makeEvent(1)]);
    const text = await readFile(path);
    await rename(path, `${path}.1`);
    await writeFile(path, text, { mode: 0o600 });
    await expect(log.append([makeEvent(2)])).rejects.toMatchObject({
      code: "audit_failed",
      message: expect.stringContaining("replaced"),
    });
    expect(await readFile(path)).toEqual(text);
  });
});
