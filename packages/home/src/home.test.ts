import { chmod, chown, mkdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { httpAction, toolAction } from "@acp/core";
import { describe, expect, it } from "vitest";
import { scratchDirectory } from "../test/support.js";
import { initHome, openHome } from "./home.js";
import { readPolicyFile } from "./policy-file.js";

const refusal = (text: string) => ({
  code: "home_invalid",
  message: expect.stringContaining(text),
});

describe("openHome()", () => {
  it("gives the paths of a private directory", async () => {
    const dir = await scratchDirectory();
    expect(await openHome(dir)).toMatchObject({ dir, policyPath: join(dir, "policy.yml") });
  });

  it("refuses what is missing, no directory, or a symbolic link", async () => {
    const dir = await scratchDirectory();
    await writeFile(join(dir, "file"), "");
    await mkdir(join(dir, "real"), { mode: 0o700 });
    await symlink(join(dir, "real"), join(dir, "link"));
    await expect(openHome(join(dir, "none"))).rejects.toMatchObject(
      refusal("it does not exist; run: acp init"),
    );
    await expect(openHome(join(dir, "file"))).rejects.toMatchObject(refusal("not a directory"));
    await expect(openHome(join(dir, "link"))).rejects.toMatchObject(refusal("symbolic link"));
  });

  it("opens the format that it knows, with and without the file that names it", async () => {
    const dir = await scratchDirectory();
    await writeFile(join(dir, "format"), "1\n");
    expect(await openHome(dir)).toMatchObject({ dir });
  });

  it.each(["2", "", "one", "1 ".repeat(20)])("refuses a home of the format %j", async (text) => {
    const dir = await scratchDirectory();
    await writeFile(join(dir, "format"), text);
    await expect(openHome(dir)).rejects.toMatchObject(refusal("this version of ACP knows 1"));
  });

  it("refuses a format that is no file", async () => {
    const dir = await scratchDirectory();
    await mkdir(join(dir, "format"));
    await expect(openHome(dir)).rejects.toMatchObject(refusal("this version of ACP knows 1"));
  });

  it.each([0o755, 0o750, 0o701, 0o720])("refuses mode %o, with the fix", async (mode) => {
    const dir = await scratchDirectory();
    await chmod(dir, mode);
    await expect(openHome(dir)).rejects.toMatchObject(refusal(`run: chmod 700 "${dir}"`));
  });

  it("refuses a place where anybody could replace it; a sticky bit protects it", async () => {
    const above = await scratchDirectory();
    const dir = join(above, "between", "home");
    await mkdir(dir, { recursive: true, mode: 0o700 });
    await chmod(above, 0o777);
    await expect(openHome(dir)).rejects.toMatchObject(
      refusal(`anyone can replace it; run: chmod o-w "${above}"`),
    );
    await chmod(above, 0o1777);
    await openHome(dir);
  });

  it("refuses another user's directory", async ({ skip }) => {
    if (process.getuid?.() !== 0) skip("only root can give a directory away");
    const dir = await scratchDirectory();
    await chown(dir, 65534, 65534);
    await expect(openHome(dir)).rejects.toMatchObject(refusal("it belongs to user 65534"));
  });
});

describe("initHome()", () => {
  it("makes a private home that opens, with files that load", async () => {
    const dir = join(await scratchDirectory(), "a", "home");
    const { home, created, existing } = await initHome(dir);
    expect(created).toEqual([dir, home.configPath, home.policyPath]);
    expect(existing).toEqual([]);
    for (const path of created) expect((await stat(path)).mode & 0o077).toBe(0);
    expect(await openHome(dir)).toEqual(home);
  });

  it("leaves what exists as it is, and says so", async () => {
    const dir = await scratchDirectory();
    await writeFile(join(dir, "policy.yml"), "mine", { mode: 0o600 });
    const { home, created, existing } = await initHome(dir);
    expect(created).toEqual([home.configPath]);
    expect(existing).toEqual([dir, home.policyPath]);
    expect(await readFile(home.policyPath, "utf8")).toBe("mine");
    expect((await initHome(dir)).created).toEqual([]);
  });

  it("refuses a directory that others may enter, and writes nothing into it", async () => {
    const dir = await scratchDirectory();
    await chmod(dir, 0o755);
    await expect(initHome(dir)).rejects.toMatchObject(refusal("chmod 700"));
    await expect(stat(join(dir, "config.yml"))).rejects.toThrow("ENOENT");
  });

  it("refuses a place that is a file", async () => {
    const dir = await scratchDirectory();
    await writeFile(join(dir, "file"), "");
    await expect(initHome(join(dir, "file"))).rejects.toMatchObject(refusal("not a directory"));
    await expect(initHome(join(dir, "file", "home"))).rejects.toMatchObject({
      code: "home_invalid",
    });
  });
});

describe("the starter policy", () => {
  it.each([
    ["read_file", { path: "/home/ada/notes.txt" }, "allow", "reads"],
    ["list_directory", { path: "/" }, "allow", "reads"],
    ["get_page", { url: "https://any.example/?k=SECRET" }, "ask", undefined],
    ["search_web", { query: "how", endpoint: "any.example" }, "ask", undefined],
    ["write_file", { path: "/home/ada/notes.txt" }, "ask", "writes"],
    ["delete_file", { path: "/home/ada/notes.txt" }, "ask", "destructive"],
    ["exec_command", { command: "ls" }, "ask", "destructive"],
    ["transfer_funds", { to: "x" }, "ask", "money"],
    ["move_file", { source: "/a", destination: "/b" }, "ask", "writes"],
    ["send_email", { to: "x" }, "ask", undefined],
  ])("judges %s %j: %s", async (tool, args, effect, ruleId) => {
    const { home } = await initHome(await scratchDirectory());
    const policy = await readPolicyFile(home.policyPath, { home: "/home/ada", cwd: "/home/ada" });
    expect(policy.warnings).toEqual([]);
    expect(policy.defaultEffect).toBe("ask");
    const ruling = policy.judge(toolAction("fs", tool, args), { agent: { id: "a" }, nowMs: 0 });
    expect(ruling?.effect ?? policy.defaultEffect).toBe(effect);
    expect(ruling?.ruleId).toBe(ruleId);
  });

  it.each([
    ["GET", "http://any.example/?k=SECRET"],
    ["HEAD", "http://any.example/SECRET"],
    ["GET", "http://SECRET.any.example/"],
    ["POST", "http://any.example/"],
    ["CONNECT", "SECRET.any.example:443"],
  ])("asks about %s %s", async (method, url) => {
    const { home } = await initHome(await scratchDirectory());
    const policy = await readPolicyFile(home.policyPath, { home: "/home/ada", cwd: "/home/ada" });
    expect(policy.judge(httpAction(method, url), { agent: { id: "a" }, nowMs: 0 })).toMatchObject({
      effect: "ask",
      ruleId: "network",
    });
  });
});
