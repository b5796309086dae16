/**
 * `acp servers list`, `show`, `update` and `remove`: a person sees what servers are pinned to,
 * agrees to a change at a terminal, and pins anew.
 */
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { readAuditLog } from "@acp/audit";
import { describe, expect, it } from "vitest";
import { EXIT_CODES } from "../src/exit-codes.js";
import { acp, BIN } from "./harness.js";
import type { Ended } from "./harness.js";
import { openPane, words } from "./pane.js";
import { pinnedWorld, tool } from "./pinned-world.js";
import type { PinnedWorld } from "./pinned-world.js";
import type { WrittenPackage } from "./registry-double.js";
import { needSandbox } from "./run-world.js";

const NAMESPACE = needSandbox("namespace");
/** As its name says: the version of a package, no range. */
const ONE = "npx -y tool@1";

interface CommandsWorld extends PinnedWorld {
  /** Runs `acp servers …`; nobody is at a terminal. */
  servers(...args: readonly string[]): Promise<Ended>;
  /** What `config.yml` names. */
  configure(command: string): Promise<void>;
  /** The version that the server is pinned to. */
  version(): Promise<string | undefined>;
  /** Notices of the log. */
  notices(): Promise<readonly unknown[]>;
}

async function commandsWorld(): Promise<CommandsWorld> {
  const lib: WrittenPackage = {
    manifest: { name: "lib", version: "1.0.0", main: "index.js" },
    files: { "index.js": "" },
  };
  const world = await pinnedWorld(tool("1.0.0", { dependencies: { lib: "^1.0.0" } }), lib);
  const servers: CommandsWorld["servers"] = (...args) =>
    acp(["servers", ...args], {
      home: world.homeDir,
      env: { HOME: world.userHome },
      cwd: world.userHome,
    });
  const configure: CommandsWorld["configure"] = (command) =>
    writeFile(
      join(world.homeDir, "config.yml"),
      `version: "1"\nproxy:\n  upstream_servers:\n    - { name: files, command: "${command}" }\n    - { name: plain, command: "/usr/bin/true" }\n`,
      { mode: 0o600 },
    );
  await configure(ONE);
  return {
    ...world,
    servers,
    configure,
    async version() {
      const { code, stdout } = await servers("show", "files", "--json");
      if (code !== EXIT_CODES.ok.code) return undefined;
      const {
        packages,
      }: { readonly packages: readonly { readonly name: string; readonly version: string }[] } =
        JSON.parse(stdout);
      return packages.find(({ name }) => name === "tool")?.version;
    },
    async notices() {
      const texts: unknown[] = [];
      for await (const { metadata } of readAuditLog(join(world.homeDir, "audit.jsonl")))
        texts.push(metadata["text"]);
      return texts;
    },
  };
}

describe.skipIf(!NAMESPACE.run)(`acp servers ${NAMESPACE.reason}`, () => {
  it("list and show what is pinned, for people and for programs, and nothing of servers that npx does not start", async () => {
    const world = await commandsWorld();
    expect((await world.servers("list")).stdout).toBe(`files  ${ONE}  not pinned yet\n`);
    expect(JSON.parse((await world.servers("list", "--json")).stdout)).toEqual({
      servers: [{ name: "files", command: ONE }],
    });
    expect(await world.servers("update", "files")).toMatchObject({ code: 0, stdout: "updated\n" });
    const { stdout } = await world.servers("list");
    expect(stdout).toMatch(
      /^files {2}npx -y tool@1 {2}pinned \d{4}-\S+Z to tool@1, lockfile sha256:[0-9a-f]{64}\n$/u,
    );
    const [one, two, ...rest] = (await world.servers("show", "files")).stdout
      .trimEnd()
      .split("\n")
      .slice(1)
      .sort();
    expect([one, two, rest]).toEqual([
      expect.stringMatching(/^lib@1\.0\.0 {2}sha512-\S+$/u),
      expect.stringMatching(/^tool@1\.0\.0 {2}sha512-\S+$/u),
      [],
    ]);
    const listed = JSON.parse((await world.servers("list", "--json")).stdout);
    const shown = JSON.parse((await world.servers("show", "files", "--json")).stdout);
    expect(shown).toMatchObject({ name: "files", pin: listed.servers[0].pin });
    expect(await world.notices()).toEqual(['Server "files": a person updated its packages']);
    expect(await world.servers("update", "files", "--json")).toMatchObject({
      code: 0,
      stdout: `${JSON.stringify({ name: "files", updated: "same" })}\n`,
    });
  });

  it("update changes nothing where nobody can agree, or somebody says no, and what was asked is on the screen", async () => {
    const world = await commandsWorld();
    await world.servers("update", "files");
    world.registry.publish(tool("1.1.0"));
    const unasked = await world.servers("update", "files", "--json");
    expect([unasked.code, JSON.parse(unasked.stdout)]).toEqual([
      EXIT_CODES.nothing.code,
      { name: "files", updated: "refused" },
    ]);
    expect(unasked.stderr).toContain("standard input is not a terminal");
    const command = words(
      "env",
      `HOME=${world.userHome}`,
      process.execPath,
      BIN,
      "servers",
      "update",
      "files",
      "--home",
      world.homeDir,
    );
    for (const answer of ["n", "yes"]) {
      await using pane = await openPane(command, world.userHome);
      const screen = await pane.until(/Type y for yes: $/mu);
      expect(screen).toMatch(/tool.*1\.1\.0/u);
      await pane.type(answer);
      expect(await pane.until(/exit \d/u)).toContain("left as it was");
    }
    expect(await world.version()).toBe("1.0.0");
    expect(await world.notices()).toHaveLength(1);
    await using pane = await openPane(command, world.userHome);
    await pane.until(/Type y for yes: $/mu);
    await pane.type("y");
    expect(await pane.until(/exit \d/u)).toMatch(/updated\n[^]*exit 0/u);
    expect(await world.version()).toBe("1.1.0");
    expect(await world.notices()).toHaveLength(2);
  });

  it("name the one that was meant where there is none of that name, and change nothing", async () => {
    const world = await commandsWorld();
    for (const verb of ["show", "update", "remove"]) {
      const { code, stdout, stderr } = await world.servers(verb, "flies");
      expect([verb, code, stdout]).toEqual([verb, EXIT_CODES.nothing.code, ""]);
      expect(stderr).toContain('acp servers list shows them; did you mean "files"?');
      const far = await world.servers(verb, "something-else");
      expect([verb, far.code, far.stderr.includes("did you mean")]).toEqual([
        verb,
        EXIT_CODES.nothing.code,
        false,
      ]);
    }
    expect((await world.servers("update", "plain")).code).toBe(EXIT_CODES.nothing.code);
    for (const name of ["../..", "A", "", "a/b"]) {
      expect((await world.servers("remove", name)).stderr).toContain(
        "name the server as in config.yml, acp servers remove NAME",
      );
    }
    expect(await readdir(join(world.homeDir, "servers"))).toEqual([]);
  });

  it("remove forgets what was pinned; the next start pins anew without a question, to what there is then", async () => {
    const world = await commandsWorld();
    await world.pin(ONE);
    world.registry.publish(tool("1.1.0"));
    expect((await world.pin(ONE)).packages).toContain("files");
    expect(await world.version()).toBe("1.0.0");
    const home = join(world.homeDir, "servers/files/home");
    await mkdir(home, { recursive: true });
    await writeFile(join(home, "kept"), "of the server\n");
    expect(await world.servers("remove", "files", "--json")).toMatchObject({
      code: 0,
      stdout: `${JSON.stringify({ removed: "files" })}\n`,
    });
    expect(await readFile(join(home, "kept"), "utf8")).toBe("of the server\n");
    expect((await world.servers("remove", "files")).code).toBe(EXIT_CODES.nothing.code);
    expect((await world.servers("list")).stdout).toContain("not pinned yet");
    expect(await world.notices()).toEqual(['Server "files": a person removed its packages']);
    const anew = await world.pin(ONE);
    expect([world.output(anew), world.asked]).toEqual(["tool 1.1.0", []]);
    await world.configure("npx -y tool@1.0.0");
    await expect(world.pin("npx -y tool@1.0.0")).rejects.toThrow("nobody agreed");
    expect(world.asked).toHaveLength(1);
  });
});
