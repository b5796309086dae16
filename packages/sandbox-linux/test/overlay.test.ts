/**
 * Agents that write into an overlay: they see what they wrote, and their workspace stays as it was.
 */
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createLandlockSandbox, createNamespaceSandbox } from "../src/backends.js";
import { overlayHelper } from "../src/native-helper.js";
import { namespaces, runShell, startAgent } from "./namespace-kit.js";
import { overlayWorld } from "./overlay-kit.js";

const FILES = {
  "a.txt": "one\n",
  "folder/b.txt": "two\n",
  ".git/hooks/pre-push": "three\n",
  "run.sh": "#!/bin/sh\n",
};

describe.skipIf(!namespaces.run)(`an overlay ${namespaces.reason}`, () => {
  it("takes everything that an agent does, and leaves the workspace as it was, at level full", async () => {
    await using world = overlayWorld(FILES);
    const before = world.look();
    const script = `set -e
      echo more >> a.txt; rm -r folder; mkdir folder; echo x > folder/c; mv run.sh walk.sh; chmod 700 walk.sh; echo x > .git/hooks/pre-commit
      ln -s /etc/passwd link; mkfifo pipe; mkdir deep; echo x > .envrc; cat a.txt; ls -A . folder`;
    const { output, exit, report } = await runShell(script, world.options);
    expect([exit.code, report.level]).toEqual([0, "full"]);
    expect(output.split(/\s+/u)).toEqual(
      expect.arrayContaining(["one", "more", "c", "walk.sh", ".envrc", "link"]),
    );
    expect(world.look()).toEqual(before);
    expect(readFileSync(join(world.layers, "upper/a.txt"), "utf8")).toBe("one\nmore\n");
    expect(report.items.find(({ aspect }) => aspect === "files")?.reason).toContain(
      "kept apart until you take it",
    );
  });

  it("goes on where the last agent with these layers ended", async () => {
    await using world = overlayWorld(FILES);
    await runShell("echo first > x; rm a.txt", world.options);
    const { output } = await runShell(
      "cat x; ls a.txt 2>&1 | wc -l; test -e a.txt || echo gone",
      world.options,
    );
    expect(output.trim().split("\n")).toEqual(["first", "1", "gone"]);
  });

  it("shows an agent neither the layers nor the workspace below", async () => {
    await using world = overlayWorld(FILES);
    const script = `echo x > new; find / -xdev -name upper 2>/dev/null; umount "${world.work}" 2>&1 | wc -l; ls "${world.home}" 2>&1 | wc -l
      for fd in /proc/self/fd/*; do [ -d "$fd" ] && readlink "$fd"; done | grep -v ^/proc; ls -l /proc/1/fd 2>&1 | grep -c layers`;
    const { output } = await runShell(script, world.options);
    expect(output.trim().split("\n")).toEqual(["1", "1", "0"]);
  });

  it("closes its layers to everybody but the agent's user and who can enter the home", async () => {
    await using world = overlayWorld(FILES);
    await runShell("umask 0; echo x > new", world.options);
    expect((statSync(world.layers).mode & 0o777).toString(8)).toBe("700");
    expect((statSync(world.home).mode & 0o777).toString(8)).toBe("700");
  });

  it("refuses a device, and attributes by which an agent would forge what is the kernel's", async () => {
    await using world = overlayWorld(FILES);
    const script = `mknod dev c 0 0 2>&1 | wc -l; mkdir made; python3 - <<'END'
import os
for name in ("opaque", "redirect", "metacopy", "whiteout"):
    try: os.setxattr("made", "user.overlay." + name, b"y")
    except OSError: pass
END
      ls -A folder`;
    const { output } = await runShell(script, world.options);
    expect(output.trim().split("\n")).toEqual(["1", "b.txt"]);
    expect(existsSync(join(world.layers, "upper/dev"))).toBe(false);
  });

  it("starts nothing where the layers are in no hidden place, or the backend has no overlay", async () => {
    await using world = overlayWorld(FILES);
    const open = { ...world.options, hidden: [] };
    await expect(startAgent(["true"], open)).rejects.toMatchObject({
      code: "options_invalid",
      message: expect.stringContaining("hidden place"),
    });
    await expect(createLandlockSandbox(world.options).probe()).rejects.toMatchObject({
      code: "options_invalid",
    });
    await expect(
      createNamespaceSandbox({
        ...world.options,
        hidden: [world.home],
        readable: [join(world.work, "folder")],
      }).probe(),
    ).resolves.toMatchObject({
      level: "full",
    });
  });

  it("starts nothing where there can be no overlay, and says why", async () => {
    await using world = overlayWorld(FILES);
    mkdirSync(join(world.layers), { mode: 0o700 });
    mkdirSync(join(world.layers, "upper"));
    // of another mount than upper, or no directory of ours
    symlinkSync("/tmp", join(world.layers, "work"));
    await expect(startAgent(["true"], world.options)).rejects.toMatchObject({
      code: expect.stringMatching(/sandbox_failed|options_invalid/u),
    });
  });

  it("never mounts what took the workspace's name", async () => {
    await using world = overlayWorld({ ...FILES, "folder/secret": "x" });
    const other = join(world.home, "other");
    mkdirSync(other);
    chmodSync(other, 0o755);
    const starting = runShell("ls", world.options);
    renameSync(world.work, `${world.work}-old`);
    symlinkSync(other, world.work);
    await expect(starting).rejects.toMatchObject({
      code: expect.stringMatching(/sandbox_failed|options_invalid|sandbox_unavailable/u),
    });
    expect(readdirSync(other)).toEqual([]);
  });

  it("lays its overlay over just the folder that is held open, and through no link", async () => {
    await using world = overlayWorld(FILES);
    mkdirSync(join(world.layers, "upper"), { recursive: true });
    mkdirSync(join(world.layers, "work"));
    const helper = await overlayHelper();
    if (!helper.isAvailable) throw new Error(helper.reason);
    const lay = (path: string, held: string): string => {
      const fds = [openSync(held, "r"), openSync(world.layers, "r")];
      const words = [
        "--workspace",
        path,
        "--expect",
        "3",
        "--layers",
        "4",
        "--report",
        "5",
        "--",
        "/bin/true",
      ];
      const { output } = spawnSync(helper.path, words, {
        stdio: ["ignore", "pipe", "pipe", ...fds, "pipe"],
        encoding: "utf8",
      });
      for (const fd of fds) closeSync(fd);
      return output[5] ?? "";
    };
    expect(lay(world.work, world.work)).toMatch(/^mounted \d+ \d+\n$/u);
    expect(lay(join(world.work, "folder"), world.work)).toContain(
      "failed cannot open the workspace: it was exchanged",
    );
    symlinkSync(world.work, `${world.work}-link`);
    expect(lay(`${world.work}-link`, world.work)).toMatch(/^failed cannot open the workspace: /u);
    expect(lay(join(`${world.work}-link`, "folder"), join(world.work, "folder"))).toMatch(
      /^failed cannot open the workspace: /u,
    );
  });
});
