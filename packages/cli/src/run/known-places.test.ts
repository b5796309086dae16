import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  GONE_DAYS_MAX,
  keepKnownPlaces,
  readKnownPlaces,
  UNUSED_DAYS_MAX,
} from "./known-places.js";

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "acp-known-"));
});
afterEach(() => rmSync(dir, { recursive: true }));

describe("readKnownPlaces()", () => {
  it("gives back what was kept, of that workspace alone, the oldest first and without what is gone", async () => {
    expect(await readKnownPlaces({ dir }, "/w")).toEqual([]);
    await keepKnownPlaces({ dir }, "/w", { known: [], found: ["/w/b", "/w/c"] });
    await keepKnownPlaces({ dir }, "/w", { known: ["/w/b", "/w/c"], found: ["/w/a", "/w/c"] });
    expect(await readKnownPlaces({ dir }, "/w")).toEqual(["/w/c", "/w/a"]);
    expect(await readKnownPlaces({ dir }, "/v")).toEqual([]);
    await keepKnownPlaces({ dir }, "/w", { known: ["/w/c", "/w/a"], found: [] });
    expect(readdirSync(join(dir, "known-places"))).toEqual([]);
  });

  it("knows nothing where the file is broken, or others may write it", async () => {
    await keepKnownPlaces({ dir }, "/w", { known: [], found: ["/w/b"] });
    const path = join(dir, "known-places", readdirSync(join(dir, "known-places"))[0] ?? "");
    chmodSync(path, 0o666);
    expect(await readKnownPlaces({ dir }, "/w")).toEqual([]);
    chmodSync(path, 0o600);
    expect(await readKnownPlaces({ dir }, "/w")).toEqual(["/w/b"]);
    writeFileSync(path, "{");
    expect(await readKnownPlaces({ dir }, "/w")).toEqual([]);
  });
});

describe("keepKnownPlaces()", () => {
  /** Lets an agent start in a folder, so many days ago; returns the file of the folder. */
  async function startedIn(workspace: string, daysAgo: number): Promise<string> {
    const before = new Set(existsSync(join(dir, "known-places")) ? files() : []);
    await keepKnownPlaces({ dir }, workspace, { known: [], found: [join(workspace, ".git")] });
    const name = files().find((each) => !before.has(each)) ?? "";
    const path = join(dir, "known-places", name);
    const then = new Date(Date.now() - daysAgo * 86_400_000);
    utimesSync(path, then, then);
    return path;
  }
  const files = (): readonly string[] => readdirSync(join(dir, "known-places"));
  const here = async (known: readonly string[] = []): Promise<void> =>
    keepKnownPlaces({ dir }, join(dir, "here"), { known, found: ["/x"] });

  it("forgets a workspace that is gone for long, and one that nobody used for very long", async () => {
    const there = join(dir, "there");
    mkdirSync(there);
    const gone = await startedIn(join(dir, "gone"), GONE_DAYS_MAX + 1);
    const away = await startedIn(join(dir, "away"), GONE_DAYS_MAX - 1);
    const used = await startedIn(there, UNUSED_DAYS_MAX - 1);
    await here();
    expect([gone, away, used].map((path) => existsSync(path))).toEqual([false, true, true]);
    const then = new Date(Date.now() - (UNUSED_DAYS_MAX + 1) * 86_400_000);
    utimesSync(used, then, then);
    await here();
    expect([away, used].map((path) => existsSync(path))).toEqual([true, false]);
    expect(await readKnownPlaces({ dir }, join(dir, "here"))).toEqual(["/x"]);
  });

  it("counts a start that finds nothing new as a use", async () => {
    const path = await startedIn(join(dir, "here"), UNUSED_DAYS_MAX + 1);
    const known = [join(dir, "here", ".git")];
    await keepKnownPlaces({ dir }, join(dir, "here"), { known, found: known });
    expect(Date.now() - statSync(path).mtimeMs).toBeLessThan(86_400_000);
  });

  it("leaves alone what is not one of its files", async () => {
    await here();
    const path = join(dir, "known-places", "notes.txt");
    writeFileSync(path, "mine");
    utimesSync(path, 1, 1);
    await here(["/x"]);
    expect(existsSync(path)).toBe(true);
  });
});
