/** What `acp uninstall` changes in settings of clients, what it leaves, and what it asks. */
import { chmod, lstat, mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { openHome } from "@acp/home";
import fc from "fast-check";
import { afterAll, describe, expect, it } from "vitest";
import { acpWords, withoutAcp } from "../src/clients/without-acp.js";
import { writeService } from "../src/service/write-service.js";
import { folder, say, serviceFor } from "./backup-world.js";
import type { Said } from "./backup-world.js";
import { doctorWorld, removeTemplate } from "./doctor-world.js";

afterAll(removeTemplate);

interface UserWorld {
  readonly dir: string;
  readonly userHome: string;
  put(name: string, text: string): Promise<string>;
  acp(argv: readonly string[], typed?: string): Promise<Said>;
}

async function world(): Promise<UserWorld> {
  const { home } = await doctorWorld();
  const userHome = await folder();
  const cwd = await folder();
  return {
    dir: home.dir,
    userHome,
    async put(name, text) {
      const path = join(userHome, name);
      await mkdir(dirname(path), { recursive: true });
      await writeFile(path, text);
      return path;
    },
    acp: (argv, typed) =>
      say(["uninstall", ...argv, "--home", home.dir], {
        userHome,
        cwd,
        ...(typed !== undefined && { typed }),
      }),
  };
}

const wrapped = {
  mcpServers: {
    files: {
      command: "acp",
      args: ["mcp", "--server", "files", "--", "npx", "-y", "server", "/p"],
      env: { ACP_HOME: "/h", TOKEN: "t" },
    },
    all: { command: "node", args: ["/clone/packages/cli/bin/acp.cjs", "mcp"] },
    other: { command: "npx", args: ["-y", "other"], env: {} },
  },
  theme: "dark",
};
const hooked = {
  hooks: {
    PreToolUse: [
      {
        matcher: "Bash",
        hooks: [{ type: "command", command: "acp exec hook claude-code --wait 110" }],
      },
      { matcher: "Edit", hooks: [{ type: "command", command: "lint" }] },
      {},
    ],
  },
};

describe("acp uninstall", () => {
  it("gives wrapped servers their command back, removes hooks, and keeps what was there", async () => {
    const { dir, put, acp } = await world();
    const servers = await put(".cursor/mcp.json", JSON.stringify(wrapped, undefined, 4));
    const hooks = await put(".claude/settings.json", JSON.stringify(hooked));
    await chmod(hooks, 0o640);
    await put(".codex/config.toml", '[mcp_servers.files]\ncommand = "acp"\n');
    await put(".gemini/settings.json", '{"theme":"x"}');
    const { code, stdout } = await acp(["--yes", "--json"]);
    expect([code, JSON.parse(stdout)]).toMatchObject([
      0,
      { by_hand: [{ line: 2 }], failed: [], resident: "none", home_left: dir },
    ]);
    expect(JSON.parse(await readFile(servers, "utf8"))).toEqual({
      mcpServers: {
        files: { command: "npx", args: ["-y", "server", "/p"], env: { TOKEN: "t" } },
        other: wrapped.mcpServers.other,
      },
      theme: "dark",
    });
    expect(await readFile(servers, "utf8")).toMatch(/^\{\n {4}"mcpServers"/);
    expect(JSON.parse(await readFile(hooks, "utf8"))).toEqual({
      hooks: { PreToolUse: [hooked.hooks.PreToolUse[1], {}] },
    });
    expect((await lstat(hooks)).mode & 0o777).toBe(0o640);
    expect(JSON.parse(await readFile(`${hooks}.before-acp-uninstall`, "utf8"))).toEqual(hooked);
    await openHome(dir);
    // A second time there is nothing left to change.
    expect(JSON.parse((await acp(["--yes", "--json"])).stdout)).toMatchObject({ changed: [] });
  });

  it("removes the service that would start the home at the next login, and no file of a person", async () => {
    const { dir, userHome, acp } = await world();
    const service = serviceFor(dir, userHome);
    await writeService(service);
    expect((await acp(["--yes"])).stdout).toContain(`removed ${service.path}`);
    expect(await readdir(dirname(service.path), { recursive: true })).toEqual([
      "default.target.wants",
    ]);
    await writeFile(service.path, "[Unit]\n");
    const { code, stdout } = await acp(["--yes", "--json"]);
    expect([code, JSON.parse(stdout)]).toMatchObject([1, { service: null }]);
    expect(await readFile(service.path, "utf8")).toBe("[Unit]\n");
  });

  it("asks, and changes nothing on a no or where nobody can be asked", async () => {
    const { put, acp } = await world();
    const path = await put(".cursor/mcp.json", JSON.stringify(wrapped));
    const no = await acp([], "n\n");
    expect(no).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("starts without the gate: npx -y server /p"),
    });
    expect(await acp([])).toMatchObject({ code: 2, stderr: expect.stringContaining("--yes") });
    expect(JSON.parse(await readFile(path, "utf8"))).toEqual(wrapped);
    expect(await acp([], "y\n")).toMatchObject({ code: 0 });
    expect(JSON.parse(await readFile(path, "utf8"))).not.toEqual(wrapped);
  });

  it("changes what a link leads to, and says what it cannot read", async () => {
    const { userHome, put, acp } = await world();
    const real = await put("dotfiles/mcp.json", JSON.stringify(wrapped));
    await mkdir(join(userHome, ".cursor"));
    await symlink(real, join(userHome, ".cursor/mcp.json"));
    await mkdir(join(userHome, ".claude.json"));
    const { code, stdout } = await acp(["--yes", "--json"]);
    expect([code, JSON.parse(stdout)]).toMatchObject([
      1,
      { unread: [{ path: join(userHome, ".claude.json") }] },
    ]);
    expect((await lstat(join(userHome, ".cursor/mcp.json"))).isSymbolicLink()).toBe(true);
    expect(JSON.parse(await readFile(real, "utf8"))).not.toEqual(wrapped);
  });

  it("deletes a home only after its path was typed at a terminal", async () => {
    const { dir, acp } = await world();
    expect(await acp(["--delete-home", "--yes"])).toMatchObject({ code: 2 });
    await writeFile(join(dir, "thesis.txt"), "years");
    const asked = await acp(["--delete-home", "--yes"], "yes\n");
    expect(asked.stderr).toContain("These in it are not ACP's, and would go with it: thesis.txt\n");
    await openHome(dir);
    expect((await acp(["--delete-home", "--yes"], `${dir}\n`)).stdout).toContain(`Deleted: ${dir}`);
    expect(await readdir(join(dir, ".."))).toEqual([]);
  });
});

describe("withoutAcp()", () => {
  it("changes nothing in settings without acp", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const plain = JSON.parse(JSON.stringify(value)) as never;
        const { value: kept, changes } = withoutAcp(plain);
        expect(changes).toEqual([]);
        expect(kept).toEqual(plain);
      }),
    );
  });

  it("is the same the second time", () => {
    for (const value of [wrapped, hooked]) {
      const once = withoutAcp(value).value;
      expect(withoutAcp(once)).toEqual({ value: once, changes: [] });
    }
  });

  it.each([
    [["acp", "mcp"], ["mcp"]],
    [
      ["/usr/local/bin/acp", "exec", "hook"],
      ["exec", "hook"],
    ],
    [["npx", "-y", "@acp/cli", "mcp"], ["mcp"]],
    [["node", "/c/acp.cjs", "mcp"], ["mcp"]],
    [["npx", "-y", "server", "acp", "mcp"], undefined],
    [["acpd", "mcp"], undefined],
    [["echo", "acp", "mcp"], undefined],
  ] as const)("acpWords(%j) is %j", (command, words) => {
    expect(acpWords(command)).toEqual(words);
  });
});
