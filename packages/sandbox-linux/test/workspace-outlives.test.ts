/**
 * What an agent leaves in its workspace is somebody's afterwards: what it may not make there,
 * whatever its permissions.
 */
import {
  chmodSync,
  chownSync,
  copyFileSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { namespaces, runShell } from "./namespace-kit.js";

const AGENT_UID = 61_007;
const isRoot = process.getuid?.() === 0;

let work: string;
beforeEach(() => {
  work = mkdtempSync(join(tmpdir(), "acp-outlives-"));
  chmodSync(work, 0o755);
  if (isRoot) chownSync(work, AGENT_UID, AGENT_UID);
});
afterEach(() => rmSync(work, { recursive: true }));

const options = () =>
  ({
    workspace: { path: work, access: "read-write" },
    ...(isRoot && { user: AGENT_UID }),
  }) as const;

/** Each way by which a file could get the set-user-ID bit; each prints what the system said. */
const WAYS: readonly (readonly [name: string, script: string])[] = [
  ["chmod", "cp /bin/true a; chmod 4755 a"],
  [
    "chmod of a name relative to a directory",
    `python3 -c 'import os; os.close(os.open("b", os.O_CREAT)); os.chmod("b", 0o4755, dir_fd=os.open(".", 0))'`,
  ],
  ["fchmod", `python3 -c 'import os; os.fchmod(os.open("c", os.O_CREAT), 0o4755)'`],
  [
    "creating it",
    `python3 -c 'import os; os.umask(0); os.open("d", os.O_CREAT | os.O_WRONLY, 0o4755)'`,
  ],
  [
    "a file without a name that gets one",
    `python3 -c 'import os; os.umask(0); f = os.open(".", os.O_TMPFILE | os.O_RDWR, 0o4755); os.link(f"/proc/self/fd/{f}", "e", follow_symlinks=True)'`,
  ],
  ["mknod", `python3 -c 'import os, stat; os.umask(0); os.mknod("f", stat.S_IFREG | 0o4755)'`],
  [
    "openat2",
    `python3 -c '
import ctypes, os, struct
os.umask(0)
how = ctypes.create_string_buffer(struct.pack("QQQ", os.O_CREAT | os.O_WRONLY, 0o4755, 0))
libc = ctypes.CDLL(None, use_errno=True)
assert libc.syscall(437, -100, b"g", how, 24) >= 0, os.strerror(ctypes.get_errno())'`,
  ],
  ["unpacking an archive", "cp /bin/true h; tar -cf x.tar --mode=4755 h; rm h; tar -xpf x.tar"],
];

describe.skipIf(!namespaces.run)(`a workspace that outlives its agent ${namespaces.reason}`, () => {
  it.each(WAYS)("has no file that runs as its owner, made by %s", async (_name, script) => {
    const { output } = await runShell(`(${script}) 2>&1; echo ended`, options());
    expect(output).toMatch(/not permitted|not implemented|Function not/u);
    const set = readdirSync(work).filter(
      (name) => (statSync(join(work, name)).mode & 0o4000) !== 0,
    );
    expect(set).toEqual([]);
  });

  it("leaves modes that run as nobody else alone", async () => {
    copyFileSync("/bin/true", join(work, "tool"));
    if (isRoot) chownSync(join(work, "tool"), AGENT_UID, AGENT_UID);
    const { output } = await runShell(
      "chmod 755 tool && mkdir d && chmod 1777 d && chmod g+s d && cp -p tool d/ && stat -c %a tool d",
      options(),
    );
    expect(output).toBe("755\n3777\n");
  });
});
