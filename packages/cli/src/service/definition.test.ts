import { mkdtemp, readFile, readlink, rm, symlink, writeFile, mkdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { defineService } from "./definition.js";
import type { ServiceParts } from "./definition.js";
import { removeService, writeService } from "./write-service.js";

const USUAL: ServiceParts = {
  platform: "linux",
  userHome: "/home/ada",
  configHome: undefined,
  home: "/home/ada/.acp",
  node: "/usr/bin/node",
  program: "/usr/lib/node_modules/@acp/cli/bin/acp.cjs",
  variables: {},
};
const ODD: ServiceParts = {
  ...USUAL,
  home: '/home/ada/100% "safe" & $HOME/<acp>',
  variables: { ACP_KEY_FILE: "/media/my stick/acp$1.key" },
};
const golden = (name: string): string => `../../test/fixtures/service/${name}`;

describe("defineService", () => {
  it.each([
    ["acp.service", USUAL],
    ["acp-odd.service", ODD],
    ["acp.resident.plist", { ...USUAL, platform: "darwin" as const }],
    ["acp.resident-odd.plist", { ...ODD, platform: "darwin" as const }],
  ])("writes %s", async (name, parts) => {
    await expect(defineService(parts).text).toMatchFileSnapshot(golden(name));
  });

  it("names the usual home's service acp, and every other home's by a digest of its own", () => {
    const nameOf = (home: string): string => defineService({ ...USUAL, home }).path;
    expect(nameOf("/home/ada/.acp")).toBe("/home/ada/.config/systemd/user/acp.service");
    expect(nameOf("/srv/a")).toMatch(/\/acp-[0-9a-f]{12}\.service$/u);
    expect(nameOf("/srv/a")).not.toBe(nameOf("/srv/b"));
  });

  it("follows XDG_CONFIG_HOME where that is absolute", () => {
    expect(defineService({ ...USUAL, configHome: "/cfg" }).path).toBe(
      "/cfg/systemd/user/acp.service",
    );
    expect(defineService({ ...USUAL, configHome: "cfg" }).path).toBe(defineService(USUAL).path);
  });

  it.each(["home", "node", "program", "userHome"] as const)(
    "refuses a line break in %s, which could add a line of its own",
    (name) => {
      expect(() => defineService({ ...USUAL, [name]: "/x\nExecStartPre=/bin/sh" })).toThrowError(
        /control character/u,
      );
    },
  );

  it("refuses a line break in a variable, and a platform without a manager", () => {
    const variables = { ACP_KEY_FILE: "/x\ny" };
    expect(() => defineService({ ...USUAL, variables })).toThrowError(/control character/u);
    expect(() => defineService({ ...USUAL, platform: "win32" })).toThrowError(/win32/u);
  });
});

describe("writeService", () => {
  let userHome: string;
  beforeEach(async () => {
    userHome = await mkdtemp(join(tmpdir(), "acp-service-"));
  });
  afterEach(() => rm(userHome, { recursive: true }));
  const define = (): ReturnType<typeof defineService> => defineService({ ...USUAL, userHome });

  it("writes the file and its link once, and takes both away again", async () => {
    const service = define();
    expect(await writeService(service)).toBe(true);
    expect(await readFile(service.path, "utf8")).toBe(service.text);
    expect(await readFile(service.link?.path ?? "", "utf8")).toBe(service.text);
    expect(await writeService(service)).toBe(false);
    expect(await removeService(service)).toBe(true);
    await expect(readlink(service.link?.path ?? "")).rejects.toThrowError(/ENOENT/u);
    expect(await removeService(service)).toBe(false);
  });

  it("replaces its own file of an older build", async () => {
    const service = define();
    await writeService({ ...service, text: service.text.replace("/usr/bin/node", "/old/node") });
    expect(await writeService(service)).toBe(true);
    expect(await readFile(service.path, "utf8")).toBe(service.text);
  });

  it.each(["a person's own file", "a link"])("leaves %s as it is", async (kind) => {
    const service = define();
    await mkdir(join(userHome, ".config/systemd/user"), { recursive: true });
    const other = join(userHome, "other.service");
    await writeFile(other, service.text);
    if (kind === "a link") await symlink(other, service.path);
    else await writeFile(service.path, "[Unit]\n");
    await expect(writeService(service)).rejects.toMatchObject({ code: "home_invalid" });
    await expect(removeService(service)).rejects.toMatchObject({ code: "home_invalid" });
    expect(await readFile(other, "utf8")).toBe(service.text);
  });
});
