import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { isOurs } from "../is-ours.js";
import { makePlaces, namedHome, placesOf, valueOf, workspacesOf } from "./places.js";

const uid = process.getuid?.() ?? -1;
let scratch: string;
beforeEach(() => {
  scratch = realpathSync(mkdtempSync(join(tmpdir(), "acp-places-")));
});
afterEach(() => rmSync(scratch, { recursive: true }));

describe("placesOf()", () => {
  it("names the home's own folder where a path is short enough", () => {
    expect(placesOf("/h", { env: { XDG_RUNTIME_DIR: "/x" }, uid: 7 })).toEqual({
      run: "/h/run",
      sockets: "/h/run",
      agents: "/h/run/agents",
      control: "/h/run/control",
      log: "/h/run/resident.log",
    });
  });

  it("names another folder for a longer one, by the home's digest", () => {
    const home = `/${"h".repeat(95)}`;
    const first = placesOf(home, { env: { XDG_RUNTIME_DIR: "/x" }, uid: 7 });
    expect(first.sockets).toBe("/x/acp");
    expect(first.agents).toMatch(/^\/x\/acp\/[0-9a-f]{24}-agents$/);
    expect(first.log).toBe(`${home}/run/resident.log`);
    for (const runtime of [undefined, "relative", `/${"x".repeat(90)}`])
      expect(placesOf(home, { env: { XDG_RUNTIME_DIR: runtime }, uid: 7 }).sockets).toBe(
        "/tmp/acp-7",
      );
    expect(placesOf(`${home}2`, { env: {}, uid: 7 }).agents).not.toBe(
      placesOf(home, { env: {}, uid: 7 }).agents,
    );
  });
});

describe("isOurs()", () => {
  it("takes a private folder of this user, and no link to one", () => {
    const folder = join(scratch, "a");
    mkdirSync(folder, { mode: 0o700 });
    symlinkSync(folder, join(scratch, "link"));
    expect(isOurs(folder, uid)).toBe(true);
    expect(isOurs(join(scratch, "link"), uid)).toBe(false);
    expect(isOurs(folder, uid + 1)).toBe(false);
    expect(isOurs(join(scratch, "none"), uid)).toBe(false);
    chmodSync(folder, 0o710);
    expect(isOurs(folder, uid)).toBe(false);
  });

  it("is what makePlaces() makes, and asks for", () => {
    const places = placesOf(scratch, { env: {}, uid });
    makePlaces(places, uid);
    expect(isOurs(places.run, uid)).toBe(true);
    chmodSync(places.run, 0o755);
    expect(() => makePlaces(places, uid)).toThrow("only this user");
  });
});

it("valueOf() reads an option however it is written, and nothing after --", () => {
  expect(valueOf(["mcp", "--home", "a"], "--home")).toBe("a");
  expect(valueOf(["mcp", "--home=a"], "--home")).toBe("a");
  expect(valueOf(["mcp", "--", "--home", "a"], "--home")).toBeUndefined();
});

it("namedHome() finds the home as the command does, by its real path", () => {
  const where = { env: { ACP_HOME: "e" }, cwd: "/c", userHome: "/u" };
  expect(namedHome(["--home", "x"], where)).toBe("/c/x");
  expect(namedHome(["--home", "~/x"], where)).toBe("/u/x");
  expect(namedHome([], where)).toBe("/c/e");
  expect(namedHome([], { ...where, env: {} })).toBe("/u/.acp");
  const link = join(scratch, "link");
  mkdirSync(join(scratch, "home"));
  symlinkSync(join(scratch, "home"), link);
  expect(namedHome(["--home", link], where)).toBe(join(scratch, "home"));
});

it("workspacesOf() takes a client's directory for a workspace, unless the home lies in it", () => {
  const home = "/home/me/.acp";
  for (const cwd of [
    "/src/app",
    "/home/me/app",
    "/home/me/.ac",
    "/home/me/.acp2",
    "/home/me/.acp/x",
  ])
    expect(workspacesOf(cwd, home)).toEqual([cwd]);
  for (const cwd of ["/", "/home", "/home/me", home]) expect(workspacesOf(cwd, home)).toEqual([]);
  expect(workspacesOf("/src", "/src/..acp")).toEqual([]);
});
