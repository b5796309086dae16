import { spawnSync } from "node:child_process";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { openAuditLog, readAuditLog, verifyAuditLog } from "../src/index.js";
import { makeEvent, scratchDirectory, scratchLog } from "./support.js";
import { runWriter } from "./writer-process.js";

/** Every append of a run is made to fail in turn. More of them: ACP_EIO=50. */
const EIO_APPENDS = Number(process.env["ACP_EIO"] ?? "4");
const EIO_WRITES = Array.from({ length: EIO_APPENDS }, (_, index) => index + 1);

/** More of them: ACP_FULL_DISKS=100. */
const FULL_DISKS = Number(process.env["ACP_FULL_DISKS"] ?? "6");

/** Whether strace can follow a process here. */
const canTrace = spawnSync("strace", ["-f", "-e", "trace=none", "true"]).status === 0;

function expectAcknowledgedOnly(path: string, acknowledged: readonly string[]): Promise<void> {
  return (async () => {
    const found: string[] = [];
    for await (const { seq, hash } of readAuditLog(path)) found.push(`${seq} ${hash}`);
    expect(found.at(-1)).toBe(acknowledged.at(-1));
    expect(found).toEqual(expect.arrayContaining([...acknowledged]));
    expect(await verifyAuditLog(path)).toMatchObject({ ok: true });
  })();
}

describe("a disk that fails", () => {
  it("refuses everything after a write that the system cut short (file size limit), and takes its bytes back", {}, async () => {
    const path = await scratchLog();
    const limited = ["sh", "-c", 'ulimit -f 4096; exec "$@"', "sh"];
    const { lines } = await runWriter([path, 1_000, 2, 50_000], { under: limited });
    expect(lines.at(-1)).toMatch(
      /^failed Cannot append to audit log .*: EFBIG: file too large; nothing is recorded until you fix this and open the log again$/,
    );
    const acknowledged = lines.slice(0, -1);
    expect(acknowledged.length).toBeGreaterThan(5);
    await expectAcknowledgedOnly(path, acknowledged);
    const log = await openAuditLog({ path });
    expect(log.recovered).toBeUndefined();
    await log.append([makeEvent(1)]);
    await log.close();
    expect(await verifyAuditLog(path)).toMatchObject({ ok: true });
  });

  it("refuses everything after the disk is full, and goes on once there is space and the log is opened again", async ({
    skip,
  }) => {
    const directory = join(await scratchDirectory(), "disk");
    await mkdir(directory);
    if (
      spawnSync("mount", ["-t", "tmpfs", "-o", "size=256k,mode=700", "tmpfs", directory]).status !==
      0
    )
      skip("only root can mount a small disk");
    onTestFinished(() => void spawnSync("umount", ["-l", directory]));
    const [path, ballast] = [join(directory, "audit.jsonl"), join(directory, "ballast")];
    await writeFile(ballast, Buffer.alloc(100_000));
    const full = await openAuditLog({ path });
    const acknowledged: string[] = [];
    const filler = "x".repeat(3_000);
    const filling = async (): Promise<void> => {
      for (let number = 0; ; number++) {
        const { seq, hash } = await full.append([makeEvent(number, { metadata: { filler } })]);
        acknowledged.push(`${seq} ${hash}`);
      }
    };
    await expect(filling()).rejects.toMatchObject({
      code: "audit_failed",
      message: expect.stringContaining("ENOSPC: no space left on device"),
    });
    await rm(ballast);
    await expect(full.append([makeEvent(0)])).rejects.toMatchObject({ code: "audit_failed" });
    await full.close();
    await expectAcknowledgedOnly(path, acknowledged);
    await using again = await openAuditLog({ path });
    expect((await again.append([makeEvent(0)])).seq).toBe(acknowledged.length);
  });

  it(`refuses everything after a disk that is full at any byte, over ${FULL_DISKS} disks`, {}, async ({
    skip,
  }) => {
    const directory = join(await scratchDirectory(), "disk");
    await mkdir(directory);
    if (
      spawnSync("mount", ["-t", "tmpfs", "-o", "size=128k,mode=700", "tmpfs", directory]).status !==
      0
    )
      skip("only root can mount a small disk");
    onTestFinished(() => void spawnSync("umount", ["-l", directory]));
    const [path, ballast] = [join(directory, "audit.jsonl"), join(directory, "ballast")];
    for (let disk = 0; disk < FULL_DISKS; disk++) {
      await writeFile(path, "", { mode: 0o600 });
      // Pages are 4 KiB: the write that meets the end is another one, and cut at another byte, for
      // every length of event.
      await writeFile(ballast, Buffer.alloc(64 * 1024 + (disk % 12) * 4_096));
      const log = await openAuditLog({ path });
      const acknowledged: string[] = [];
      const metadata = { filler: "x".repeat(100 + disk * 37) };
      let failure: unknown;
      while (failure === undefined)
        await log.append([makeEvent(disk, { metadata }), makeEvent(disk)]).then(
          ({ seq, hash }) => acknowledged.push(`${seq} ${hash}`),
          (error: unknown) => {
            failure = error;
          },
        );
      expect(failure).toMatchObject({
        code: "audit_failed",
        message: expect.stringContaining("ENOSPC"),
      });
      await rm(ballast);
      await expect(log.append([makeEvent(0)])).rejects.toMatchObject({ code: "audit_failed" });
      await log.close();
      await expectAcknowledgedOnly(path, acknowledged);
      await using again = await openAuditLog({ path });
      expect(again.recovered).toBeUndefined();
      await again.append([makeEvent(0)]);
      await again.close();
      expect(await verifyAuditLog(path)).toMatchObject({ ok: true });
      await rm(path);
    }
  });

  it.each(EIO_WRITES)("refuses everything after write %i failed (EIO)", async (when) => {
    if (!canTrace) return;
    const path = await scratchLog();
    await writeFile(path, "", { mode: 0o600 });
    const failing = [
      "strace",
      "-f",
      "-qq",
      "-o",
      "/dev/null",
      "-P",
      path,
      "-e",
      "trace=write",
      "-e",
      `inject=write:error=EIO:when=${when}+`,
    ];
    const { lines } = await runWriter([path, EIO_APPENDS], {
      under: failing,
      env: { UV_THREADPOOL_SIZE: "1" },
    });
    expect(lines).toHaveLength(when);
    expect(lines.at(-1)).toMatch(/^failed .*EIO: i\/o error; nothing is recorded/);
    await expectAcknowledgedOnly(path, lines.slice(0, -1));
  });

  it("has made file, name and bytes durable before an append resolves", async ({ skip }) => {
    if (!canTrace) skip("strace is missing or not allowed");
    const path = await scratchLog();
    const traceFile = join(dirname(path), "trace");
    const tracing = [
      "strace",
      "-f",
      "-qq",
      "-y",
      "-s",
      "12",
      "-o",
      traceFile,
      "-e",
      "trace=openat,fsync,fdatasync,write,pwrite64",
    ];
    await runWriter([path, 2], { under: tracing, env: { UV_THREADPOOL_SIZE: "1" } });
    expect(stepsOf(await readFile(traceFile, "utf8"), path)).toEqual([
      "create",
      "sync file",
      "sync directory",
      "write",
      "acknowledge",
      "write",
      "acknowledge",
    ]);
  });
});

/** The system calls about the log, in words. */
function stepsOf(trace: string, path: string): readonly string[] {
  const directory = dirname(path);
  const steps: readonly (readonly [string, (call: string) => boolean])[] = [
    [
      "create",
      (call) =>
        call.startsWith("openat(") && call.includes(`"${path}"`) && /O_CREAT.*O_DSYNC/.test(call),
    ],
    ["sync file", (call) => call.startsWith("fsync(") && call.includes(`<${path}>`)],
    ["sync directory", (call) => call.startsWith("fsync(") && call.includes(`<${directory}>`)],
    ["write", (call) => /^p?write(64)?\(/.test(call) && call.includes(`<${path}>`)],
    ["datasync", (call) => call.startsWith("fdatasync(") && call.includes(`<${path}>`)],
    ["acknowledge", (call) => call.startsWith("write(1<")],
  ];
  const calls = trace.split("\n").map((line) => line.replace(/^\d+ +/, ""));
  return calls.flatMap((call) => steps.find(([, matches]) => matches(call))?.[0] ?? []);
}
