import { mkdir, mkdtemp, realpath, rename, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { toolAction } from "@acp/core";
import { DEFAULT_CONFIG, homePaths } from "@acp/home";
import { liveSource } from "../servers/live-servers.js";
import { followLinks, openGuard } from "./guard.js";

let root = "";
beforeAll(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), "acp-guard-")));
  await mkdir(join(root, "home/keys"), { recursive: true });
  await writeFile(join(root, "home/keys/private.key"), "");
  await symlink("home/keys", join(root, "link"));
  await symlink(join(root, "link"), join(root, "again"));
  await symlink("link/../keys", join(root, "upwards"));
  await symlink("home/nothing-yet", join(root, "dangling"));
  await symlink("round", join(root, "round"));
});
afterAll(() => rm(root, { recursive: true, force: true }));

describe("followLinks()", () => {
  it.each([
    ["home/keys/private.key", "home/keys/private.key", true],
    ["link/private.key", "home/keys/private.key", true],
    ["again/private.key", "home/keys/private.key", true],
    ["again/./private.key", "home/keys/private.key", true],
    ["link/../keys/private.key", "home/keys/private.key", true],
    ["upwards/private.key", "home/keys/private.key", true],
    ["link/new/deeper.txt", "home/keys/new/deeper.txt", false],
    ["dangling", "home/nothing-yet", false],
    ["nowhere/else", "nowhere/else", false],
  ])("of %s is %s", (path, target, exists) => {
    expect(followLinks(`${root}/${path}`)).toEqual({ path: join(root, target), exists });
  });

  it("ends where links go round, and where a path is as long as an agent likes", () => {
    expect(followLinks(join(root, "round")).exists).toBe(false);
    const long = `${root}/link/${"x/".repeat(1_500)}y`;
    expect(followLinks(long).path.startsWith(join(root, "home/keys/x/x"))).toBe(true);
  });

  it("follows as many links as the kernel does for one path, and not twice as many with each", async () => {
    await symlink(".", join(root, "d0"));
    for (let index = 1; index <= 39; index += 1)
      await symlink(`d${index - 1}/d${index - 1}`, join(root, `d${index}`));
    const before = process.cpuUsage();
    expect(followLinks(join(root, "d39/home")).exists).toBe(false);
    expect(process.cpuUsage(before).user / 1_000).toBeLessThan(5_000);
  });

  it("is the place of a process where the kernel says so", () => {
    expect(followLinks(`/proc/self/root${root}/link`).path).toBe(join(root, "home/keys"));
  });
});

it("openGuard() denies a call whose link leads into the home since, and allows it once it does not", async () => {
  const home = homePaths(join(root, "home"));
  const io = { cwd: root, userHome: join(root, "user"), env: {} };
  const guard = await openGuard({
    home,
    source: {
      file: join(home.dir, "config.yml"),
      policyFile: home.policyPath,
      config: undefined,
      isPolicyNamed: false,
    },
    invocation: { values: new Map(), io, rest: [] },
  } as never);
  // The same action, as when its permit is redeemed.
  const action = toolAction("files", "read", { path: join(root, "moving/notes.txt") });
  const effect = () => guard.judge(action, { agent: { id: "a" }, nowMs: 0 })?.effect;
  for (const [target, want] of [
    ["elsewhere", undefined],
    ["home/keys", "deny"],
    ["elsewhere", undefined],
  ] as const) {
    await symlink(target, join(root, "next"));
    await rename(join(root, "next"), join(root, "moving"));
    expect([effect(), effect()]).toEqual([want, want]);
  }
});

it("openGuard() knows where the paths of a server start that came later, and where it started before", async () => {
  const home = homePaths(join(root, "home"));
  const source = liveSource({
    file: join(home.dir, "config.yml"),
    policyFile: home.policyPath,
    config: DEFAULT_CONFIG,
    isPolicyNamed: false,
  });
  const io = { cwd: "/nowhere", userHome: join(root, "user"), env: {} };
  const invocation = { values: new Map(), io, rest: [] };
  const guard = await openGuard({ home, source, invocation } as never);
  const effect = (): string | undefined => {
    const action = toolAction("files", "read", { path: "home/notes.txt" });
    return guard.judge(action, { agent: { id: "a" }, nowMs: 0 })?.effect;
  };
  expect(effect()).toBeUndefined();
  source.setServers([{ name: "files", command: ["x"], cwd: root }]);
  // A look serves a turn.
  await new Promise((resolve) => setImmediate(resolve));
  expect(effect()).toBe("deny");
  source.setServers([{ name: "files", command: ["x"], cwd: "/elsewhere" }]);
  await new Promise((resolve) => setImmediate(resolve));
  expect(effect()).toBe("deny");
});
