/** Where the Landlock sandbox does not start, and says so. Where it does: test/landlock.test.ts. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { createLandlockSandbox, type LandlockOptions } from "./landlock.js";
import { helperDirectory } from "./helper-directory.js";
import type { NativeHelper } from "./native-helper.js";
import { seccompArch } from "./seccomp.js";

const scratch = realpathSync(mkdtempSync(join(tmpdir(), "acp-landlock-")));
afterAll(() => {
  rmSync(scratch, { recursive: true });
});

const helper = (landlockAbi: number) => (): Promise<NativeHelper> =>
  Promise.resolve({ isAvailable: true, path: "/nowhere/confine", landlockAbi });
const none: NativeHelper = {
  isAvailable: false,
  reason: 'there is no C compiler "cc"',
  fix: "Install a C compiler",
};
const agent = { onConnection: (): void => undefined, env: () => ({}) };

describe.skipIf(seccompArch() === undefined)("createLandlockSandbox()", () => {
  it.each<[string, LandlockOptions, () => Promise<NativeHelper>, string]>([
    ["there is no helper", {}, () => Promise.resolve(none), "there is no C compiler"],
    ["the kernel has no Landlock", {}, helper(0), "no Landlock in this kernel"],
    ["Landlock has no rules for TCP", {}, helper(3), "no rules for TCP"],
    [
      "Landlock is not there, without network",
      { network: "none" },
      helper(0),
      "no Landlock in this kernel",
    ],
    [
      "Unix sockets are asked for",
      { unixSockets: "private" },
      helper(7),
      "those of the host would be in reach",
    ],
    [
      "what is hidden lies in the system",
      { hidden: ["/usr/bin"] },
      helper(7),
      "must stay hidden and lies in",
    ],
  ])("is unavailable where %s", async (_, options, findHelper, text) => {
    const sandbox = createLandlockSandbox(options, findHelper);
    const report = await sandbox.probe();
    expect(report).toMatchObject({
      sandbox: "landlock",
      isAvailable: false,
      level: "none",
      reason: expect.stringContaining(text),
    });
    expect(report.fix).toBeDefined();
    expect(report.items.every(({ enforcement }) => enforcement === "none")).toBe(true);
    expect(report.items.length).toBe(15);
    const start = sandbox.spawn(["/bin/true"], agent);
    await expect(start).rejects.toMatchObject({
      code: "sandbox_unavailable",
      message: expect.stringContaining(text),
    });
  });

  it("is unavailable where the helper cannot be started", async () => {
    const report = await createLandlockSandbox({}, helper(7)).probe();
    expect(report).toMatchObject({
      isAvailable: false,
      reason: expect.stringContaining("does not exist"),
    });
  });

  it("refuses to show the place of the helper, what is hidden, and a home", async () => {
    const cache = join(scratch, "cache");
    mkdirSync(join(cache, "acp-sandbox", "below"), { recursive: true });
    const before = process.env["XDG_CACHE_HOME"];
    process.env["XDG_CACHE_HOME"] = cache;
    try {
      const place = dirname(helperDirectory()); // of root: /var/cache
      for (const [path, why] of [
        [place, "stays hidden"],
        [homedir(), "to an agent: it "],
      ] as const) {
        const start = createLandlockSandbox(
          { workspace: { path, access: "read-write" } },
          helper(7),
        ).spawn(["/bin/true"], agent);
        await expect(start).rejects.toMatchObject({
          code: "options_invalid",
          message: expect.stringContaining(why),
        });
      }
    } finally {
      if (before === undefined) delete process.env["XDG_CACHE_HOME"];
      else process.env["XDG_CACHE_HOME"] = before;
    }
    const hidden = createLandlockSandbox(
      { hidden: [cache], readable: [join(cache, "acp-sandbox")] },
      helper(7),
    ).spawn(["/bin/true"], agent);
    await expect(hidden).rejects.toMatchObject({ code: "options_invalid" });
  });

  it.each<[string, LandlockOptions]>([
    ["a cap", { caps: { openFiles: 0 } }],
    ["a user", { user: 0 }],
    ["a workspace", { workspace: { path: "/nowhere", access: "read-only" } }],
  ])("throws options_invalid for %s that cannot be had", async (_, options) => {
    const sandbox = createLandlockSandbox(options, helper(7));
    await expect(sandbox.probe()).rejects.toMatchObject({ code: "options_invalid" });
    await expect(sandbox.spawn(["/bin/true"], agent)).rejects.toMatchObject({
      code: "options_invalid",
    });
  });
});
