import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createNamespaceSandbox } from "./namespace.js";
import {
  bwrapCommand,
  findNamespaceHost,
  insideCommand,
  type NamespaceHost,
} from "./namespace-host.js";

/** Where the tools of the host are looked for; left out: where they are. */
const host = vi.hoisted((): { directory: string | undefined } => ({ directory: undefined }));
vi.mock(import("./tools.js"), async (importOriginal) => {
  const real = await importOriginal();
  return {
    ...real,
    findTool: (name, reach) =>
      real.findTool(host.directory === undefined ? name : join(host.directory, name), reach),
  };
});

const user = { uid: 61_006, gid: 61_007, name: "x", home: "/" };
const isRoot = process.getuid?.() === 0;

let scratch: string;
beforeEach(async () => {
  scratch = await mkdtemp(join(tmpdir(), "acp-host-"));
  await chmod(scratch, 0o755);
});
afterEach(async () => {
  host.directory = undefined;
  await rm(scratch, { recursive: true, force: true });
});

async function fake(name: string, text: string, mode = 0o755): Promise<void> {
  await writeFile(join(scratch, name), `#!/bin/sh\n${text}\n`);
  await chmod(join(scratch, name), mode);
  host.directory = scratch;
}

/** A bubblewrap that cannot; setpriv is there for root. */
async function fakeBwrap(stderr: string): Promise<void> {
  await fake("setpriv", 'while [ "$1" != -- ]; do shift; done; shift; exec "$@"');
  await fake("bwrap", `echo '${stderr}' >&2; exit 1`);
}

describe("findNamespaceHost()", () => {
  it("says what to install where there is no bubblewrap", async () => {
    host.directory = scratch;
    expect(await findNamespaceHost(user)).toMatchObject({
      reason: expect.stringContaining("not installed"),
      fix: expect.stringContaining("bubblewrap"),
    });
  });

  it.each([0o4755, 0o2755])("refuses a bubblewrap with mode %i", async (mode) => {
    await fake("bwrap", "exit 0", mode);
    expect(await findNamespaceHost(user)).toMatchObject({
      reason: expect.stringContaining("setuid"),
    });
  });

  it.each([
    [
      "bwrap: Creating new namespace failed: nesting depth or /proc/sys/user/max_*_namespaces exceeded (ENOSPC)",
      "max_user_namespaces",
    ],
    ["bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted", "AppArmor"],
    ["bwrap: setting up uid map: Permission denied", "AppArmor"],
    ["bwrap: Unknown option --disable-userns", "Install bubblewrap 0.8"],
    ["bwrap: No permissions to create a new namespace", "unprivileged_userns_clone"],
    ["bwrap: Can not mount proc on /newroot/proc: Operation not permitted", "unmasked /proc"],
  ])("repeats what bubblewrap says, with a way out: %s", async (stderr, fix) => {
    await fakeBwrap(stderr);
    expect(await findNamespaceHost(user)).toEqual({
      reason: expect.stringContaining(stderr),
      fix: expect.stringContaining(fix),
    });
  });

  it("gives an unavailable report, and a start that throws sandbox_unavailable", async () => {
    await fakeBwrap("bwrap: it is Sunday");
    const sandbox = createNamespaceSandbox();
    const report = await sandbox.probe();
    expect(report).toMatchObject({
      isAvailable: false,
      level: "none",
      reason: expect.stringContaining("Sunday"),
    });
    expect(report.items.map(({ enforcement }) => enforcement)).toEqual(
      report.items.map(() => "none"),
    );
    const run = sandbox.spawn(["true"], { onConnection: () => undefined, env: () => ({}) });
    await expect(run).rejects.toMatchObject({
      code: "sandbox_unavailable",
      message: expect.stringContaining("Sunday"),
    });
  });
});

describe("bwrapCommand(), insideCommand()", () => {
  const made = (variant: NamespaceHost["variant"]): NamespaceHost => ({
    bwrap: "/b/bwrap",
    setpriv: "/b/setpriv",
    variant,
  });

  it("become the user before bubblewrap, or inside of it where there are no user namespaces", () => {
    expect(bwrapCommand(made("own"), user)).toEqual(["/b/bwrap"]);
    const drop = ["--reuid=61006", "--regid=61007", "--clear-groups", "--inh-caps=-all"];
    expect(bwrapCommand(made("dropped"), user)).toEqual(["/b/setpriv", ...drop, "--", "/b/bwrap"]);
    expect(bwrapCommand(made("rooted"), user)).toEqual(["/b/bwrap"]);
    expect(insideCommand(made("rooted"), user)).toEqual([
      "/b/setpriv",
      ...drop,
      "--bounding-set=-all",
      "--no-new-privs",
      "--",
    ]);
    expect(insideCommand(made("dropped"), user)).toEqual([]);
  });
});

describe("findNamespaceHost() and who could have written bubblewrap", () => {
  it("takes no bubblewrap from PATH", async () => {
    await fake("bwrap", "exit 0");
    host.directory = undefined;
    vi.stubEnv("PATH", scratch);
    const found = await findNamespaceHost(user);
    vi.unstubAllEnvs();
    expect("reason" in found ? found.reason : found.bwrap).not.toContain(scratch);
  });

  it("refuses one that somebody else could have written, and does not say that it should be installed", async () => {
    await fake("bwrap", "exit 0", 0o777);
    expect(await findNamespaceHost(user)).toEqual({
      reason: expect.stringContaining("is writable by all users"),
      fix: expect.not.stringContaining("Install"),
    });
  });
});

it.skipIf(!isRoot)("needs root: setpriv is required of a root manager", async () => {
  await fake("bwrap", "exit 0");
  expect(await findNamespaceHost(user)).toMatchObject({
    reason: expect.stringContaining("setpriv"),
  });
});
