import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { hostOf, readRegistries, registryHosts, registryOf } from "./registries.js";

const MINE = "registry=https://mine.example/npm\n";

function home(npmrc?: string): string {
  const path = mkdtempSync(join(tmpdir(), "acp-npmrc-"));
  onTestFinished(() => rmSync(path, { recursive: true }));
  if (npmrc !== undefined) writeFileSync(join(path, ".npmrc"), npmrc);
  return path;
}
const read = (
  userHome: string,
  env = {},
  workspaces: readonly string[] = [],
): ReturnType<typeof readRegistries> => readRegistries({ userHome, env, workspaces });

describe("readRegistries()", () => {
  it("reads the person's own setting, and those of scopes; of secrets nothing", async () => {
    const found = await read(
      home(
        `; mine\n${MINE}@own:registry = "https://own.example:8443/"\n//own.example/:_authToken=hidden\n`,
      ),
    );
    expect(found).toEqual({
      main: "https://mine.example/npm/",
      scopes: { "@own": "https://own.example:8443/" },
    });
    expect(registryHosts(found)).toEqual(["mine.example:443", "own.example:8443"]);
    expect(registryOf("@own/x", found)).toBe("https://own.example:8443/");
    expect([registryOf("@other/x", found), registryOf("own", found)]).toEqual([
      found.main,
      found.main,
    ]);
  });

  it("asks npm where there is none", async () => {
    const { main, scopes } = await read(home());
    expect([new URL(main).protocol, scopes]).toEqual(["https:", {}]);
  });

  it("takes the operator's variable, but not what npm made of a project's file", async () => {
    const env = { npm_config_registry: "https://variable.example" };
    expect((await read(home(MINE), env)).main).toBe("https://variable.example/");
    expect((await read(home(MINE), { ...env, npm_execpath: "/usr/bin/npm" })).main).toBe(
      "https://mine.example/npm/",
    );
  });

  it.each([
    ["another protocol", "registry=file:///srv"],
    ["no address", "registry=mine"],
    ["a variable in it", "registry=https://${HOST}/"],
    ["credentials", "registry=https://a:b@mine.example/"],
  ])("refuses %s", async (_what, line) => {
    await expect(read(home(line))).rejects.toThrow("Cannot find out");
  });

  it("refuses a file that an agent could have written", async () => {
    const work = home(MINE);
    await expect(read(work, {}, [work])).rejects.toThrow("is in a workspace");
    const linked = home();
    symlinkSync(join(work, ".npmrc"), join(linked, ".npmrc"));
    await expect(read(linked, {}, [work])).rejects.toThrow("is in a workspace");
  });
});

describe("hostOf()", () => {
  it("has a port in any case", () => {
    expect(["https://a.example/x", "http://a.example/", "http://[::1]:80/"].map(hostOf)).toEqual([
      "a.example:443",
      "a.example:80",
      "[::1]:80",
    ]);
  });
});
