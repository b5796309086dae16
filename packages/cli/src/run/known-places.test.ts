import { chmodSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { keepKnownPlaces, readKnownPlaces } from "./known-places.js";

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
