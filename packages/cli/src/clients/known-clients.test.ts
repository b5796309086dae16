/** Where the clients' own documentation says that they keep their servers. */
import { describe, expect, it } from "vitest";
import { placesOfProject, placesOfUser } from "./known-clients.js";
import type { Place } from "./known-clients.js";

const pathsOf = (place: Place): Readonly<Record<string, string>> =>
  Object.fromEntries(placesOfUser(place).map(({ client, path }) => [client, path]));

describe("placesOfUser()", () => {
  it("on macOS", () => {
    const home = "/Users/ada";
    expect(pathsOf({ platform: "darwin", userHome: home, env: {} })).toEqual({
      "claude-desktop": `${home}/Library/Application Support/Claude/claude_desktop_config.json`,
      "claude-code": `${home}/.claude.json`,
      cursor: `${home}/.cursor/mcp.json`,
      vscode: `${home}/Library/Application Support/Code/User/mcp.json`,
      gemini: `${home}/.gemini/settings.json`,
      codex: `${home}/.codex/config.toml`,
      windsurf: `${home}/.codeium/windsurf/mcp_config.json`,
      zed: `${home}/.config/zed/settings.json`,
    });
  });

  it("on Windows", () => {
    const home = "C:\\Users\\ada";
    const roaming = "D:\\Profiles\\ada\\Roaming";
    expect(pathsOf({ platform: "win32", userHome: home, env: { APPDATA: roaming } })).toEqual({
      "claude-desktop": `${roaming}\\Claude\\claude_desktop_config.json`,
      "claude-code": `${home}\\.claude.json`,
      cursor: `${home}\\.cursor\\mcp.json`,
      vscode: `${roaming}\\Code\\User\\mcp.json`,
      gemini: `${home}\\.gemini\\settings.json`,
      codex: `${home}\\.codex\\config.toml`,
      windsurf: `${home}\\.codeium\\windsurf\\mcp_config.json`,
      zed: `${roaming}\\Zed\\settings.json`,
    });
    expect(pathsOf({ platform: "win32", userHome: home, env: {} })["vscode"]).toBe(
      `${home}\\AppData\\Roaming\\Code\\User\\mcp.json`,
    );
  });

  it("on Linux, and where variables say so; an empty one says nothing", () => {
    const home = "/home/ada";
    const env = { XDG_CONFIG_HOME: "/cfg", CODEX_HOME: "/codex", CLAUDE_CONFIG_DIR: "/claude" };
    expect(pathsOf({ platform: "linux", userHome: home, env })).toMatchObject({
      "claude-desktop": "/cfg/Claude/claude_desktop_config.json",
      "claude-code": "/claude/.claude.json",
      vscode: "/cfg/Code/User/mcp.json",
      codex: "/codex/config.toml",
      zed: "/cfg/zed/settings.json",
    });
    const empty = { XDG_CONFIG_HOME: "", CODEX_HOME: "", CLAUDE_CONFIG_DIR: "" };
    expect(pathsOf({ platform: "linux", userHome: home, env: empty })).toEqual(
      pathsOf({ platform: "linux", userHome: home, env: {} }),
    );
  });
});

it("placesOfProject() has no file of a client that keeps none there", () => {
  expect(placesOfProject("/work/p", "linux").map(({ path }) => path)).toEqual([
    "/work/p/.mcp.json",
    "/work/p/.cursor/mcp.json",
    "/work/p/.vscode/mcp.json",
    "/work/p/.gemini/settings.json",
    "/work/p/.codex/config.toml",
    "/work/p/.zed/settings.json",
  ]);
  expect(placesOfProject("C:\\p", "win32")[0]?.path).toBe("C:\\p\\.mcp.json");
});
