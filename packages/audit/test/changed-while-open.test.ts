/** A log that somebody changes while it is open: the next append finds it, and none is taken. */
import { appendFile, open, readFile, truncate, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { faultOf, openAuditLog, verifyAuditLog } from "../src/index.js";
import type { AuditLog } from "../src/index.js";
import { makeEvent, manualTime, scratchDirectory } from "./support.js";

const COUNT = 5;

async function opened(
  rotation?: { readonly maxBytes: number },
  fields: Parameters<typeof makeEvent>[1] = {},
): Promise<AuditLog> {
  const path = join(await scratchDirectory(), "audit.jsonl");
  const log = await openAuditLog({
    path,
    clock: manualTime(0),
    ...(rotation !== undefined && { rotation }),
  });
  for (let number = 0; number < COUNT; number++) await log.append([makeEvent(number, fields)]);
  return log;
}

/** Writes bytes in place; the size stays. */
async function poke(path: string, at: number, bytes: string): Promise<void> {
  await using handle = await open(path, "r+");
  await handle.write(bytes, at);
  // Whatever the file system's clock ticks in, this is another time.
  await handle.utimes(1, 1);
}

const add = (log: AuditLog): Promise<unknown> =>
  log.append([makeEvent(99)]).catch((error: unknown) => error);

describe("append() to a log that somebody else", () => {
  it("changed in place, or filled with NUL, is refused with the line, and every later one", async () => {
    for (const bytes of ["X", "\0".repeat(20)]) {
      await using log = await opened();
      const text = await readFile(log.path, "utf8");
      await poke(log.path, text.indexOf("write_file"), bytes);
      const error = await add(log);
      expect(error).toMatchObject({ code: "audit_failed" });
      expect(faultOf(error)).toMatchObject({ line: 1 });
      await writeFile(log.path, text);
      expect(await add(log)).toMatchObject({ code: "audit_failed" });
      expect(await readFile(log.path, "utf8")).toBe(text);
    }
  });

  it("wrote anew with a chain of its own is refused", async () => {
    await using log = await opened();
    const text = await readFile(log.path, "utf8");
    await using other = await opened(undefined, { tool: "other_file" });
    await other.close();
    const same = await readFile(other.path, "utf8");
    expect(same.length).toBe(text.length);
    await poke(log.path, 0, same);
    expect(faultOf(await add(log))).toMatchObject({ line: COUNT, code: "chain_broken" });
  });

  it("made shorter, longer or away is refused", async () => {
    for (const change of [
      (path: string) => truncate(path, 10),
      (path: string) => appendFile(path, "x"),
    ]) {
      await using log = await opened();
      await change(log.path);
      expect(await add(log)).toMatchObject({ code: "audit_failed" });
    }
  });

  it("only touched goes on, also over a rotation", async () => {
    await using log = await opened({ maxBytes: 1_500 });
    for (let number = 0; number < 12; number++) {
      await utimes(log.path, number, number);
      expect(await add(log)).not.toBeInstanceOf(Error);
    }
    expect(await verifyAuditLog(log.path)).toMatchObject({ ok: true, events: COUNT + 12 });
  });
});

it("faultOf() is nothing for other errors", () => {
  expect([
    faultOf(undefined),
    faultOf(new Error("x")),
    faultOf(new Error("x", { cause: 1 })),
  ]).toEqual([undefined, undefined, undefined]);
});
