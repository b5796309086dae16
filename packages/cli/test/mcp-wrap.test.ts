/** `acp mcp wrap`, `unwrap` and `status` with the settings of clients in a user's home. */
import { lstat, mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { acpHere } from "./acp-here.js";
import { scratch } from "./environment.js";
import type { Ended } from "./environment.js";

const CURSOR = `{
  // Mine.
  "mcpServers": {
    "files": { "command": "npx", "args": ["-y", "s"] },
    "remote": { "url": "https://example.com/mcp" },
  },
}
`;
const CODEX = `[mcp_servers.one]\ncommand = "uvx" # fast\nargs = ["one"]\n`;

interface UserWorld extends AsyncDisposable {
  readonly home: string;
  readonly project: string;
  put(path: string, text: string): Promise<string>;
  acp(...words: readonly string[]): Promise<Ended>;
}

async function world(): Promise<UserWorld> {
  const root = await scratch();
  const [home, project] = [join(root.path, "home"), join(root.path, "project")];
  for (const folder of [home, project]) await mkdir(folder);
  return {
    [Symbol.asyncDispose]: () => root[Symbol.asyncDispose](),
    home,
    project,
    async put(path, text) {
      await mkdir(dirname(path), { recursive: true });
      await writeFile(path, text, { mode: 0o600 });
      return path;
    },
    acp: (...words) =>
      acpHere(["mcp", ...words], {
        cwd: project,
        env: { HOME: home, XDG_CONFIG_HOME: "", CODEX_HOME: "", CLAUDE_CONFIG_DIR: "" },
      }),
  };
}

const textOf = (path: string): Promise<string> => readFile(path, "utf8");

describe("acp mcp wrap", () => {
  it("puts the gate in front of the user's servers, keeps copies, and is undone to the byte", async () => {
    await using user = await world();
    const { home, put, acp } = user;
    const cursor = await put(join(home, ".cursor", "mcp.json"), CURSOR);
    const codex = await put(join(home, ".codex", "config.toml"), CODEX);
    const first = await acp("wrap", "--yes");
    expect(first).toMatchObject({ code: 0 });
    expect(first.stdout).toContain("files goes behind the gate: npx -y s");
    expect(first.stdout).toContain("cursor remote: NOT behind the gate");
    expect(await textOf(cursor)).toContain("// Mine.");
    expect(await textOf(cursor)).toMatch(
      /"mcp", "--agent", "cursor", "--server", "files", "--", "npx"/u,
    );
    expect(await textOf(codex)).toContain('"--server", "one", "--", "uvx", "one"');
    expect(await textOf(`${cursor}.before-acp-wrap`)).toBe(CURSOR);
    expect((await lstat(cursor)).mode & 0o777).toBe(0o600);
    const again = await acp("wrap", "--yes");
    expect(again).toMatchObject({ code: 0 });
    expect(again.stdout).toContain("Nothing to change");
    const status = JSON.parse((await acp("status", "--json")).stdout) as never;
    expect(status).toMatchObject({
      servers: [
        { client: "cursor", name: "files", state: "gated", command: ["npx", "-y", "s"] },
        { client: "cursor", name: "remote", state: "remote" },
        { client: "codex", name: "one", state: "gated", command: ["uvx", "one"] },
      ],
    });
    expect((await acp("unwrap", "--yes")).stdout).toContain("as it was before acp mcp wrap");
    expect([await textOf(cursor), await textOf(codex)]).toEqual([CURSOR, CODEX]);
    expect(await readdir(dirname(cursor))).toEqual(["mcp.json"]);
  });

  it("gives the servers their commands back where somebody changed the file meanwhile", async () => {
    await using user = await world();
    const { home, put, acp } = user;
    const cursor = await put(join(home, ".cursor", "mcp.json"), CURSOR);
    await acp("wrap", "--yes");
    const changed = `${await textOf(cursor)}// later\n`;
    await writeFile(cursor, changed);
    await acp("unwrap", "--yes");
    expect(await textOf(cursor)).toBe(`${CURSOR}// later\n`);
    expect(await textOf(`${cursor}.before-acp-unwrap`)).toBe(changed);
  });

  it("knows the address of acp mcp serve from any other", async () => {
    await using user = await world();
    const { home, put, acp } = user;
    await mkdir(join(home, ".acp"), { mode: 0o700 });
    await put(join(home, ".acp", "config.yml"), 'version: "1"\nproxy: { port: 9443 }\n');
    const entry = (url: string): object => ({ url, headers: { Authorization: "Bearer t" } });
    const mcpServers = {
      gate: entry("http://127.0.0.1:9443/mcp"),
      sse: entry("http://localhost:9443/sse"),
      port: entry("http://127.0.0.1:8443/mcp"),
      host: entry("http://127.0.0.1.example:9443/mcp"),
      user: entry("http://127.0.0.1:9443@example.com/mcp"),
      path: entry("http://127.0.0.1:9443/other"),
    };
    await put(join(home, ".cursor", "mcp.json"), JSON.stringify({ mcpServers }));
    const { stdout } = await acp("status", "--json");
    const { servers } = JSON.parse(stdout) as {
      servers: readonly { name: string; state: string }[];
    };
    expect(servers.map(({ name, state }) => [name, state])).toEqual([
      ["gate", "served"],
      ["sse", "served"],
      ["port", "remote"],
      ["host", "remote"],
      ["user", "remote"],
      ["path", "remote"],
    ]);
    expect((await acp("status")).stdout).toContain("gate  the address of acp mcp serve");
  });

  it("changes a project's settings only where the project is named", async () => {
    await using user = await world();
    const { project, put, acp } = user;
    const text = '{"mcpServers":{"s":{"command":"x"}}}';
    const path = await put(join(project, ".mcp.json"), text);
    expect((await acp("wrap", "--yes")).stdout).toContain("Nothing to change");
    expect(await textOf(path)).toBe(text);
    expect((await acp("status", "--project", ".")).stdout).toContain("(of the project)");
    expect((await acp("wrap", "--project", ".", "--yes")).code).toBe(0);
    expect(await textOf(path)).toContain('"claude-code"');
  });

  it("takes the servers and clients that are named, and no others", async () => {
    await using user = await world();
    const { home, put, acp } = user;
    const servers = '{"mcpServers":{"a":{"command":"x"},"b":{"command":"y"}}}';
    const cursor = await put(join(home, ".cursor", "mcp.json"), servers);
    const gemini = await put(join(home, ".gemini", "settings.json"), servers);
    expect((await acp("wrap", "a", "--client", "cursor", "--yes")).code).toBe(0);
    expect(await textOf(gemini)).toBe(servers);
    expect(await textOf(cursor)).toContain('"b":{"command":"y"}');
    expect((await acp("wrap", "c", "--yes")).stderr).toContain('Cannot find the server "c"');
    const misspelt = await acp("wrap", "--client", "cursr");
    expect(misspelt.code).toBe(2);
    expect(misspelt.stderr).toContain("cursor");
  });

  it("with --dry-run shows what it would change, and changes nothing", async () => {
    await using user = await world();
    const { home, put, acp } = user;
    const cursor = await put(join(home, ".cursor", "mcp.json"), CURSOR);
    expect((await acp("wrap", "--dry-run")).stdout).toContain("files goes behind the gate");
    expect(await readdir(dirname(cursor))).toEqual(["mcp.json"]);
    expect(await textOf(cursor)).toBe(CURSOR);
  });

  it("asks first, and without a terminal says how to agree", async () => {
    await using user = await world();
    const { home, put, acp } = user;
    const cursor = await put(join(home, ".cursor", "mcp.json"), CURSOR);
    const asked = await acp("wrap");
    expect(asked.code).toBe(2);
    expect(asked.stderr).toContain("add --yes to agree, or --dry-run to look");
    expect(await textOf(cursor)).toBe(CURSOR);
  });

  it("goes through links, names what it cannot read, and changes the rest", async () => {
    await using user = await world();
    const { home, put, acp } = user;
    const real = await put(join(home, "dotfiles", "cursor.json"), CURSOR);
    await mkdir(join(home, ".cursor"));
    await symlink(real, join(home, ".cursor", "mcp.json"));
    const gemini = await put(join(home, ".gemini", "settings.json"), "{ broken");
    const ended = await acp("wrap", "--yes");
    expect(ended.code).toBe(1);
    expect(ended.stdout).toMatch(/settings\.json cannot be read: .* at line 1, column 3/u);
    expect(await textOf(real)).toContain('"--agent", "cursor"');
    expect((await lstat(join(home, ".cursor", "mcp.json"))).isSymbolicLink()).toBe(true);
    expect(await textOf(gemini)).toBe("{ broken");
    expect((await acp("status")).code).toBe(1);
  });

  it("says of a server that is behind another ACP where that is, and whether it is gone", async () => {
    await using user = await world();
    const { home, put, acp } = user;
    const gone = join(home, "gone", "acp.cjs");
    const args = `"${gone}", "mcp", "--", "x"`;
    const text = `{"mcpServers":{"s":{"command":"${process.execPath}","args":[${args}]}}}`;
    await put(join(home, ".cursor", "mcp.json"), text);
    expect((await acp("status")).stdout).toContain(`of ${process.execPath} ${gone}, which is gone`);
    const other = text.replace(JSON.stringify(gone), '"/bin/acp.cjs"');
    await put(join(home, ".cursor", "mcp.json"), other.replace(process.execPath, "node"));
    expect((await acp("status")).stdout).toMatch(/behind the gate of node \/bin\/acp.cjs/u);
  });

  it("names a home that is not the usual one", async () => {
    await using user = await world();
    const { home, project, put, acp } = user;
    const cursor = await put(join(home, ".cursor", "mcp.json"), CURSOR);
    await acp("wrap", "--yes", "--home", "other");
    expect(await textOf(cursor)).toContain(`"--home", "${join(project, "other")}", "--"`);
  });
});
