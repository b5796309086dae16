/** Moves of a home: within a file system and to another one, refused, interrupted, and noted. */
import { writeFileSync } from "node:fs";
import { mkdir, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { readAuditLog, verifyAuditLog } from "@acp/audit";
import { createFileAtomic, openHome, swapPath } from "@acp/home";
import { afterAll, describe, expect, it, onTestFinished } from "vitest";
import { moveHome } from "../src/backup/move-home.js";
import { settleSwap } from "../src/backup/swap.js";
import { writeService } from "../src/service/write-service.js";
import { eventsIn, folder, say, serviceFor } from "./backup-world.js";
import { doctorWorld, removeTemplate } from "./doctor-world.js";
import type { World } from "./doctor-world.js";

afterAll(removeTemplate);

async function world(): Promise<World & { readonly dir: string; readonly to: string }> {
  const made = await doctorWorld();
  return { ...made, dir: made.home.dir, to: join(await folder(), "new") };
}

async function noteIn(dir: string): Promise<unknown> {
  const notes: unknown[] = [];
  for await (const { metadata } of readAuditLog(join(dir, "audit.jsonl"))) notes.push(metadata);
  return notes.at(-1);
}

describe("acp move", () => {
  it("moves the home, notes it, and lists what names the old path", async () => {
    const { dir, to, home } = await world();
    const userHome = await folder();
    await mkdir(join(userHome, ".cursor"));
    const server = { command: "acp", args: ["mcp", "--home", dir, "--", "x"] };
    const text = JSON.stringify({ mcpServers: { one: server } }, undefined, 2);
    await writeFile(join(userHome, ".cursor/mcp.json"), text);
    await writeFile(home.configPath, `version: "1"\ndefaults:\n  policy: ${dir}/policy.yml\n`);
    const { code, stdout } = await say(["move", to, "--json", "--home", dir], { userHome });
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      home: to,
      named: [
        { file: join(to, "config.yml"), line: 3 },
        { file: join(userHome, ".cursor/mcp.json"), line: 8 },
      ],
    });
    expect(await readFile(join(userHome, ".cursor/mcp.json"), "utf8")).toBe(text);
    await openHome(to);
    expect(await noteIn(to)).toMatchObject({ notice: "home_moved", from: dir, to });
    await expect(openHome(dir)).rejects.toThrow("does not exist");
  });

  it("removes the service of the old home, which would make an empty one there", async () => {
    const { dir, to } = await world();
    const userHome = await folder();
    const service = serviceFor(dir, userHome);
    await writeService(service);
    const { stdout } = await say(["move", to, "--home", dir], { userHome });
    expect(stdout).toContain(`acp service install --home "${to}"`);
    await expect(readFile(service.path)).rejects.toThrow("ENOENT");
  });

  it("lists every client that starts acp when the home was ~/.acp", async () => {
    const { dir, to } = await world();
    const userHome = join(dir, "..");
    const own = join(userHome, ".acp");
    await moveHome({ from: dir, to: own, nowMs: 0, onProgress: () => {} });
    await writeFile(join(userHome, ".claude.json"), '{"command":"acp"}');
    const { stdout } = await say(["move", to], { userHome, env: { HOME: userHome } });
    expect(stdout).toContain(`.claude.json:1 starts acp; give it --home "${to}"`);
    expect(stdout).toContain(`Set ACP_HOME=${to}`);
  });

  it("refuses a home in use, a place that is taken, inside the home or too long", async () => {
    const { dir, to } = await world();
    await mkdir(join(dir, "run"), { mode: 0o700 });
    const server = createServer().listen(join(dir, "run", "4711.sock"));
    expect(await say(["move", to, "--home", dir])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("process 4711 uses it"),
    });
    await new Promise((resolve) => server.close(resolve));
    for (const [place, why] of [
      [join(to, ".."), "already"],
      [join(dir, "inside"), "inside the home"],
      [join(to, "x".repeat(90)), "too long for sockets"],
    ] as const)
      expect(await say(["move", place, "--home", dir])).toMatchObject({
        code: 2,
        stderr: expect.stringContaining(why),
      });
    expect(await say(["move", to, "--home", join(to, "none")])).toMatchObject({ code: 3 });
    await openHome(dir);
  });
});

describe("moveHome() to another file system", () => {
  const other = { nowMs: Date.UTC(2026, 0, 15), onProgress: () => {}, isOneFileSystem: false };

  it("copies everything with modes and links, and keeps the old home", async () => {
    const { dir, to } = await world();
    await mkdir(join(dir, "homes/a"), { recursive: true, mode: 0o700 });
    await writeFile(join(dir, "homes/a/run.sh"), "#!/bin/sh\n", { mode: 0o755 });
    await symlink("run.sh", join(dir, "homes/a/link"));
    const count = await eventsIn(dir);
    const moved = await moveHome({ ...other, from: dir, to });
    expect(moved).toEqual({ home: to, kept: `${dir}.moved-20260115T000000Z` });
    expect(await readFile(join(to, "homes/a/link"), "utf8")).toBe("#!/bin/sh\n");
    expect(await verifyAuditLog(join(to, "audit.jsonl"))).toMatchObject({
      ok: true,
      events: count + 1,
    });
    expect(await verifyAuditLog(join(moved.kept ?? "", "audit.jsonl"))).toMatchObject({
      ok: true,
      events: count,
    });
    expect(await readdir(join(to, ".."))).toEqual(["new"]);
  });

  it("takes everything back where the home changed while it was copied", async () => {
    const { dir, to, home } = await world();
    const failing = moveHome({
      ...other,
      from: dir,
      to,
      // Somebody comes and goes at the end of the copy.
      onProgress: (_what, percent) => {
        if (percent > 50) writeFileSync(home.policyPath, `version: "1"\n# ${percent}\n`);
      },
    });
    await expect(failing).rejects.toMatchObject({ code: "home_busy" });
    await openHome(dir);
    expect([await readdir(join(dir, "..")), await readdir(join(to, ".."))]).toEqual([["h"], []]);
  });
});

describe("settleSwap()", () => {
  const plan = async (): Promise<Record<"home" | "aside" | "staging" | "target", string>> => {
    const at = await folder();
    return {
      home: join(at, "h"),
      aside: join(at, "h.old"),
      staging: join(at, ".acp-01234567"),
      target: join(at, "h"),
    };
  };
  const write = (paths: Awaited<ReturnType<typeof plan>>): Promise<boolean> =>
    createFileAtomic(
      swapPath(paths.home),
      JSON.stringify({ version: "1", kind: "restore", ...paths }),
    );

  it("does nothing without a plan", async () => {
    expect(await settleSwap((await plan()).home)).toBeUndefined();
  });

  it("refuses a plan of another home, or none", async () => {
    const paths = await plan();
    for (const text of [
      "",
      "{}",
      JSON.stringify({ version: "1", kind: "restore", ...paths, home: "/x" }),
    ]) {
      await writeFile(swapPath(paths.home), text, { mode: 0o600 });
      await expect(settleSwap(paths.home)).rejects.toThrow("not the plan");
    }
  });

  it("names both homes where somebody made another one meanwhile", async () => {
    const paths = await plan();
    await write(paths);
    for (const path of [paths.home, paths.aside, paths.staging]) await mkdir(path);
    await expect(settleSwap(paths.home)).rejects.toThrow(paths.staging);
    expect((await readdir(join(paths.home, ".."))).length).toBe(4);
  });

  it("removes only an unfinished copy under a name of its own", async () => {
    const paths = { ...(await plan()), staging: "" };
    const foreign = await folder();
    await writeFile(join(foreign, "x"), "");
    await mkdir(paths.home);
    await write({ ...paths, staging: foreign });
    expect(await settleSwap(paths.home)).toMatchObject({ end: "undone" });
    expect(await readdir(foreign)).toEqual(["x"]);
    onTestFinished(() => rm(foreign, { recursive: true, force: true }));
  });
});
