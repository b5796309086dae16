import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, statSync } from "node:fs";
import { chmod, mkdir, mkdtemp, readdir, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { markProcess, pidNamespace } from "./process-tree.js";
import { openSession, sessionsDirectory, sweepSessions } from "./session.js";

let scratch: string;
let base: string;
beforeEach(async () => {
  scratch = await realpath(await mkdtemp(join(tmpdir(), "acp-session-")));
  base = join(scratch, "sessions");
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await rm(scratch, { recursive: true, force: true });
});

const modeOf = (path: string): number => statSync(path).mode & 0o777;

/** The directory of a session whose manager is gone. */
async function leaveOver(record: object | undefined, namespace = pidNamespace()): Promise<string> {
  const child = spawn("/bin/sleep", ["600"]);
  await once(child, "spawn");
  const start = markProcess(child.pid ?? 0)?.start;
  child.kill("SIGKILL");
  await once(child, "exit");
  const id = `${namespace}-${child.pid}-${start}-0123abcd`;
  await mkdir(join(base, id), { recursive: true, mode: 0o711 });
  if (record !== undefined) await writeFile(join(base, id, "session.json"), JSON.stringify(record));
  return id;
}

describe("openSession()", () => {
  it("makes a directory with our files and the given ones, for reading only", async () => {
    const file = join(scratch, "given");
    await writeFile(file, "text", { mode: 0o600 });
    const session = await openSession({ sandbox: "env", base, files: { "given.txt": file } });
    expect([modeOf(base), modeOf(session.directory), modeOf(session.inside)]).toEqual([
      0o711, 0o711, 0o755,
    ]);
    expect(modeOf(join(session.directory, "session.json"))).toBe(0o600);
    expect(modeOf(join(session.inside, "first-stage.cjs"))).toBe(0o644);
    expect(modeOf(join(session.inside, "acp"))).toBe(0o755);
    expect(readFileSync(join(session.inside, "given.txt"), "utf8")).toBe("text");
    await session[Symbol.asyncDispose]();
    expect(await readdir(base)).toEqual([]);
  });

  it.each(["../up", "a/b", "", ".hidden", "first-stage.cjs", "a\nb"])(
    "throws options_invalid for a file named %j",
    async (name) => {
      const file = join(scratch, "given");
      await writeFile(file, "text");
      await expect(
        openSession({ sandbox: "env", base, files: { [name]: file } }),
      ).rejects.toMatchObject({ code: "options_invalid" });
      expect(await readdir(base)).toEqual([]);
    },
  );

  it("throws sandbox_failed where the place is a link, or others may write it", async () => {
    await mkdir(join(scratch, "elsewhere"));
    await symlink(join(scratch, "elsewhere"), base);
    await expect(openSession({ sandbox: "env", base })).rejects.toMatchObject({
      code: "sandbox_failed",
    });
    await rm(base);
    await mkdir(base);
    await chmod(base, 0o777);
    await expect(openSession({ sandbox: "env", base })).rejects.toMatchObject({
      code: "sandbox_failed",
    });
    await chmod(base, 0o711);
    // without the sticky bit anybody may put another directory in its place
    await chmod(scratch, 0o777);
    await expect(openSession({ sandbox: "env", base })).rejects.toMatchObject({
      code: "sandbox_failed",
    });
    await chmod(scratch, 0o1777);
    await expect(openSession({ sandbox: "env", base })).resolves.toBeDefined();
  });

  it("keeps a record of what is added", async () => {
    const session = await openSession({ sandbox: "uid", base });
    await session.record({ cgroups: ["/sys/fs/cgroup/acp-x"] });
    await session.record({ nftTable: "acp_x" });
    const text = readFileSync(join(session.directory, "session.json"), "utf8");
    expect(JSON.parse(text)).toEqual({
      sandbox: "uid",
      cgroups: ["/sys/fs/cgroup/acp-x"],
      nftTable: "acp_x",
    });
  });
});

describe("sweepSessions()", () => {
  it("removes the sessions of managers that are gone, and only those", async () => {
    const ours = await openSession({ sandbox: "env", base });
    const [dead, bare] = [
      await leaveOver({ sandbox: "env", cgroups: [] }),
      await leaveOver(undefined),
    ];
    const foreign = await leaveOver({ sandbox: "env", cgroups: [] }, "4711");
    await mkdir(join(base, "something-else"));
    const swept = await sweepSessions({ base });
    expect([...swept].sort()).toEqual([dead, bare].sort());
    expect((await readdir(base)).sort()).toEqual([ours.id, foreign, "something-else"].sort());
  });

  it("keeps a session whose table nobody takes back, and one whose record cannot be read", async () => {
    const table = await leaveOver({ sandbox: "uid", cgroups: [], nftTable: "acp_1" });
    const broken = await leaveOver({ cgroups: "all" });
    expect(await sweepSessions({ base })).toEqual([]);
    const asked: (string | undefined)[] = [];
    const release = async ({ nftTable }: { readonly nftTable?: string }): Promise<boolean> =>
      asked.push(nftTable) > 1;
    expect(await sweepSessions({ base, release })).toEqual([]);
    expect(await sweepSessions({ base, release })).toEqual([table]);
    expect(asked).toEqual(["acp_1", "acp_1"]);
    expect(await readdir(base)).toEqual([broken]);
  });

  it("deletes nothing that a record names and that is not a control group of ours", async () => {
    const victim = join(scratch, "acp-victim");
    await mkdir(victim);
    await leaveOver({ sandbox: "env", cgroups: [victim] });
    expect(await sweepSessions({ base })).toEqual([]);
    expect(existsSync(victim)).toBe(true);
  });

  it("kills what was started with the session's name and did not die with its manager", async () => {
    const id = await leaveOver({ sandbox: "namespace", cgroups: [] });
    const child = spawn("/bin/sh", ["-c", "sleep 600; true", id]);
    await once(child, "spawn");
    const exit = once(child, "exit");
    await sweepSessions({ base });
    expect(await exit).toEqual([null, "SIGKILL"]);
  });

  it("finds nothing where there is nothing", async () => {
    expect(await sweepSessions({ base: join(scratch, "none") })).toEqual([]);
  });
});

describe("sessionsDirectory()", () => {
  it("is root's own, or the user's runtime or temporary directory", () => {
    vi.stubEnv("XDG_RUNTIME_DIR", scratch);
    const isRoot = process.getuid?.() === 0;
    expect(sessionsDirectory()).toBe(isRoot ? "/run/acp-sandbox" : join(scratch, "acp-sandbox"));
    vi.stubEnv("XDG_RUNTIME_DIR", "relative");
    expect(sessionsDirectory()).toBe(
      isRoot ? "/run/acp-sandbox" : join(tmpdir(), `acp-sandbox-${process.getuid?.()}`),
    );
  });
});
