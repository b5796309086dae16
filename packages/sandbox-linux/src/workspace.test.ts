import { once } from "node:events";
import { lchown, mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { ConfinementOptions } from "./parts.js";
import { checkPlaces, liesIn, socketsIn } from "./workspace.js";

let scratch: string;
beforeEach(async () => {
  scratch = await realpath(await mkdtemp(join(tmpdir(), "acp-places-")));
  for (const name of ["work", "work/sub", "home", "home/project", "acp"])
    await mkdir(join(scratch, name));
  vi.stubEnv("HOME", join(scratch, "home"));
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await rm(scratch, { recursive: true, force: true });
});

const at = (name: string): string => join(scratch, name);
const work = (
  path: string,
  access: "read-write" | "read-only" = "read-write",
): ConfinementOptions => ({ workspace: { path, access } });
const invalid = expect.objectContaining({ code: "options_invalid" });

describe("checkPlaces()", () => {
  it("gives real paths", async () => {
    await symlink(at("work"), at("link"));
    const places = checkPlaces({
      ...work(at("link")),
      readable: [at("work/../home/project")],
      hidden: [at("acp")],
    });
    expect(places.workspace).toEqual({ path: at("work"), access: "read-write" });
    expect(places.readable).toEqual([at("home/project")]);
    expect(places.hidden).toContain(at("acp"));
  });

  it("follows no link of anyone but root to what else is shown, and says where it leads", async () => {
    await mkdir(at("home/.keys"));
    await symlink(at("home/.keys"), at("work/docs"));
    // Where root runs the tests: an agent is never root.
    if (process.getuid?.() === 0) await lchown(at("work/docs"), 61_077, 61_077);
    await mkdir(at("home/.keys/inner"));
    for (const path of ["work/docs", "work/docs/inner", "work/sub/../docs"]) {
      expect(() => checkPlaces({ readable: [at(path)] })).toThrow(
        `"${at("work/docs")}" is a link, which an agent may have made; name the directory`,
      );
      expect(() => checkPlaces({ writable: [at(path)] })).toThrow(invalid);
    }
    // What the system itself links is the system's.
    expect(checkPlaces({ readable: ["/bin"] }).readable).toEqual([await realpath("/bin")]);
    expect(checkPlaces({ readable: [at("work/sub")] }).readable).toEqual([at("work/sub")]);
  });

  it("covers real paths in the workspace, and throws options_invalid for others", async () => {
    await mkdir(at("work/sub"), { recursive: true });
    await symlink(at("work/sub"), at("work/by-link"));
    expect(checkPlaces({ ...work(at("work")), covered: [at("work/sub")] }).covered).toEqual([
      at("work/sub"),
    ]);
    const others = [at("work"), at("home"), at("work/by-link"), at("work/../home"), "/etc/passwd"];
    for (const path of others)
      expect(() => checkPlaces({ ...work(at("work")), covered: [path] })).toThrow(invalid);
    expect(() => checkPlaces({ covered: [at("work/sub")] })).toThrow(invalid);
  });

  it("needs nothing", () => {
    expect(checkPlaces({})).toMatchObject({ workspace: undefined, readable: [] });
  });

  it.each([
    "/",
    "/home",
    "/root",
    "/tmp",
    "/usr",
    "/etc",
    "/var",
    "/run",
    "/proc",
    "/proc/self",
    "/sys",
    "/dev",
    "/dev/shm",
    "/run/user",
    "/usr/share",
    "//",
    "/tmp/..",
  ])("throws options_invalid for the workspace %s", (path) => {
    expect(() => checkPlaces(work(path))).toThrow(invalid);
  });

  it.each(["/", "/home", "/root", "/tmp", "/etc", "/proc/self", "/sys", "/dev", "/run"])(
    "throws options_invalid for reading %s",
    (path) => {
      expect(() => checkPlaces({ readable: [path] })).toThrow(invalid);
      expect(() => checkPlaces(work(path, "read-only"))).toThrow(invalid);
    },
  );

  it("allows reading a part of the system, not writing it", () => {
    expect(checkPlaces({ readable: ["/usr/share"] }).readable).toEqual(["/usr/share"]);
    expect(() => checkPlaces(work("/usr/share"))).toThrow(invalid);
  });

  it("throws options_invalid for a home as a whole, and what holds one; not for a directory in one", () => {
    expect(() => checkPlaces(work(at("home")))).toThrow(invalid);
    expect(() => checkPlaces(work(scratch))).toThrow(invalid);
    expect(() => checkPlaces({ readable: [at("home")] })).toThrow(invalid);
    expect(checkPlaces(work(at("home/project"))).workspace?.path).toBe(at("home/project"));
  });

  it("throws options_invalid for what holds or lies in a hidden directory, through links too, and before it exists", async () => {
    const hidden = [at("work/sub")];
    expect(() => checkPlaces({ ...work(at("work")), hidden })).toThrow(invalid);
    expect(() => checkPlaces({ ...work(at("work/sub")), hidden })).toThrow(invalid);
    expect(() => checkPlaces({ ...work(at("work/sub")), hidden: [at("work")] })).toThrow(invalid);
    expect(() => checkPlaces({ readable: [at("work")], hidden })).toThrow(invalid);
    expect(() => checkPlaces({ ...work(at("work")), hidden: [at("work/later/.acp")] })).toThrow(
      invalid,
    );
    await symlink(at("work/sub"), at("acp/link"));
    expect(() => checkPlaces({ ...work(at("work")), hidden: [at("acp/link")] })).toThrow(invalid);
    await symlink(at("work"), at("home/link"));
    expect(() => checkPlaces({ ...work(at("home/link")), hidden })).toThrow(invalid);
    await mkdir(at("work2"));
    expect(checkPlaces({ ...work(at("work2")), hidden: [at("work")] }).workspace?.path).toBe(
      at("work2"),
    );
  });

  it("throws options_invalid for what is no directory", async () => {
    await writeFile(at("file"), "");
    for (const path of [at("file"), at("none"), "relative", "", `${at("work")}\0x`])
      expect(() => checkPlaces(work(path))).toThrow(invalid);
  });
});

describe("liesIn()", () => {
  it("goes by whole names", () => {
    expect(liesIn("/a/b", "/a")).toBe(true);
    expect(liesIn("/a", "/a")).toBe(true);
    expect(liesIn("/ab", "/a")).toBe(false);
    expect(liesIn("/a", "/")).toBe(true);
    expect(liesIn("/a", "/a/b")).toBe(false);
  });
});

describe("socketsIn()", () => {
  it("finds sockets at any depth, follows no link and stops in time", async () => {
    const server = createServer().listen({ path: at("work/sub/docker.sock") });
    await once(server, "listening");
    await symlink(at("work"), at("home/link"));
    expect(await socketsIn(at("work"))).toEqual([at("work/sub/docker.sock")]);
    expect(await socketsIn(at("home"))).toEqual([]);
    expect(await socketsIn(at("work"), 1)).toEqual([]);
    expect(await socketsIn(at("none"))).toEqual([]);
    server.close();
  });
});
