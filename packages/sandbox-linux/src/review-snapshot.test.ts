import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { readSnapshot } from "./review-snapshot.js";

let directory = "";
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "snapshot-"));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

describe("readSnapshot()", () => {
  it("is nothing where nobody made one", () => {
    expect(readSnapshot(directory)).toBeUndefined();
  });

  it.each(["", "{", "[]", '{"format":2,"changes":[]}', '{"format":1}'])(
    "refuses a list that is damaged or of another version: %j",
    (text) => {
      writeFileSync(join(directory, "changes.json"), text);
      expect(() => readSnapshot(directory)).toThrow(
        expect.objectContaining({ code: "sandbox_failed" }),
      );
    },
  );
});
