/**
 * What outlasts an agent of `acp run`: files of its workspace that other programs run by
 * themselves.
 */
import { execFile } from "node:child_process";
import { chmod, mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { EXIT_CODES } from "../src/exit-codes.js";
import { isolationsOf, needSandbox, runWorld } from "./run-world.js";

/** In a workspace, as its owner. */
async function asPerson(work: string, ...command: readonly string[]): Promise<void> {
  const { uid } = await stat(work);
  const who =
    process.getuid?.() === 0
      ? ["setpriv", `--reuid=${uid}`, `--regid=${uid}`, "--clear-groups", "--"]
      : [];
  const [program = "", ...args] = [...who, ...command];
  await promisify(execFile)(program, args, {
    cwd: work,
    env: { ...process.env, HOME: "/nonexistent" },
  });
}

const NAMESPACE = needSandbox("namespace");

describe.skipIf(!NAMESPACE.run)(`the workspace of acp run ${NAMESPACE.reason}`, () => {
  it("keeps what was there, and sets aside what is new, to the person's knowledge and the log's", async () => {
    await using world = await runWorld();
    await world.write(".envrc", "before\n");
    await mkdir(join(world.work, ".vscode"));
    const script =
      "echo x > .envrc; echo x > .vscode/tasks.json; echo x > .npmrc; echo x > a.txt; exit 7";
    const { code, stderr } = await world.run(["sh", "-c", script]);
    expect(code).toBe(7);
    expect(stderr).toContain(".npmrc → .npmrc.set-aside.\n");
    expect((await readdir(world.work)).sort()).toEqual([
      ".envrc",
      ".npmrc.set-aside",
      ".vscode",
      "a.txt",
    ]);
    expect(await readdir(join(world.home, "left-behind"))).toEqual([]);
    expect(await readFile(join(world.work, ".envrc"), "utf8")).toBe("before\n");
    expect(await readFile(join(world.work, "a.txt"), "utf8")).toBe("x\n");
    const notices = (await world.events()).map(({ metadata }) => metadata["notice"]);
    expect(notices).toContain("left_behind");
  });

  it("goes on when a person configures Git meanwhile, and takes that for theirs", async () => {
    await using world = await runWorld();
    const git = async (...args: readonly string[]): Promise<unknown> =>
      await asPerson(world.work, "git", ...args);
    await git("init", "-q");
    const running = world.start([
      "sh",
      "-c",
      "echo up; while [ ! -e go ]; do sleep 0.1; done; echo x >> .git/config || echo refused; exit 7",
    ]);
    await running.seen("stdout", "up");
    await git("config", "remote.origin.url", "https://example.com/x");
    await running.seen(
      "stderr",
      ".git/config was replaced outside while the command ran, and is read-only for it again",
    );
    await world.write("go", "");
    const { code, stdout, stderr } = await running.ended;
    expect([code, stdout]).toEqual([7, "up\nrefused\n"]);
    expect(stderr).not.toContain("set-aside");
    expect(await readFile(join(world.work, ".git/config"), "utf8")).toContain(
      "https://example.com/x",
    );
    expect((await world.events()).map(({ metadata }) => metadata["notice"])).toContain(
      "held_replaced",
    );
  });

  it("ends the command where nobody can say who wrote what a person replaced, and sets it aside", async () => {
    await using world = await runWorld();
    await world.write(".envrc", "before\n", 0o666);
    const running = world.start(["sh", "-c", "echo up; sleep 600"]);
    await running.seen("stdout", "up");
    await asPerson(world.work, "sed", "-i", "s/before/after/", ".envrc");
    const { code, stderr } = await running.ended;
    expect(code).toBe(EXIT_CODES.not_run.code);
    expect(stderr).toContain(
      `"${world.work}/.envrc": the agent may have written the new one before it was stopped`,
    );
    expect(stderr).toContain(".envrc → .envrc.set-aside.\n");
    expect(await readdir(world.work)).toEqual([".envrc.set-aside"]);
    expect(await readdir(join(world.home, "left-behind"))).toEqual([]);
  });

  it("gives back what --write names", async () => {
    await using world = await runWorld();
    for (const name of [".envrc", ".npmrc"]) await world.write(name, "before\n", 0o666);
    const { stderr } = await world.run(["sh", "-c", "echo after > .envrc; echo after > .npmrc"], {
      args: ["--write", ".envrc"],
    });
    expect(await readFile(join(world.work, ".envrc"), "utf8")).toBe("after\n");
    expect(await readFile(join(world.work, ".npmrc"), "utf8")).toBe("before\n");
    expect(stderr).not.toContain("set-aside");
  });

  it("holds what was there before hundreds of repositories that an agent made, and says what it does not hold", async () => {
    await using world = await runWorld();
    const folder = join(world.work, "a/b/c");
    await mkdir(join(folder, ".git/hooks"), { recursive: true });
    for (const name of ["objects", "refs"]) await mkdir(join(folder, ".git", name));
    await writeFile(join(folder, ".git/HEAD"), "ref: refs/heads/main\n");
    await writeFile(join(folder, ".git/config"), "[core]\n\tbare = false\n", { mode: 0o666 });
    await chmod(join(folder, ".git/config"), 0o666);
    const flood = `for i in $(seq 100); do mkdir -p r$i/.git/hooks r$i/.git/objects r$i/.git/refs
      echo x > r$i/.git/HEAD; echo "[core]" > r$i/.git/config; done`;
    expect((await world.run(["sh", "-c", flood])).stderr).not.toContain("set-aside");
    const { stderr } = await world.run([
      "sh",
      "-c",
      "for each in a/b/c r99; do echo '[alias] x = !y' >> $each/.git/config; done",
    ]);
    expect(await readFile(join(folder, ".git/config"), "utf8")).toBe("[core]\n\tbare = false\n");
    expect(stderr).toMatch(
      /level partial: places of the workspace .* are not held: \d+, such as .*Name a smaller workspace/u,
    );
    expect(stderr).toContain("r99/.git/config → r99/.git/config.set-aside");
    expect(isolationsOf(await world.events())).toEqual(["full:namespace", "partial:namespace"]);
  });

  it("sets aside what an agent left whose manager was killed, at the next start", async () => {
    await using world = await runWorld();
    const running = world.start(["sh", "-c", "echo x > .npmrc; echo ready; sleep 600"]);
    await running.seen("stdout", "ready");
    running.child.kill("SIGKILL");
    await running.ended;
    expect(await readdir(world.work)).toEqual([".npmrc"]);
    const { stderr } = await world.run(["/bin/true"]);
    expect(stderr).toContain(`.npmrc → .npmrc.set-aside. Folder: ${world.work}\n`);
    expect(await readdir(world.work)).toEqual([".npmrc.set-aside"]);
    expect(await readdir(join(world.home, "left-behind"))).toEqual([]);
  });
});

describe.skipIf(!NAMESPACE.run)(`the private home of acp run ${NAMESPACE.reason}`, () => {
  it("is there again under its name, and under no other", async () => {
    await using world = await runWorld();
    const home = async (args: readonly string[]): Promise<string> =>
      (
        await world.run(
          ["sh", "-c", 'cat ~/.login 2>/dev/null || echo none; echo "logged in" > ~/.login'],
          { args },
        )
      ).stdout;
    expect(await home(["--private-home", "claude"])).toBe("none\n");
    expect(await home(["--private-home", "claude"])).toBe("logged in\n");
    expect(await home(["--private-home", "claude", "--sandbox", "landlock"])).toBe("logged in\n");
    expect(await home(["--private-home", "codex"])).toBe("none\n");
    expect(await home([])).toBe("none\n");
  });

  it.each(["..", ".ssh", "a/b", "x".repeat(65)])("has a name of its own: not %j", async (name) => {
    await using world = await runWorld();
    const { code, stderr } = await world.run(["/bin/true"], { args: ["--private-home", name] });
    expect([code, stderr]).toEqual([
      EXIT_CODES.not_run.code,
      expect.stringContaining("Cannot keep a home named"),
    ]);
  });
});
